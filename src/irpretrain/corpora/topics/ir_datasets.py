"""Format `ir_datasets` of topics: the queries of a data set of the package ir_datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.ir_datasets_library import PREFIX, described_part, read_records
from irpretrain.corpora.records import Malformed, Query
from irpretrain.corpora.topics.query import query
from irpretrain.errors import InputError
from irpretrain.near_names import instead_of


class Options(Section):
    """Options of the format ir_datasets."""

    fields: list[str] | None = option(
        None,
        "Parts of a topic that make its query, in this order, such as title and description; null: what "
        "ir_datasets takes (default_text).",
        min_length=1,
    )


def read(path: Path, options: Options) -> Iterator[Query | Malformed]:
    """Yield the queries in ir_datasets' order."""
    identifier, part, _ = described_part(path)
    for position, record in enumerate(read_records(identifier, part)):
        for field in options.fields or []:
            if field not in record._fields:
                reason = f"queries have no {field}; {instead_of(field, record._fields)}"
                raise InputError(f"{PREFIX}{identifier}", reason)
        texts = [str(getattr(record, field)) for field in options.fields or []]
        yield query(record.query_id, " ".join(texts) if texts else record.default_text(), position)
