"""Merging sorted Parquet shards in bounded memory: one block of each shard is held at a time.

In each round the smallest "last place of a block" is the horizon: every row up to it is at hand, and no later row
precedes it. So the rounds' rows, each sorted on its own, make one sorted table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

Place = Callable[[pa.RecordBatch, int], Any]
"""(block, row) → the row's sort key, comparable by Python's <."""


def merge_rounds(streams: Sequence[Iterator[pa.RecordBatch]], place: Place) -> Iterator[pa.Table]:
    """Yield tables whose concatenation, each sorted by `place`, is the merge of the sorted streams.

    Args:
        streams: blocks of rows, each stream sorted by `place` and without equal places.
        place: the sort key of a row.
    """
    blocks = [block for stream in streams if (block := _Block.first(stream, place)) is not None]
    while blocks:
        horizon = min(block.last for block in blocks)
        pieces = [piece for block in blocks if (piece := block.take(horizon)).num_rows]
        yield pa.Table.from_batches(pieces)
        blocks = [block for block in blocks if block.refill()]


class _Block:
    """The rows of one stream that are in memory and not yet taken."""

    def __init__(self, rows: pa.RecordBatch, rest: Iterator[pa.RecordBatch], place: Place) -> None:
        self._rows, self._rest, self._place = rows, rest, place
        self._start = 0
        self.last = place(rows, rows.num_rows - 1)

    @classmethod
    def first(cls, stream: Iterator[pa.RecordBatch], place: Place) -> _Block | None:
        rest = (batch for batch in stream if batch.num_rows)
        rows = next(rest, None)
        return None if rows is None else cls(rows, rest, place)

    def take(self, horizon: Any) -> pa.RecordBatch:
        """Remove and return the rows up to and including `horizon`."""
        rows = self._rows
        places = range(rows.num_rows)
        end = bisect_right(places, horizon, lo=self._start, key=lambda row: self._place(rows, row))
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
        self._rows, self._start, self.last = rows, 0, self._place(rows, rows.num_rows - 1)
        return True
