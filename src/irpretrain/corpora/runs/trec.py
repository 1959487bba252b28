"""Format `trec` of runs: query, Q0, document, rank, score, tag, separated by white space."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import Options, converted, retrieved
from irpretrain.corpora.files import Line, read_lines
from irpretrain.corpora.records import Malformed, Retrieved


def read(path: Path, options: Options) -> Iterator[Retrieved | Malformed]:
    """Yield the lines in the order of the file."""
    return converted(read_lines(path), _retrieved)


def _retrieved(line: Line) -> Retrieved | Malformed:
    cells = line.text.split()
    if len(cells) != 6:
        detail = f"{len(cells)} instead of 6 (query Q0 document rank score tag)"
        return line.malformed("wrong number of columns", detail)
    return retrieved(cells[0], cells[2], cells[3], cells[4], line.position, line.number)
