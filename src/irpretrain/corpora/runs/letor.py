"""Format `letor` of runs: the documents that LETOR gives each query, ordered by one of their features."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, retrieved
from irpretrain.corpora.letor import LetorLine, read_letor
from irpretrain.corpora.records import Malformed, Retrieved

SUFFIXES = ("test.txt",)


class LetorRunOptions(Section):
    """Options of the format letor."""

    feature: int = option(25, "Feature used as score; in LETOR 4.0, 25 is BM25.", ge=1)


OPTIONS = LetorRunOptions


def read(path: Path, options: LetorRunOptions) -> Iterator[Retrieved | Malformed]:
    return converted(read_letor(path), lambda line: _retrieved(line, options.feature))


def _retrieved(line: LetorLine, feature: int) -> Retrieved | Malformed:
    score = line.features.get(feature)
    if score is None:
        return Malformed(line.position, "no such feature", f"{feature} is missing or NULL", line.line)
    return retrieved(line.query_id, line.document_id, None, repr(score), line.position, line.line)
