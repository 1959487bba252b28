"""Format `letor` of judgements: LETOR's labels, of all its folds; the test parts hold each line once."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, converted, judgement
from irpretrain.corpora.letor import read_letor
from irpretrain.corpora.records import Judgement, Malformed

OPTIONS = NoOptions

SUFFIXES = ("test.txt",)


def read(path: Path, options: NoOptions) -> Iterator[Judgement | Malformed]:
    lines = read_letor(path)
    return converted(lines, lambda e: judgement(e.query_id, e.document_id, e.label, e.position, e.line))
