"""Reading a graph that `build_graph` wrote: nodes by document, hyperlinks by source, See Also neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.foundation.contracts import HYPERLINKS, NODES, SEE_ALSO
from irpretrain.foundation.errors import IntegrityError, SetupError
from irpretrain.foundation.tables import Contract, row_group

if TYPE_CHECKING:
    import duckdb


# Key of the metadata of NODES that says how long segments are.
SEGMENT_WORDS = "segment_words"


@dataclass(frozen=True)
class Links:
    """The hyperlinks of one document: its rows of HYPERLINKS, one array a column, sorted by (segment, target)."""

    source: int
    segment: np.ndarray
    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    symmetric: np.ndarray
    back_segment: np.ndarray
    strong: np.ndarray
    section: np.ndarray

    def groups(self, segment: int) -> tuple[np.ndarray, ...]:
        """Return the groups D1 to D5 of the linked documents for one segment, which need not hold an anchor.

        A group holds nodes, ascending; each is in one. D1 to D4 are PHP's (section 3.1); D5 holds the symmetric links
        with anchors in other segments only, which the paper's four groups leave out.
        """
        rows = self.rows(segment)
        targets_here, symmetric, strong = self.target[rows], self.symmetric[rows], self.strong[rows]
        targets, mutual, inverse = self._targets
        is_elsewhere = np.ones(len(targets), np.bool_)
        is_elsewhere[inverse[rows]] = False
        return (
            targets_here[strong],
            targets_here[symmetric & ~strong],
            targets_here[~symmetric],
            targets[is_elsewhere & ~mutual],
            targets[is_elsewhere & mutual],
        )

    def rows(self, segment: int) -> slice:
        """Return which rows are the links of a segment."""
        bounds = np.array((segment, segment + 1), self.segment.dtype)
        return slice(*np.searchsorted(self.segment, bounds).tolist())

    @cached_property
    def _targets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The linked documents, ascending; whether each links back; and which of them each row links."""
        targets, first_rows, inverse = np.unique(self.target, return_index=True, return_inverse=True)
        return targets, self.symmetric[first_rows], inverse


