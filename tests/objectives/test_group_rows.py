"""The function that objectives build their groups with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from irpretrain.foundation.contracts import GROUPS, NO_ANCHOR
from irpretrain.objectives.groups import Span, group


def test_defaults_make_a_row_of_the_table(tmp_path: Path) -> None:
    row = group((2, 7), ["red fox"], [Span("d1"), Span("d2", 3, 9)])
    assert row == {
        "part": 2,
        "position": 7,
        "sample": 0,
        "queries": [{"text": "red fox", "document_id": "", "start": 0, "end": 0}],
        "documents": [
            {"document_id": "d1", "start": 0, "end": -1, "gap_start": 0, "gap_end": 0},
            {"document_id": "d2", "start": 3, "end": 9, "gap_start": 0, "gap_end": 0},
        ],
        "scores": [1.0, 0.0],
        "anchors": [],
    }
    GROUPS.write(tmp_path / "groups.parquet", [row])
    assert GROUPS.read(tmp_path / "groups.parquet").to_pylist() == [row]


def test_everything_can_be_reported() -> None:
    queries = [Span("q", 4, 12)]
    documents = [Span("d1", 2, -1, 5, 8), Span("d2"), Span("d3")]
    row = group((0, 0), queries, documents, sample=3, scores=[5, 4, 4], anchors=[(6, 7), None, NO_ANCHOR])
    assert row["queries"] == [{"text": "", "document_id": "q", "start": 4, "end": 12}]
    assert row["documents"][0] == {"document_id": "d1", "start": 2, "end": -1, "gap_start": 5, "gap_end": 8}
    assert (row["sample"], row["scores"]) == (3, [5, 4, 4])
    assert row["anchors"] == [{"start": 6, "end": 7}, {"start": -1, "end": -1}, {"start": -1, "end": -1}]


D = Span("d1")


@pytest.mark.parametrize(
    ("queries", "documents", "more", "fault"),
    [
        (["a", "b"], [D, D], {}, "2 queries and 2 documents"),
        ([], [D], {}, "0 queries"),
        (["a"], [], {}, "0 documents"),
        (["a"], [D, D], {"scores": [1.0]}, "1 scores for 2 sequences"),
        ([D], [D, D], {"anchors": [(0, 1)]}, "1 anchors for 2 sequences"),
        (["a"], [D], {"anchors": [(0, 1)]}, "a literal query has no anchors"),
        ([Span("d", 0, 9, 2, 3)], [D], {}, "a query has no gap"),
        (["a"], [Span("d", 5, 4)], {}, "is no span"),
        (["a"], [Span("d", -1)], {}, "is no span"),
        (["a"], [Span("d", 0, -2)], {}, "is no span"),
        (["a"], [Span("")], {}, "is no span"),
        (["a"], [Span("d", 2, 9, 1, 3)], {}, "is no span"),
        (["a"], [Span("d", 2, 9, 8, 10)], {}, "is no span"),
        (["a"], [Span("d", 2, 9, 4, 4)], {}, "is no span"),
        (["a"], [Span("d", 2, 9, 5, 4)], {}, "is no span"),
    ],
)
def test_what_does_not_fit_is_refused(queries: Any, documents: Any, more: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        group((0, 0), queries, documents, **more)
