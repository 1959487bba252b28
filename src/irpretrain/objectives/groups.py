"""GROUPS tables: rows from ranking groups, or columns at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from irpretrain.foundation.contracts import ANCHOR, GROUPS, QUERY_PART, SPAN


class Span(NamedTuple):
    """Word pieces `start` to `end` (exclusive; -1: to the end) of a document, without those of the gap.

    The gap counts from the document's first word piece, as `start` and `end` do, and lies inside the span; 0 and 0: no
    gap. A query has no gap.
    """

    document_id: str
    start: int = 0
    end: int = -1
    gap_start: int = 0
    gap_end: int = 0


# A row of a GROUPS table.
Group = dict[str, Any]


def group(
    location: tuple[int, int],  # (part, position) of the document that the group was made of
    queries: Sequence[str | Span],  # literal texts or spans; one for all sequences, or one per sequence
    documents: Sequence[Span],  # spans; one for all sequences, or one per sequence
    *,
    sample: int = 0,  # which group of that document
) -> Group:
    """Return one row of a GROUPS table, whose first sequence is preferred; ValueError if lists do not fit."""
    if not queries or not documents or min(len(queries), len(documents)) != 1:
        raise ValueError(
            f"a group of {len(queries)} queries and {len(documents)} documents needs one that all sequences share"
        )
    part, position = location
    return {
        "part": part,
        "position": position,
        "sample": sample,
        "queries": [_query(query) for query in queries],
        "documents": [_check_span(span)._asdict() for span in documents],
        "scores": [1.0] + [0.0] * (max(len(queries), len(documents)) - 1),
        "anchors": [],
    }


def _query(query: str | Span) -> dict[str, Any]:
    if isinstance(query, str):
        return {"text": query, "document_id": "", "start": 0, "end": 0}
    if query.gap_start != query.gap_end:
        raise ValueError(f"{query}: a query has no gap")
    return {"text": "", "document_id": query.document_id, "start": query.start, "end": query.end}


def _check_span(span: Span) -> Span:
    """Refuse a span without a document, with its ends in the wrong order, or with a gap that sticks out."""
    end = span.end if span.end >= 0 else max(span.start, span.gap_end)
    has_gap = span.gap_start < span.gap_end
    if (
        not span.document_id
        or not 0 <= span.start <= end
        or span.end < -1
        or (not has_gap and (span.gap_start, span.gap_end) != (0, 0))
        or (has_gap and not span.start <= span.gap_start < span.gap_end <= end)
    ):
        raise ValueError(
            f"{span} is no span: it needs a document, 0 <= start <= end, and a gap inside or none"
        )
    return span


# GROUPS made as columns, which takes a fraction of the time of rows: two literal queries with one whole document
# (ROP, ARES), or a span of a document with several whole documents (PHP).


def pair_groups(documents: pa.RecordBatch | pa.Table, queries: pa.Array, scores: np.ndarray) -> pa.Table:
    """Return one group per pair, numbered from 0 within each document.

    Args:
        documents: part, position and document_id of each pair's document; pairs of a document are consecutive.
        queries: strings [2 × pairs]: of each pair the preferred query, then the other.
        scores: [pairs, 2], the basis of the preference.
    """
    group_count = documents.num_rows
    zeros = np.zeros(2 * group_count, np.int32)
    query_records = _records(QUERY_PART, queries, pa.repeat("", 2 * group_count), zeros, zeros)
    columns = {
        "part": documents["part"],
        "position": documents["position"],
        "sample": pa.array(_index_in_run(documents), pa.int32()),
        "queries": _lists("queries", query_records, 2),
        "documents": _lists("documents", _whole_documents(documents["document_id"]), 1),
        "scores": _lists("scores", pa.array(np.ravel(scores), pa.float32()), 2),
        "anchors": [[]] * group_count,
    }
    return pa.Table.from_pydict(columns, schema=GROUPS.schema)


def span_groups(
    locations: np.ndarray, query_ids: pa.Array, spans: np.ndarray, document_ids: pa.Array, anchors: np.ndarray
) -> pa.Table:
    """Return one group per span, the first of its documents preferred.

    Args:
        locations: int [groups, 3], part, position and sample of each group.
        query_ids: strings [groups], the document that the query is a span of.
        spans: int [groups, 2], its first word piece and the one after its last.
        document_ids: strings [groups × documents], the documents of a group one after the other.
        anchors: int [groups, documents, 2], word pieces of the anchors; `NO_ANCHOR` if there is none.
    """
    group_count, documents_per_group, _ = anchors.shape
    queries = _records(QUERY_PART, pa.repeat("", group_count), query_ids, spans[:, 0], spans[:, 1])
    scores = np.zeros((group_count, documents_per_group), np.float32)
    scores[:, 0] = 1.0
    columns = {
        "part": pa.array(locations[:, 0], pa.int32()),
        "position": pa.array(locations[:, 1], pa.int64()),
        "sample": pa.array(locations[:, 2], pa.int32()),
        "queries": _lists("queries", queries, 1),
        "documents": _lists("documents", _whole_documents(document_ids), documents_per_group),
        "scores": _lists("scores", pa.array(scores.ravel()), documents_per_group),
        "anchors": _lists("anchors", _records(ANCHOR, *anchors.reshape(-1, 2).T), documents_per_group),
    }
    return pa.Table.from_pydict(columns, schema=GROUPS.schema)


def _whole_documents(identifiers: pa.Array | pa.ChunkedArray) -> pa.Array:
    zeros, end = np.zeros(len(identifiers), np.int32), np.full(len(identifiers), -1, np.int32)
    return _records(SPAN, identifiers, zeros, end, zeros, zeros)


def _records(record_type: pa.StructType, *columns: pa.Array | pa.ChunkedArray | np.ndarray) -> pa.Array:
    arrays = [
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else pa.array(column, field.type)
        for column, field in zip(columns, record_type, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(record_type))


def _lists(column: str, values: pa.Array, list_size: int) -> pa.Array:
    offsets = pa.array(np.arange(0, len(values) + 1, list_size, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, values, type=GROUPS.schema.field(column).type)


def _index_in_run(documents: pa.RecordBatch | pa.Table) -> np.ndarray:
    """Return the position of each row within its run of equal (part, position), from 0."""
    part, position = documents["part"].to_numpy(), documents["position"].to_numpy()
    rows, continues_run = np.arange(len(part)), np.zeros(len(part), bool)
    continues_run[1:] = (np.diff(part) == 0) & (np.diff(position) == 0)
    return rows - np.maximum.accumulate(np.where(continues_run, 0, rows))
