"""Tab-separated rows with named columns: shared by documents, topics and judgements."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from irpretrain.corpora.files import read_lines
from irpretrain.corpora.records import Malformed, Wanted, everything
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
            raise InputError(path, f"the header names a column twice: {', '.join(names)}", line.number)
        return names
    return []


def read_rows(
    path: Path, columns: Sequence[str], has_header: bool, wanted: Wanted = everything
) -> Iterator[Row | Malformed]:
    """Yield the rows at wanted positions (line number less 1). Cells are taken as they are: no quotes, no escapes."""
    waiting_for_header = has_header
    for line in read_lines(path):
        position = line.position if isinstance(line, Malformed) else line.number - 1
        if waiting_for_header:
            waiting_for_header = False
        elif not wanted(position):
            continue
        elif isinstance(line, Malformed):
            yield line
        else:
            cells = line.text.split("\t")
            if len(cells) != len(columns):
                detail = f"{len(cells)} instead of {len(columns)}"
                yield Malformed(position, "wrong number of columns", detail, line.number)
            else:
                yield Row(position, line.number, dict(zip(columns, cells, strict=True)))
