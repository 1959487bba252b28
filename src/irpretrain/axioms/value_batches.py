"""AXIOM_VALUES as whole documents: batches in which no document is cut in two."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.preferences import larger_is_better
from irpretrain.axioms.registry import DEFINITIONS
from irpretrain.contracts import AXIOM_VALUES, ROWS_PER_GROUP

COLUMNS = ["part", "position", "document_id", "query", *(d.column for d in DEFINITIONS.values())]


@dataclass(frozen=True)
class ValueBatch:
    """The queries of some documents.

    Attributes:
        rows: part, position, document_id, query and values, a row a query; those of a document follow each other.
        values: float64 [queries, 9], larger is better.
        words: int64 [queries], words of each query, a repeated one as often as it occurs.
        starts: int64 [documents + 1], the first query of each document.
    """

    rows: pa.Table
    values: np.ndarray
    words: np.ndarray
    starts: np.ndarray

    @property
    def document_ids(self) -> list[str]:
        """The documents' identifiers."""
        identifiers: list[str] = self.rows["document_id"].take(pa.array(self.starts[:-1])).to_pylist()
        return identifiers


def whole_documents(path: str | Path, rows: int = ROWS_PER_GROUP) -> Iterator[ValueBatch]:
    """Yield the documents of an AXIOM_VALUES table in its order, in batches of about `rows` queries.

    Raises:
        IntegrityError: a value is not a number.
    """
    waiting = AXIOM_VALUES.schema.empty_table().select(COLUMNS)
    for batch in AXIOM_VALUES.stream(path, COLUMNS, rows):
        table = pa.concat_tables([waiting, pa.Table.from_batches([batch])]).combine_chunks()
        last = int(_starts(table)[-2])
        if last:
            yield _whole(table.slice(0, last), path)
        waiting = table.slice(last)
    if waiting.num_rows:
        yield _whole(waiting, path)


def _whole(rows: pa.Table, source: str | Path) -> ValueBatch:
    spaces = pc.count_substring(rows["query"], " ").to_numpy().astype(np.int64)
    return ValueBatch(rows, larger_is_better(rows, source), spaces + 1, _starts(rows))


def _starts(rows: pa.Table) -> np.ndarray:
    """Return int64 [documents + 1]: the first row of each document, and the number of rows."""
    part, position = rows["part"].to_numpy(), rows["position"].to_numpy()
    borders = 1 + np.flatnonzero((np.diff(part) != 0) | (np.diff(position) != 0))
    return np.concatenate([np.zeros(1, np.int64), borders, np.array([len(part)])]).astype(np.int64)
