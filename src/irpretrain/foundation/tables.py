"""What a table between stages is: its columns, how it is written, and how it is checked when it is read."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError, one_line

# Rows in a Parquet row group at most.
ROWS_PER_GROUP = 16_384

# Bytes of values after which a row group ends: its last row reaches them. Where groups end depends on the rows alone,
# so that equal rows give equal bytes however they arrive.
BYTES_PER_GROUP = 64 << 20

# Rows that are held as Python objects at a time, which cost several times their Arrow form.
ROWS_AS_OBJECTS = 1024

# Characters of texts in such rows, after which they are turned into Arrow's form.
CHARACTERS_AS_OBJECTS = 8 << 20


@dataclass(frozen=True)
class ContractColumn:
    """One column: name, Arrow type, meaning, unit where it has one, and what a row of a writer means that lacks it."""

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    default: Any = None


class Contract:
    """A table's name, purpose and columns."""

    def __init__(self, name: str, meaning: str, *columns: ContractColumn) -> None:
        self.name, self.meaning, self.columns = name, meaning, columns

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with the contract's name as metadata."""
        fields = [pa.field(column.name, column.type, nullable=False) for column in self.columns]
        return pa.schema(fields, metadata={"contract": self.name})

    @contextmanager
    def writing(self, path: str | Path) -> Iterator["ContractWriter"]:
        """Write the file at `path` atomically."""
        with atomic_file(path) as temporary, ContractWriter(self, temporary) as writer:
            yield writer

    def write(self, path: str | Path, rows: Iterable[dict[str, Any]] | Iterable[pa.Table] | pa.Table) -> int:
        """Write dicts, or Arrow tables, in any number, or one Arrow table, atomically; return the number of rows."""
        with self.writing(path) as writer:
            for table_or_row in [rows] if isinstance(rows, pa.Table) else rows:
                if isinstance(table_or_row, pa.Table):
                    writer.add(table_or_row)
                else:
                    writer.add_row(table_or_row)
        return writer.rows

    @contextmanager
    def opened(self, path: str | Path) -> Iterator[pq.ParquetFile]:
        """Open the file at `path`; IntegrityError unless it keeps this contract, and for damage that is met inside."""
        try:
            with parquet_file(path) as file:
                if not file.schema_arrow.equals(self.schema, check_metadata=False):
                    schemas = f"expected {_schema_text(self.schema)}, found {_schema_text(file.schema_arrow)}"
                    raise IntegrityError(
                        path,
                        f"this is not a table of {self.name}: {schemas}",
                        remedy="Delete it and run the workflow again; it was written by another version.",
                    )
                yield file
        except FileNotFoundError:
            raise IntegrityError(path, f"there is no table of {self.name}") from None
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            reason = f"this is not a whole Parquet file ({one_line(error).rstrip('.')})"
            raise IntegrityError(path, reason, remedy=MAKE_AGAIN) from None

    def check(self, path: str | Path) -> None:
        with self.opened(path):
            pass

    def count(self, path: str | Path) -> int:
        with self.opened(path) as file:
            return file.metadata.num_rows

    def read(self, path: str | Path, columns: list[str] | None = None) -> pa.Table:
        with self.opened(path) as file:
            return _check_row_count(file.read(columns), file.metadata.num_rows)

    def stream(
        self, path: str | Path, columns: list[str] | None = None, rows: int = ROWS_PER_GROUP
    ) -> Iterator[pa.RecordBatch]:
        """Yield record batches of at most `rows` rows, each of one row group, so that memory stays flat."""
        with self.opened(path) as file:
            for group in range(file.num_row_groups):
                yield from row_group(file, group, columns).to_batches(rows)

    def stream_documents(
        self,
        path: str | Path,
        document_ids: Collection[str],
        columns: list[str] | None = None,
        rows: int = ROWS_AS_OBJECTS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some documents, at most `rows` at a time; of other row groups only identifiers are read."""
        names = pa.array(sorted(document_ids), pa.string())
        with self.opened(path) as file:
            for group in range(file.num_row_groups):
                identifiers = row_group(file, group, ["document_id"]).column(0)
                matches = pc.is_in(identifiers, value_set=names)
                if pc.any(matches).as_py():
                    yield from row_group(file, group, columns).filter(matches).to_batches(rows)


def parquet_file(path: str | Path) -> pq.ParquetFile:
    """Open a Parquet file to be read piece by piece."""
    # pyarrow's default requests all row groups with the first one and keeps the whole file in memory; and it does not
    # look at checksums, where there are any.
    return pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)


def read_parquet(path: str | Path) -> pa.Table:
    # pyarrow.parquet.read_table imports pyarrow.dataset, which imports pandas.
    with parquet_file(path) as file:
        return _check_row_count(file.read(), file.metadata.num_rows)


def row_group(file: pq.ParquetFile, group: int, columns: list[str] | None = None) -> pa.Table:
    return _check_row_count(file.read_row_group(group, columns), file.metadata.row_group(group).num_rows)


def _check_row_count(table: pa.Table, rows: int) -> pa.Table:
    """Refuse fewer rows than the metadata state, as of damaged pages."""
    if table.num_rows != rows:
        raise pa.ArrowInvalid(f"{table.num_rows:,} of {rows:,} rows can be read")
    return table


class ContractWriter:
    """Writes a contract's table in row groups that depend on its rows alone, whatever sizes the pieces arrive in."""

    def __init__(self, contract: Contract, path: Path) -> None:
        self.contract, self.rows = contract, 0
        self._writer = pq.ParquetWriter(path, contract.schema, compression="zstd", version="2.6")
        self._defaults = {
            column.name: column.default for column in contract.columns if column.default is not None
        }
        self._rows, self._characters = list[dict[str, Any]](), 0
        self._pending_tables: list[pa.Table] = []
        self._pending_sizes: list[np.ndarray] = []
        self._pending_row_count = self._pending_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if not any(exception):
            self._add_rows()
            self._flush(is_end=True)
        self._writer.close()

    def add(self, table: pa.Table) -> None:
        """Append `table`, whose columns must be the contract's."""
        table = table.select(self.contract.schema.names).cast(self.contract.schema)
        self._add_pending(table, _bytes_of_rows(table))
        self.rows += table.num_rows
        if self._pending_row_count >= ROWS_PER_GROUP or self._pending_bytes >= BYTES_PER_GROUP:
            self._flush()

    def add_row(self, row: dict[str, Any]) -> None:
        """Append one row; a column that it lacks has the contract's default."""
        self._rows.append(self._defaults | row if self._defaults else row)
        self._characters += _characters(row)
        if len(self._rows) == ROWS_AS_OBJECTS or self._characters >= CHARACTERS_AS_OBJECTS:
            self._add_rows()

    def _add_rows(self) -> None:
        rows, self._rows, self._characters = self._rows, [], 0
        if rows:
            self.add(pa.Table.from_pylist(rows, schema=self.contract.schema))

    def note(self, facts: dict[str, str]) -> None:
        """Keep `facts` about the whole table in the file's key-value metadata."""
        self._writer.add_key_value_metadata(facts)

    def _flush(self, is_end: bool = False) -> None:
        if not self._pending_tables:
            return
        table, sizes = pa.concat_tables(self._pending_tables), np.concatenate(self._pending_sizes)
        start = 0
        while start < table.num_rows:
            cumulative_bytes = np.cumsum(sizes[start : start + ROWS_PER_GROUP])
            rows = min(int(np.searchsorted(cumulative_bytes, BYTES_PER_GROUP)) + 1, len(cumulative_bytes))
            if not is_end and rows < ROWS_PER_GROUP and cumulative_bytes[rows - 1] < BYTES_PER_GROUP:
                break
            # In one chunk each, as the borders of chunks show in the bytes.
            self._writer.write_table(table.slice(start, rows).combine_chunks())
            start += rows
        self._pending_tables, self._pending_sizes, self._pending_row_count, self._pending_bytes = [], [], 0, 0
        if start < table.num_rows:
            self._add_pending(table.slice(start), sizes[start:])

    def _add_pending(self, table: pa.Table, sizes: np.ndarray) -> None:
        self._pending_tables.append(table)
        self._pending_sizes.append(sizes)
        self._pending_row_count += table.num_rows
        self._pending_bytes += int(sizes.sum())


def _characters(row: dict[str, Any]) -> int:
    return sum(len(value) for value in row.values() if type(value) is str)


def _bytes_of_rows(table: pa.Table) -> np.ndarray:
    """Bytes of each row's values, [rows]: the same however the table is cut."""
    sizes = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        row = 0
        for chunk in column.chunks:
            sizes[row : row + len(chunk)] += _bytes_of_values(chunk)
            row += len(chunk)
    return sizes


def _bytes_of_values(values: pa.Array) -> np.ndarray | int:
    value_type = values.type
    if pa.types.is_string(value_type) or pa.types.is_binary(value_type):
        return np.asarray(pc.binary_length(values).fill_null(0), np.int64)
    if pa.types.is_list(value_type):
        lengths = np.asarray(pc.list_value_length(values).fill_null(0), np.int64)
        bytes_of_items = _bytes_of_values(values.flatten())
        if isinstance(bytes_of_items, int):
            return lengths * bytes_of_items
        ends = np.cumsum(lengths)
        cumulative_bytes = np.concatenate([[0], np.cumsum(bytes_of_items)])
        return np.asarray(cumulative_bytes[ends] - cumulative_bytes[ends - lengths], np.int64)
    if pa.types.is_struct(value_type):
        bytes_of_fields = [_bytes_of_values(values.field(index)) for index in range(value_type.num_fields)]
        return sum(bytes_of_fields[1:], bytes_of_fields[0])
    return (value_type.bit_width + 7) // 8


def _schema_text(schema: pa.Schema) -> str:
    return ", ".join(f"{f.name}: {f.type}{'' if not f.nullable else '?'}" for f in schema)


# Where a row stands in its corpus.
LOCATION: tuple[ContractColumn, ...] = (
    ContractColumn("part", pa.int32(), "file of the corpus; first key of the order"),
    ContractColumn(
        "position",
        pa.int64(),
        "record in that file; for a passage, record × 65,536 + passage; second key of the order",
    ),
)


def record(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([pa.field(name, field_type, nullable=False) for name, field_type in fields.items()])


def list_of(item_type: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("item", item_type, nullable=False))
