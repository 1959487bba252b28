"""Tab-separated rows with named columns: shared by documents, topics and judgements."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from irpretrain.corpora.characters import clean_line
from irpretrain.corpora.files import FieldLine, read_lines
from irpretrain.corpora.records import Malformed, Share, everything
from irpretrain.errors import InputError


def _check_names(columns: list[str]) -> list[str]:
    if len(set(columns)) < len(columns):
        raise ValueError("a column is named twice")
    return columns


ColumnNames = Annotated[list[str], AfterValidator(_check_names)]
"""Type of an option that names the columns of a file in order, each once."""


def header(path: Path) -> list[str]:
    """Return the column names in the first line of a file, none for an empty file."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            raise InputError(
                path, f"the header cannot be read: {line}", line.line, remedy="Save the file as UTF-8."
            )
        names = [name.strip() for name in line.text.split("\t")]
        if len(set(names)) < len(names):
            shown = ", ".join(map(clean_line, names))
            raise InputError(path, f"the header names a column twice: {shown}", line.number)
        return names
    return []


def read_rows(
    path: Path, columns: Sequence[str], has_header: bool, share: Share = everything
) -> Iterator[FieldLine | Malformed]:
    """Yield the rows of a share (positions: line number less 1). Cells are taken as they are: no quotes, no escapes."""
    first = next((line.position + 1 for line in read_lines(path)), 0) if has_header else 0
    for line in read_lines(path, share=share):
        if line.position < first:
            continue
        if isinstance(line, Malformed):
            yield line
        else:
            cells = line.text.split("\t")
            if len(cells) != len(columns):
                detail = f"{len(cells)} instead of {len(columns)}"
                yield line.malformed("wrong number of columns", detail)
            else:
                yield FieldLine(line.position, line.number, dict(zip(columns, cells, strict=True)))
