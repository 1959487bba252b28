"""Data that memory cannot hold: arrays that grow on disk, and sorted shards that are merged block by block."""

import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa


class GrowingArray:
    """A one-dimensional `.npy` file that is written piece by piece; its header is completed at the end."""

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        self._path, self._dtype, self._length = path, dtype, 0
        self._digest = hashlib.sha256()
        self._handle: BinaryIO

    def __enter__(self) -> Self:
        self._handle = open(self._path, "wb")
        self._header()
        return self

    def __exit__(self, *exception: object) -> None:
        if any(exception):
            with suppress(OSError):  # what is kept back finds no room either
                self._handle.close()
            return
        with self._handle:
            # NumPy pads headers so that the length can grow in place.
            self._handle.seek(0)
            self._header()

    def add(self, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, dtype=self._dtype).tobytes()
        self._digest.update(data)
        self._handle.write(data)
        self._length += len(values)

    def sha256(self) -> str:
        return self._digest.hexdigest()

    def _header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._length,),
        }
        np.lib.format.write_array_header_1_0(self._handle, header)


# `.npy` files that are written through memory.


def create_mapped(path: Path, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Create a `.npy` file of zeros and return its array, mapped for writing; OSError if the disk is full."""
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    # Blocks are allocated at once: a write to a mapped file that finds no room kills the process without a message.
    with open(path, "rb+") as handle:
        os.posix_fallocate(handle.fileno(), 0, os.fstat(handle.fileno()).st_size)
    return mapped


# Merging sorted Parquet shards in bounded memory: one block of each shard at a time.
#
# In each round the smallest "last row of a block" is the horizon: every row up to it is in memory, and no later row
# precedes it. So the rounds' rows, each sorted on its own, make one sorted table.


def merge_rounds(streams: Sequence[Iterator[pa.RecordBatch]], keys: Sequence[str]) -> Iterator[pa.Table]:
    """Yield tables that together merge streams, each sorted by the columns `keys` without equal rows of them."""
    filled_streams = [(batch for batch in stream if batch.num_rows) for stream in streams]
    blocks = [(rows, stream) for stream in filled_streams if (rows := next(stream, None)) is not None]
    while blocks:
        horizon = min(_key(rows, keys, rows.num_rows - 1) for rows, _ in blocks)
        pieces, remaining_blocks = [], []
        for rows, stream in blocks:
            end = bisect_right(range(rows.num_rows), horizon, key=partial(_key, rows, keys))
            if end:
                pieces.append(rows.slice(0, end))
            next_rows = rows.slice(end) if end < rows.num_rows else next(stream, None)
            if next_rows is not None:
                remaining_blocks.append((next_rows, stream))
        yield pa.Table.from_batches(pieces).sort_by([(name, "ascending") for name in keys])
        blocks = remaining_blocks


def _key(rows: pa.RecordBatch, keys: Sequence[str], row: int) -> tuple[Any, ...]:
    return tuple(rows.column(name)[row].as_py() for name in keys)
