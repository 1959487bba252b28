"""Format `trec` of judgements: query, iteration, document, relevance, separated by white space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.files import read_lines
from irpretrain.corpora.qrels.judgement import judgement
from irpretrain.corpora.records import Judgement, Malformed, Skipped


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        cells = line.text.split()
        if len(cells) != 4:
            detail = f"{len(cells)} instead of 4"
            yield Malformed(line.number - 1, "wrong number of columns", detail, line.number)
        else:
            yield judgement(cells[0], cells[2], cells[3], line.number - 1, line.number)
