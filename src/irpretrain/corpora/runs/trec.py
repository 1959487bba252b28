"""Format `trec` of runs: query, Q0, document, rank, score, tag, separated by white space; comments begin with `#`."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, comment_or, converted, retrieved
from irpretrain.corpora.files import Line, read_lines
from irpretrain.corpora.records import Malformed, Retrieved, Skipped

OPTIONS = NoOptions


def read(path: Path, options: NoOptions) -> Iterator[Retrieved | Skipped | Malformed]:
    return converted(read_lines(path), lambda line: comment_or(line, _retrieved(line)))


def _retrieved(line: Line) -> Retrieved | Malformed:
    cells = line.text.split()
    if len(cells) != 6:
        detail = f"{len(cells)} instead of 6 (query Q0 document rank score tag)"
        return line.malformed("wrong number of columns", detail)
    return retrieved(cells[0], cells[2], cells[3], cells[4], line.position, line.number)
