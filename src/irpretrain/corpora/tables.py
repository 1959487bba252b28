"""Tab-separated rows with named columns: shared by documents, topics and judgements."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from irpretrain.corpora.characters import clean_line
from irpretrain.corpora.files import read_lines
from irpretrain.corpora.records import Malformed, Share, everything
from irpretrain.errors import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """One row and its place."""

    position: int
    line: int
    cells: dict[str, str]


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
) -> Iterator[Row | Malformed]:
    """Yield the rows of a share (positions: line number less 1). Cells are taken as they are: no quotes, no escapes."""
    first = next((line.position + 1 for line in read_lines(path)), 0) if has_header else 0
    for line in read_lines(path, share=share):
        if (position := line.position) < first:
            continue
        if isinstance(line, Malformed):
            yield line
        else:
            cells = line.text.split("\t")
            if len(cells) != len(columns):
                detail = f"{len(cells)} instead of {len(columns)}"
                yield Malformed(position, "wrong number of columns", detail, line.number)
            else:
                yield Row(position, line.number, dict(zip(columns, cells, strict=True)))
