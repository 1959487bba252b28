"""Queries without a candidate are told."""

import pytest

from irpretrain.retrieval.opened_index import log_lost_queries

RUN = "results/runs/mine/bm25/first-stage.run.gz"


@pytest.mark.parametrize(
    ("number", "reported"),
    [
        (0, ""),
        (1, "NOTE: 1 of 200 queries have no candidate and score 0, such as query q0\n"),
        (20, "NOTE: WARNING: 20 of 200 (10.0 %) queries have no candidate and score 0, such as query q0.\n"),
    ],
    ids=["none", "less than a hundredth", "more"],
)
def test_more_than_a_hundredth_is_a_warning(
    number: int, reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    requested = [f"q{n}" for n in range(200)]
    assert log_lost_queries(RUN, requested, requested[number:]) == number
    assert capsys.readouterr().err == (f"[mine, bm25] {reported}" if reported else "")
