"""Format `ir_datasets` of runs: the scored documents (`scoreddocs`) of a data set of the package ir_datasets."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, retrieved
from irpretrain.corpora.ir_datasets_library import described_part, read_records
from irpretrain.corpora.records import Malformed, Retrieved

OPTIONS = NoOptions


def read(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield retrieved(record.query_id, record.doc_id, None, repr(float(record.score)), position, None)
