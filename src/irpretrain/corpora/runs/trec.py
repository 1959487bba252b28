"""Format `trec` of runs: query, Q0, document, rank, score, tag, separated by white space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.files import read_lines
from irpretrain.corpora.records import Malformed, Retrieved
from irpretrain.corpora.runs.retrieved import retrieved


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Retrieved | Malformed]:
    """Yield the lines in the order of the file."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        position, cells = line.number - 1, line.text.split()
        if len(cells) != 6:
            detail = f"{len(cells)} instead of 6 (query Q0 document rank score tag)"
            yield Malformed(position, "wrong number of columns", detail, line.number)
        else:
            yield retrieved(cells[0], cells[2], cells[3], cells[4], position, line.number)
