"""A fine-tuned model that ranks its own training queries below a random order is reported."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from irpretrain.evaluation.runs import Qrels, Run
from irpretrain.training.judged_queries import MOST_QUERIES, check_training_order

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 2}, "q3": {"z": 1}, "q4": {"b": 1}}
CANDIDATES: Run = {query: [("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)] for query in QRELS}


def ranked_as(scores: dict[str, float], requested: list[str]):
    def rank(queries: Sequence[str]) -> Run:
        requested.extend(queries)
        return {
            query: [(document, scores[document]) for document, _ in CANDIDATES[query]] for query in queries
        }

    return rank


def check(
    rank: Callable[[Sequence[str]], Run],
    queries: Sequence[str],
    qrels: Qrels = QRELS,
    candidates: Run = CANDIDATES,
    depth: int | None = None,
    positives: str = "candidates",
) -> dict[str, Any]:
    return check_training_order(rank, queries, qrels, candidates, depth, 1, "fine-tune", positives)


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ({"a": 4, "b": 3, "c": 2, "d": 1}, (1 + 0 + 2 / 3) / 3),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, 0.5),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, (0 + 1 + 1 / 3) / 3),
    ],
)
def test_the_share_is_that_of_pairs_in_the_right_order(scores, share) -> None:
    requested: list[str] = []
    names = [*QRELS, "without candidates"]
    order = check(ranked_as(scores, requested), names)
    assert requested == ["q1", "q2", "q4"], "no candidate of q3 is relevant"
    assert order == {"queries": 3, "share": pytest.approx(share), "below_random": share < 0.5}


def test_queries_are_drawn_and_candidates_cut_at_the_depth() -> None:
    requested: list[str] = []
    rank = ranked_as({"a": 1, "b": 2, "c": 3, "d": 4}, requested)
    check(rank, [*QRELS], depth=2)
    assert requested == ["q1", "q4"]
    names = [f"q{number}" for number in range(50)]
    candidates = dict.fromkeys(names, CANDIDATES["q1"])

    def rank_all(queries: Sequence[str]) -> Run:
        return {query: candidates[query] for query in queries}

    order = check(rank_all, names, {name: {"a": 1} for name in names}, candidates)
    assert order == {"queries": MOST_QUERIES, "share": 1.0, "below_random": False}


def test_without_a_relevant_candidate_the_order_is_not_known(capfd: pytest.CaptureFixture[str]) -> None:
    order = check(ranked_as({}, []), ["q3"])
    assert order == {"queries": 0, "share": None, "below_random": False}
    assert "no training query has both a relevant and another document" in capfd.readouterr().err


def test_the_notice_names_the_share_and_remedies(capfd: pytest.CaptureFixture[str]) -> None:
    scores = {"a": 1, "b": 2, "c": 3, "d": 4}
    check(ranked_as(scores, []), ["q1", "q4"], positives="all")
    text = capfd.readouterr().err
    assert "[fine-tune]" in text
    assert "in 16.7% of the pairs (2 queries; random order: 50 %)" in text
    assert "finetuning.positives" in text
    check(ranked_as(scores, []), ["q1", "q4"])
    assert "finetuning.positives" not in capfd.readouterr().err, "it is so already"
