"""Format `ir_datasets` of topics: the queries of a data set of the package ir_datasets."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import query
from irpretrain.corpora.ir_datasets_library import described_part, read_records, text_of
from irpretrain.corpora.records import Malformed, Query


class IrDatasetsTopicOptions(Section):
    """Options of the format ir_datasets."""

    fields: list[str] | None = option(
        None,
        "Parts of a topic that make its query, in this order; null: default_text.",
        min_length=1,
    )


OPTIONS = IrDatasetsTopicOptions


def read(path: Path, options: IrDatasetsTopicOptions) -> Iterator[Query | Malformed]:
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield query(record.query_id, text_of(record, options.fields, identifier), position)
