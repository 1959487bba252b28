"""Format `ir_datasets` of judgements: those of a data set of the package ir_datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.ir_datasets_library import described_part, read_records
from irpretrain.corpora.qrels.judgement import judgement
from irpretrain.corpora.records import Judgement, Malformed


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Judgement | Malformed]:
    """Yield the judgements in ir_datasets' order."""
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield judgement(record.query_id, record.doc_id, str(record.relevance), position)
