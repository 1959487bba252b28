"""Format `trec` of judgements: query, iteration, document, relevance, separated by white space.

Lines of five columns are those of the Million Query and the Web 2009 tracks: query, document, relevance, method by
which the document was drawn, and the chance that it was; these two are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.files import read_lines
from irpretrain.corpora.qrels.judgement import judgement
from irpretrain.corpora.records import Judgement, Malformed, Skipped

_CHANCE = re.compile(r"[01](?:\.[0-9]*)?(?:[eE]-?[0-9]{1,3})?|\.[0-9]+")


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        cells = line.text.split()
        if len(cells) == 4:
            yield judgement(cells[0], cells[2], cells[3], line.number - 1, line.number)
        elif len(cells) == 5 and _CHANCE.fullmatch(cells[4]):
            yield judgement(cells[0], cells[1], cells[2], line.number - 1, line.number)
        else:
            detail = f"{len(cells)} instead of 4"
            yield Malformed(line.number - 1, "wrong number of columns", detail, line.number)
