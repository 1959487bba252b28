"""Format `ir_datasets` of judgements: those of a data set of the package ir_datasets."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, judgement
from irpretrain.corpora.ir_datasets_library import described_part, read_records
from irpretrain.corpora.records import Judgement, Malformed

OPTIONS = NoOptions


def read(path: Path, options: NoOptions) -> Iterator[Judgement | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield judgement(record.query_id, record.doc_id, str(record.relevance), position)
