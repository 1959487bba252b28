"""GROUPS made as columns, which takes a fraction of the time of rows: two literal queries with one whole document (ROP,
ARES), or a span of a document with several whole documents (PHP)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from irpretrain.contracts import ANCHOR, GROUPS, QUERY_PART, SPAN


def pair_groups(documents: pa.RecordBatch | pa.Table, queries: pa.Array, scores: np.ndarray) -> pa.Table:
    """Return one group a pair, numbered from 0 within each document.

    Args:
        documents: part, position and document_id of each pair's document; pairs of a document follow each other.
        queries: strings [2 × pairs]: of each pair the preferred query, then the other.
        scores: [pairs, 2], what the preference was read from.
    """
    size = documents.num_rows
    zeros = np.zeros(2 * size, np.int32)
    parts = _records(QUERY_PART, queries, pa.repeat("", 2 * size), zeros, zeros)
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


def span_groups(
    places: np.ndarray, query_ids: pa.Array, spans: np.ndarray, document_ids: pa.Array, anchors: np.ndarray
) -> pa.Table:
    """Return one group a span, the first of its documents preferred.

    Args:
        places: int [groups, 3], part, position and sample of each group.
        query_ids: strings [groups], the document that the query is a span of.
        spans: int [groups, 2], its first word piece and the one after its last.
        document_ids: strings [groups × documents], the documents of a group one after the other.
        anchors: int [groups, documents, 2], word pieces of the anchors; `NO_ANCHOR` where there is none.
    """
    size, documents, _ = anchors.shape
    queries = _records(QUERY_PART, pa.repeat("", size), query_ids, spans[:, 0], spans[:, 1])
    scores = np.zeros((size, documents), np.float32)
    scores[:, 0] = 1.0
    columns = {
        "part": pa.array(places[:, 0], pa.int32()),
        "position": pa.array(places[:, 1], pa.int64()),
        "sample": pa.array(places[:, 2], pa.int32()),
        "queries": _lists(queries, 1, _kind("queries")),
        "documents": _lists(_whole(document_ids), documents, _kind("documents")),
        "scores": _lists(pa.array(scores.ravel()), documents, _kind("scores")),
        "anchors": _lists(_records(ANCHOR, *anchors.reshape(-1, 2).T), documents, _kind("anchors")),
    }
    return pa.Table.from_pydict(columns, schema=GROUPS.schema)


def _whole(identifiers: pa.Array | pa.ChunkedArray) -> pa.Array:
    zeros, end = np.zeros(len(identifiers), np.int32), np.full(len(identifiers), -1, np.int32)
    return _records(SPAN, identifiers, zeros, end, zeros, zeros)


def _records(kind: pa.StructType, *columns: pa.Array | pa.ChunkedArray | np.ndarray) -> pa.Array:
    """Return records of a kind, given the columns of its fields."""
    arrays = [
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else pa.array(column, field.type)
        for column, field in zip(columns, kind, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(kind))


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
