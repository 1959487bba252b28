"""Format `parquet`: one row is one document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irpretrain.corpora import fields
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.registry import Format
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import BEGINNING, GET_AGAIN, FieldLine, compression_in, damage_text
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Malformed,
    Share,
    is_too_large,
    too_large,
)
from irpretrain.foundation.tables import parquet_file

if TYPE_CHECKING:
    import pyarrow as pa

# Few: a file of some kB may hold one text for millions of rows, of which each becomes as large as a record may be.
ROWS_AT_ONCE = 4
NUMBERING = (
    "python -c \"import pandas; pandas.read_parquet('FILE').reset_index(drop=True).rename_axis('id').reset_index()"
    ".to_parquet('documents.parquet')\""
)
# The length of a file's description, its last mark, and the first mark of another file.
_JOINED = re.compile(rb"(.{4})PAR1PAR1", re.DOTALL)


def read(path: Path, options: DocumentFields, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its row, from 0.

    A share is a range of rows; row groups outside it are not read. Damage loses the rest of its row group only.
    """
    import pyarrow as pa

    try:
        _refuse_packed(path)
        with parquet_file(path) as file:
            fields.check_columns(path, options, file.schema_arrow.names, lambda: NUMBERING)
            column_names = file.schema_arrow.names
            columns = fields.read_fields(column_names, options)
            unread_columns = tuple(name for name in column_names if name not in columns)
            make_document = partial(fields.document, options=options, unread=unread_columns)
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            if sum(sizes) != file.metadata.num_rows:
                detail = f"its row groups hold {sum(sizes):,} rows, its description says {file.metadata.num_rows:,}"
                raise pa.ArrowInvalid(detail)
            if share.index == 0:
                _refuse_joined(path)
            share_rows, start = share.range_of(sum(sizes)), 0
            for group, size in enumerate(sizes):
                if start < share_rows.stop and start + size > share_rows.start:
                    batches = file.iter_batches(ROWS_AT_ONCE, [group], columns)
                    rows = range(start, start + size)
                    yield from _row_group(path, batches, rows, make_document, share_rows)
                start += size
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # in the file's description of itself
        if share.index == 0:
            yield _damage(path, 0, error)


def _refuse_packed(path: Path) -> None:
    with open(path, "rb") as file:
        compression = compression_in(file.read(BEGINNING))
    if compression:
        remedy = "Unpack it, and give what comes out in its place."
        raise InputError(
            path, f"a Parquet file must not be packed: this one is, with {compression}", remedy=remedy
        )


def _refuse_joined(path: Path) -> None:
    # Of several files in one, the last description would be read with the rows of the first.
    start, tail = 0, b""
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            data = tail + piece
            for mark in _JOINED.finditer(data):
                # Texts can hold these marks, too, but no length of a description before them.
                if int.from_bytes(mark[1], "little") < start + mark.start():
                    remedy = "Give a folder with the files as they were."
                    raise InputError(path, "several Parquet files are joined in this one", remedy=remedy)
            tail = data[-11:]
            start += len(data) - len(tail)


def _row_group(
    path: Path,
    batches: Iterator[pa.RecordBatch],
    group: range,
    make_document: Callable[..., AnyDocument],
    share_rows: range,
) -> Iterator[AnyDocument]:
    import pyarrow as pa

    start = group.start
    try:
        for batch in batches:
            yield from _documents(batch, start, make_document, share_rows)
            start += batch.num_rows
            if start >= share_rows.stop:
                return
        if start < group.stop:  # Arrow ends a group early if its pages declare fewer rows
            row_count = f"{start - group.start:,} of {len(group):,} rows"
            raise pa.ArrowInvalid(f"{row_count} of a row group are there")
    except (pa.ArrowException, OSError) as error:
        damage = _damage(path, start, error)
        if start in share_rows:
            yield damage


def _damage(path: Path, position: int, error: Exception) -> Malformed:
    detail = damage_text(path, error)[:200]
    return Malformed(position, "damaged Parquet file", detail, remedy=GET_AGAIN, loses_more=True)


def _documents(
    batch: pa.RecordBatch, start: int, make_document: Callable[..., AnyDocument], share_rows: range
) -> Iterator[AnyDocument]:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for position in range(max(start, share_rows.start), min(start + batch.num_rows, share_rows.stop)):
        try:
            record = {name: _value(column, position - start) for name, column in columns.items()}
        except (ValueError, OverflowError) as error:  # invalid UTF-8, dates out of range
            yield Malformed(position, "value cannot be read", " ".join(str(error).split())[:200])
            continue
        if is_too_large(sum(len(value) for value in record.values() if isinstance(value, str)), 0):
            yield too_large(position)
        else:
            yield make_document(FieldLine(position, None, record))


def _value(column: pa.Array, row: int) -> Any:
    import pyarrow as pa

    # Lists are refused later on, whatever they hold, which may be millions of values.
    return [] if pa.types.is_nested(column.type) else column[row].as_py()


DOCUMENTS = Format(DocumentFields, read, suffixes=(".parquet",))
