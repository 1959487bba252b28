"""Format `letor` of judgements: LETOR's labels, of all its folds; the test parts hold each line once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.letor import read_letor
from irpretrain.corpora.qrels.judgement import judgement
from irpretrain.corpora.records import Judgement, Malformed, Skipped

SUFFIXES = ("test.txt",)


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file."""
    for line in read_letor(path):
        if isinstance(line, Malformed):
            yield line
        else:
            yield judgement(line.query_id, line.document_id, line.label, line.position, line.line)
