"""Merging sorted Parquet shards in bounded memory: one block of each shard at a time.

In each round the smallest "last row of a block" is the horizon: every row up to it is in memory, and no later row
precedes it. So the rounds' rows, each sorted on its own, make one sorted table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

# (block, row) → the row's sort key, comparable by Python's <.
SortKey = Callable[[pa.RecordBatch, int], Any]


def merge_rounds(streams: Sequence[Iterator[pa.RecordBatch]], key_of: SortKey) -> Iterator[pa.Table]:
    """Yield tables whose concatenation, each sorted by `key_of`, merges streams that are sorted without equal keys."""
    blocks = [block for stream in streams if (block := _Block.first(stream, key_of)) is not None]
    while blocks:
        horizon = min(block.last for block in blocks)
        pieces = [piece for block in blocks if (piece := block.take(horizon)).num_rows]
        yield pa.Table.from_batches(pieces)
        blocks = [block for block in blocks if block.refill()]


class _Block:
    """The rows of one stream that are in memory and not yet taken."""

    def __init__(self, rows: pa.RecordBatch, rest: Iterator[pa.RecordBatch], key_of: SortKey) -> None:
        self._rows, self._rest, self._key_of = rows, rest, key_of
        self._start = 0
        self.last = key_of(rows, rows.num_rows - 1)

    @classmethod
    def first(cls, stream: Iterator[pa.RecordBatch], key_of: SortKey) -> _Block | None:
        rest = (batch for batch in stream if batch.num_rows)
        rows = next(rest, None)
        return None if rows is None else cls(rows, rest, key_of)

    def take(self, horizon: Any) -> pa.RecordBatch:
        rows = self._rows
        positions = range(rows.num_rows)
        end = bisect_right(positions, horizon, lo=self._start, key=lambda row: self._key_of(rows, row))
        piece = rows.slice(self._start, end - self._start)
        self._start = end
        return piece

    def refill(self) -> bool:
        """Read the next block if this one is used up; return whether any rows are left."""
        if self._start < self._rows.num_rows:
            return True
        rows = next(self._rest, None)
        if rows is None:
            return False
        self._rows, self._start, self.last = rows, 0, self._key_of(rows, rows.num_rows - 1)
        return True
