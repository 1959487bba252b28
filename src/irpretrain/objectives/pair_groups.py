"""GROUPS of two literal queries and one whole document, made as columns: what ROP and ARES learn from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from irpretrain.contracts import GROUPS, QUERY_PART, SPAN


def pair_groups(documents: pa.RecordBatch | pa.Table, queries: pa.Array, scores: np.ndarray) -> pa.Table:
    """Return one group a pair, numbered from 0 within each document.

    Args:
        documents: part, position and document_id of each pair's document; pairs of a document follow each other.
        queries: strings [2 × pairs]: of each pair the preferred query, then the other.
        scores: [pairs, 2], what the preference was read from.
    """
    size = documents.num_rows
    zeros = pa.array(np.zeros(2 * size, np.int32))
    parts = pa.StructArray.from_arrays(
        [queries, pa.repeat("", 2 * size), zeros, zeros], fields=list(QUERY_PART)
    )
    columns = {
        "part": documents["part"],
        "position": documents["position"],
        "sample": pa.array(_place_in_run(documents), pa.int32()),
        "queries": _lists(parts, 2, _kind("queries")),
        "documents": _lists(_whole(documents["document_id"]), 1, _kind("documents")),
        "scores": _lists(pa.array(np.ravel(scores), pa.float32()), 2, _kind("scores")),
        "anchors": _no_lists(size, _kind("anchors")),
    }
    return pa.Table.from_pydict(columns, schema=GROUPS.schema)


def _whole(identifiers: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(identifiers, pa.ChunkedArray):
        identifiers = identifiers.combine_chunks()
    zeros = pa.array(np.zeros(len(identifiers), np.int32))
    end = pa.array(np.full(len(identifiers), -1, np.int32))
    return pa.StructArray.from_arrays([identifiers, zeros, end, zeros, zeros], fields=list(SPAN))


def _kind(column: str) -> pa.DataType:
    return GROUPS.schema.field(column).type


def _lists(values: pa.Array, size: int, kind: pa.DataType) -> pa.Array:
    """Return `values` as lists of `size` entries each."""
    offsets = pa.array(np.arange(0, len(values) + 1, size, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _no_lists(size: int, kind: pa.DataType) -> pa.Array:
    """Return `size` empty lists."""
    offsets = pa.array(np.zeros(size + 1, np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array([], kind.value_type), type=kind)


def _place_in_run(documents: pa.RecordBatch | pa.Table) -> np.ndarray:
    """Return the place of each row within its run of equal (part, position), from 0."""
    part, position = documents["part"].to_numpy(), documents["position"].to_numpy()
    size = len(part)
    if not size:
        return np.zeros(0, np.int64)
    starts = np.concatenate(
        [np.zeros(1, np.int64), 1 + np.flatnonzero((np.diff(part) != 0) | (np.diff(position) != 0))]
    )
    return np.arange(size) - np.repeat(starts, np.diff(starts, append=size))
