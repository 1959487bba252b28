"""Format `parquet`: one row is one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irpretrain.contracts import parquet_file
from irpretrain.corpora import fields
from irpretrain.corpora.fields import IDENTIFIERS, TITLES, URLS, DocumentFields
from irpretrain.corpora.files import damage_text
from irpretrain.corpora.records import AnyDocument, Malformed, Share, everything

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SUFFIXES = (".parquet",)
ROWS_AT_ONCE = 1024


class Options(DocumentFields):
    """Options of the format parquet."""


def read(path: Path, options: Options, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its row, from 0."""
    import pyarrow as pa

    position = 0
    try:
        with parquet_file(path) as file:
            fields.check_columns(path, options, file.schema_arrow.names)
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=_needed(options, file)):
                yield from _documents(batch, position, options, share)
                position += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        detail = damage_text(path, error)[:200]
        if share(position):
            yield Malformed(position, "damaged Parquet file", detail, loses_more=True)


def _needed(options: Options, file: pq.ParquetFile) -> list[str]:
    there = file.schema_arrow.names
    others = ((options.id_field, IDENTIFIERS), (options.title_field, TITLES), (options.url_field, URLS))
    chosen = [
        *fields.body_fields(there, options),
        *(fields.pick(there, named, defaults) for named, defaults in others),
    ]
    return [name for name in there if name in chosen]


def _documents(batch: pa.RecordBatch, start: int, options: Options, share: Share) -> Iterator[AnyDocument]:
    columns = batch.schema.names
    for row in range(batch.num_rows):
        position = start + row
        if not share(position):
            continue
        try:
            record: dict[str, Any] = {name: batch.column(name)[row].as_py() for name in columns}
        except (ValueError, OverflowError) as error:  # invalid UTF-8, dates out of range
            yield Malformed(position, "value cannot be read", " ".join(str(error).split())[:200])
            continue
        yield fields.document(record, options, position)