class Graph:
    """The graph of a collection, in the directory that `build_graph` wrote.

    In memory are the document ids as they are in the table, 5 bytes more a node, and 8 bytes an edge of the See Also
    graph, each from its first use on; hyperlinks are read from disk as they are asked for.
    """

    def __init__(self, directory: str | Path) -> None:
        """IntegrityError if a table is missing or is not one of a graph."""
        self._directory = Path(directory)
        HYPERLINKS.check(self._directory / "hyperlinks.parquet")
        SEE_ALSO.check(self._directory / "see-also.parquet")
        self.size = NODES.count(self._directory / "nodes.parquet")

    def nodes(self, document_ids: pa.Array | list[str]) -> np.ndarray:
        """Return int32[documents]: the node of each document.

        Raises:
            IntegrityError: a document is not in the collection.
        """
        identifiers = pa.array(document_ids, pa.string()) if isinstance(document_ids, list) else document_ids
        nodes = pc.index_in(identifiers, value_set=self.document_ids)
        if nodes.null_count:
            missing_id = identifiers.filter(pc.is_null(nodes))[0].as_py()
            fault = f"document {missing_id!r} is not in this graph"
            remedy = "Delete the graph and run the workflow again; its collection has changed."
            raise IntegrityError(self._directory, fault, remedy=remedy)
        return nodes.to_numpy(zero_copy_only=False).astype(np.int32)

    def document_id(self, node: int) -> str:
        """Return the document of a node."""
        return str(self.document_ids[node].as_py())

    @cached_property
    def document_ids(self) -> pa.ChunkedArray:
        """The documents in the order of the nodes."""
        return self._column("document_id")

    @cached_property
    def words(self) -> np.ndarray:
        """int32[nodes]: how many words the body of each document has."""
        return self._column("words").to_numpy()

    @cached_property
    def segment_words(self) -> int:
        """Words of a segment, as `irpretrain.wikipedia.links.segments` takes them."""
        facts = pq.read_metadata(self._directory / "nodes.parquet").metadata or {}
        if SEGMENT_WORDS.encode() not in facts:
            remedy = "Delete the graph and run the workflow again."
            raise IntegrityError(self._directory, "it does not say how long segments are", remedy=remedy)
        return int(facts[SEGMENT_WORDS.encode()])

    @cached_property
    def disambiguation(self) -> np.ndarray:
        """bool[nodes]: which documents only list what their title may mean."""
        return self._column("disambiguation").to_numpy()

    def links(self, nodes: np.ndarray) -> Iterator[Links]:
        """Yield the hyperlinks of some nodes, which may be in any order, by node; those without any are left out.

        Of the file only the row groups that hold some of them are read.
        """
        sources = np.unique(nodes)
        pending_rows: list[pa.Table] = []
        path = self._directory / "hyperlinks.parquet"
        with HYPERLINKS.opened(path) as file:
            for group_number in range(file.num_row_groups):
                if not _has_sources(file, group_number, sources):
                    continue
                rows = row_group(file, group_number)
                # The last source of a row group may go on in the next one.
                last_source = rows.column("source")[-1].as_py()
                split = int(np.searchsorted(rows.column("source").to_numpy(), last_source))
                if split or (pending_rows and pending_rows[0].column("source")[0].as_py() != last_source):
                    yield from _by_source(pa.concat_tables([*pending_rows, rows.slice(0, split)]), sources)
                    pending_rows = []
                pending_rows.append(rows.slice(split))
        if pending_rows:
            yield from _by_source(pa.concat_tables(pending_rows), sources)

    def see_also(self, node: int) -> np.ndarray:
        """Return int32: the documents that a document's See Also sections name, ascending."""
        sources, targets = self._see_also
        # Of the sources' own type: to another one all of them would be copied at each call.
        bounds = np.array((node, node + 1), sources.dtype)
        start, end = np.searchsorted(sources, bounds)
        return targets[start:end]

    @cached_property
    def _see_also(self) -> tuple[np.ndarray, np.ndarray]:
        table = SEE_ALSO.read(self._directory / "see-also.parquet")
        return table.column("source").to_numpy(), table.column("target").to_numpy()

    def _column(self, name: str) -> pa.ChunkedArray:
        return NODES.read(self._directory / "nodes.parquet", columns=[name]).column(0)


def _has_sources(file: pq.ParquetFile, row_group: int, sources: np.ndarray) -> bool:
    statistics = file.metadata.row_group(row_group).column(0).statistics
    start, end = np.searchsorted(sources, [statistics.min, statistics.max + 1])
    return bool(start < end)


def _by_source(rows: pa.Table, nodes: np.ndarray) -> Iterator[Links]:
    columns = {name: rows.column(name).to_numpy() for name in rows.column_names}
    sources, first_rows = np.unique(columns.pop("source"), return_index=True)
    end_rows = [*first_rows[1:].tolist(), len(rows)]
    for source_index in np.flatnonzero(np.isin(sources, nodes)).tolist():
        columns_of_source = {
            name: values[first_rows[source_index] : end_rows[source_index]]
            for name, values in columns.items()
        }
        yield Links(int(sources[source_index]), **columns_of_source)


# A DuckDB database on disk for one stage: joins larger than memory, under the limits of the configuration.


ROWS_AT_ONCE = 131_072


@contextmanager
def database(folder: Path, memory_mb: int, threads: int) -> Iterator[GraphDatabase]:
    """Open a database in `folder`, which must exist; the caller removes the folder with its files.

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
    try:
        with duckdb.connect(str(folder / "graph.duckdb"), config=settings) as connection:
            yield GraphDatabase(connection)
    except duckdb.OutOfMemoryException as error:
        reason = str(error).splitlines()[0]
        raise SetupError(f"graph.memory_mb: {memory_mb} MB are too few ({reason}); raise it") from None


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
        return contract.write(path, (pa.Table.from_batches([batch]) for batch in reader))


def parquet(paths: Sequence[str | Path]) -> str:
    """Return the SQL that reads some Parquet files as one table."""
    quoted_paths = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"read_parquet([{quoted_paths}], hive_partitioning = false)"
