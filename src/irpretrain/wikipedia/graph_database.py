"""A DuckDB database on disk for one stage: joins larger than memory, under the limits of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from irpretrain.contracts import Contract, ContractWriter
from irpretrain.errors import SetupError

if TYPE_CHECKING:
    import duckdb

ROWS_AT_ONCE = 131_072


@contextmanager
def database(folder: Path, memory_mb: int, threads: int) -> Iterator[GraphDatabase]:
    """Open a database in `folder`, which must exist; its files are removed at the end.

    Raises:
        SetupError: the memory limit is too small for a query, even with the disk's help.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory_mb}MB",
        "threads": threads,
        "temp_directory": str(folder / "spilled"),
        # Every result has its own ORDER BY; keeping the order within would cost memory.
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    path = folder / "graph.duckdb"
    try:
        with duckdb.connect(str(path), config=settings) as connection:
            yield GraphDatabase(connection)
    except duckdb.OutOfMemoryException as error:
        reason = str(error).splitlines()[0]
        raise SetupError(f"graph.memory_mb: {memory_mb} MB are too few ({reason}); raise it") from None
    finally:
        for leftover in (path, path.with_name(f"{path.name}.wal")):
            leftover.unlink(missing_ok=True)


class GraphDatabase:
    """The few things that the stages do with the database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, sql: str) -> None:
        """Run one statement."""
        self._connection.execute(sql)

    def row(self, sql: str) -> dict[str, int]:
        """Return the one row of a query; sums of nothing are 0."""
        [row] = self._connection.query(sql).to_arrow_table().to_pylist()
        return {name: int(value or 0) for name, value in row.items()}

    def insert(self, table: str, rows: Iterable[pa.Table | pa.RecordBatch]) -> None:
        """Append rows, whose columns are the table's."""
        for batch in rows:
            self._connection.register("arriving", pa.table(batch))
            self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM arriving")
            self._connection.unregister("arriving")

    def write(self, sql: str, contract: Contract, path: Path) -> int:
        """Stream the result of a query with a total order into a contract's table; return the number of rows."""
        reader = self._connection.query(sql).to_arrow_reader(ROWS_AT_ONCE)
        with ContractWriter(contract, path) as writer:
            for batch in reader:
                writer.add(pa.Table.from_batches([batch]))
            return writer.rows


def parquet(paths: Sequence[str | Path]) -> str:
    """Return the SQL that reads some Parquet files as one table."""
    quoted = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"read_parquet([{quoted}], hive_partitioning = false)"
