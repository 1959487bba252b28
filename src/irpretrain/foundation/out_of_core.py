"""Data that memory cannot hold: arrays that grow on disk, and sorted shards that are merged block by block."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa


class GrowingArray:
    """A one-dimensional `.npy` file that is written piece by piece; its header is completed at the end."""

    def __init__(self, path: Path, kind: np.dtype) -> None:
        self._path, self._kind, self._length = path, kind, 0
        self._digest = hashlib.sha256()
        self._handle: BinaryIO

    def __enter__(self) -> Self:
        self._handle = open(self._path, "wb")
        self._header()
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is not None:
            with suppress(OSError):  # what is kept back finds no room either
                self._handle.close()
            return
        with self._handle:
            # NumPy pads headers so that the length can grow in place.
            self._handle.seek(0)
            self._header()

    def add(self, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, dtype=self._kind).tobytes()
        self._digest.update(data)
        self._handle.write(data)
        self._length += len(values)

    def sha256(self) -> str:
        return self._digest.hexdigest()

    def _header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(self._kind),
            "fortran_order": False,
            "shape": (self._length,),
        }
        np.lib.format.write_array_header_1_0(self._handle, header)


# `.npy` files that are written through memory.


def create_mapped(path: Path, kind: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Create a `.npy` file of zeros and return its array, mapped for writing; OSError if the disk is full."""
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    # Blocks are allocated at once: a write to a mapped file that finds no room kills the process without a message.
    with open(path, "rb+") as handle:
        os.posix_fallocate(handle.fileno(), 0, os.fstat(handle.fileno()).st_size)
    return mapped


# Merging sorted Parquet shards in bounded memory: one block of each shard at a time.
#
# In each round the smallest "last row of a block" is the horizon: every row up to it is in memory, and no later row
# precedes it. So the rounds' rows, each sorted on its own, make one sorted table.


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
        if self._start < self._rows.num_rows:
            return True
        rows = next(self._rest, None)
        if rows is None:
            return False
        self._rows, self._start, self.last = rows, 0, self._key_of(rows, rows.num_rows - 1)
        return True
