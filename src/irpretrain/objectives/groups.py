"""Rows of the GROUPS table: what an objective says of a ranking group, with defaults for what it leaves out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from irpretrain.contracts import NO_ANCHOR


class Span(NamedTuple):
    """Word pieces `start` to `end` (exclusive; -1: to the end) of a document, without those of the gap.

    The gap counts from the document's first word piece, as `start` and `end` do; 0 and 0 mean that nothing is left
    out. It lies inside the span. A query has no gap.
    """

    document_id: str
    start: int = 0
    end: int = -1
    gap_start: int = 0
    gap_end: int = 0


Anchor = tuple[int, int]
"""Word pieces (start, end) of the query's document that are the anchor of a link; `NO_ANCHOR` where there is none."""


Group = dict[str, Any]
"""A row of a GROUPS table."""


def group(
    place: tuple[int, int],
    queries: Sequence[str | Span],
    documents: Sequence[Span],
    *,
    sample: int = 0,
    scores: Sequence[float] | None = None,
    anchors: Sequence[Anchor | None] = (),
) -> Group:
    """Return one row of a GROUPS table: sequences of which the first is preferred.

    Args:
        place: (part, position) of the document that the group was made of.
        queries: literal texts or spans; one that all sequences share, or one a sequence.
        documents: spans; one that all sequences share, or one a sequence.
        sample: which group of that document.
        scores: what the preference was read from, one a sequence; by default 1 for the first and 0 for the others.
        anchors: none, or one a sequence: where the query's document links this sequence's document. Queries with
            anchors are spans.

    Raises:
        ValueError: the lists do not fit together, or a span is none.
    """
    sequences = max(len(queries), len(documents))
    if not queries or not documents or min(len(queries), len(documents)) != 1:
        raise ValueError(
            f"a group of {len(queries)} queries and {len(documents)} documents needs one that all sequences share"
        )
    if scores is None:
        scores = [1.0] + [0.0] * (sequences - 1)
    for name, values in (("scores", scores), ("anchors", anchors)):
        if len(values) != sequences and not (name == "anchors" and not values):
            raise ValueError(f"{len(values)} {name} for {sequences} sequences; give one a sequence")
    if anchors and any(isinstance(query, str) for query in queries):
        raise ValueError("a literal query has no anchors; name the span that holds them")
    part, position = place
    return {
        "part": part,
        "position": position,
        "sample": sample,
        "queries": [_query(query) for query in queries],
        "documents": [_checked(span)._asdict() for span in documents],
        "scores": list(scores),
        "anchors": [
            dict(zip(("start", "end"), NO_ANCHOR if anchor is None else anchor, strict=True))
            for anchor in anchors
        ],
    }


def _query(query: str | Span) -> dict[str, Any]:
    if isinstance(query, str):
        return {"text": query, "document_id": "", "start": 0, "end": 0}
    if query.gap_start != query.gap_end:
        raise ValueError(f"{query}: a query has no gap")
    return {"text": "", "document_id": query.document_id, "start": query.start, "end": query.end}


def _checked(span: Span) -> Span:
    """Refuse a span without a document, with its ends in the wrong order, or with a gap that sticks out."""
    last = span.end if span.end >= 0 else max(span.start, span.gap_end)
    gap = span.gap_start < span.gap_end
    if (
        not span.document_id
        or not 0 <= span.start <= last
        or span.end < -1
        or (not gap and (span.gap_start, span.gap_end) != (0, 0))
        or (gap and not span.start <= span.gap_start < span.gap_end <= last)
    ):
        raise ValueError(
            f"{span} is no span: it needs a document, 0 <= start <= end, and a gap inside or none"
        )
    return span
