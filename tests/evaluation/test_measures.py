"""Measures against trec_eval and against values worked out by hand."""

import math
import re
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.corpora import check_measures
from irpretrain.evaluation.measures import (
    DEFINITIONS,
    definition,
    mean,
    mean_of_run,
    parse_measure,
    per_query,
)
from irpretrain.evaluation.runs import Run, canonical
from irpretrain.foundation.errors import ConfigError

TREC_EVAL = {
    "nDCG@20": "ndcg_cut_20",
    "nDCG@3": "ndcg_cut_3",
    "nDCG": "ndcg",
    "P@5": "P_5",
    "AP": "map",
    "AP@3": "map_cut_3",
    "RR": "recip_rank",
    "R@5": "recall_5",
    "Success@1": "success_1",
    "Rprec": "Rprec",
    "Bpref": "bpref",
}

documents = st.sampled_from([f"d{i:02}" for i in range(12)])
queries = st.sampled_from([f"q{i}" for i in range(6)])
judgements = st.dictionaries(queries, st.dictionaries(documents, st.integers(-2, 3), min_size=1), min_size=1)
retrieved = st.dictionaries(
    queries, st.dictionaries(documents, st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1)
)


def flip(name: str) -> str:
    """Rename documents so that their order turns round."""
    return f"z{99 - int(name[1:]):02}"


@given(judgements, retrieved)
def test_values_are_trec_eval_s(qrels: dict[str, dict[str, int]], found: dict[str, dict[str, float]]) -> None:
    """trec_eval puts equal scores in descending document order, we in ascending: so it gets flipped names.

    It gets no negative grades, on which its code corrupts memory; `test_by_hand` has a negative grade.
    """
    run = canonical({query: scores.items() for query, scores in found.items()})
    ours = per_query(run, qrels, list(TREC_EVAL))
    flipped_qrels = {
        query: {flip(d): grade for d, grade in grades.items() if grade >= 0}
        for query, grades in qrels.items()
    }
    flipped_run = {query: {flip(d): score for d, score in scores.items()} for query, scores in found.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(flipped_qrels, set(TREC_EVAL.values()))
    theirs = evaluator.evaluate(flipped_run)
    for measure, name in TREC_EVAL.items():
        assert ours[measure].keys() == qrels.keys()
        for query, value in ours[measure].items():
            assert value == pytest.approx(theirs.get(query, {}).get(name, 0.0), abs=1e-9), measure


@given(judgements, retrieved, st.integers(1, 5))
def test_reciprocal_rank_with_a_cutoff(
    qrels: dict[str, dict[str, int]], found: dict[str, dict[str, float]], cutoff: int
) -> None:
    """trec_eval has no cut-off for it; its definition is short enough to be its own reference."""
    run = canonical({query: scores.items() for query, scores in found.items()})
    for query, value in per_query(run, qrels, [f"RR@{cutoff}"])[f"RR@{cutoff}"].items():
        ranks = [
            i for i, (d, _) in enumerate(run.get(query, []), 1) if qrels[query].get(d, 0) > 0 and i <= cutoff
        ]
        assert value == pytest.approx(1 / ranks[0] if ranks else 0.0)


def test_by_hand() -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "x": -1, "missed": 1}}
    run: Run = {"q": [("x", 9.0), ("b", 8.0), ("u", 7.0), ("a", 6.0)]}
    values = per_query(run, qrels, ["nDCG@4", "P@2", "AP", "RR@10", "R@4", "AP(rel=2)"])
    gain = 1 / math.log2(3) + 2 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert values["nDCG@4"]["q"] == pytest.approx(gain / ideal)
    assert values["P@2"]["q"] == 0.5
    assert values["AP"]["q"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert values["RR@10"]["q"] == 0.5
    assert values["R@4"]["q"] == pytest.approx(2 / 3)
    assert values["AP(rel=2)"]["q"] == 0.25


def test_bpref_and_r_precision_by_hand() -> None:
    """Three relevant documents, one that is judged not relevant; x is judged -1, which trec_eval takes for unjudged."""
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "x": -1, "missed": 1}, "none": {"x": -1}}
    run: Run = {"q": [("x", 9.0), ("b", 8.0), ("c", 7.5), ("a", 6.0)], "none": [("x", 1.0)]}
    values = per_query(run, qrels, ["bpref", "Rprec"])
    assert values["Bpref"] == {"none": 0.0, "q": pytest.approx((1 + 0) / 3)}
    assert values["Rprec"] == {"none": 0.0, "q": pytest.approx(1 / 3)}


def test_ties_follow_the_run_s_order_even_below_single_precision() -> None:
    qrels = {"q": {"b": 1}}
    assert per_query({"q": [("b", 25.0 + 1e-9), ("a", 25.0)]}, qrels, ["RR"])["RR"]["q"] == 1.0
    assert per_query(canonical({"q": [("b", 1.0), ("a", 1.0)]}), qrels, ["RR"])["RR"]["q"] == 0.5


def test_mean_runs_over_all_judged_queries() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
    run: Run = {"q1": [("a", 1.0)], "q9": [("a", 1.0)], "q4": []}
    values = per_query(run, qrels, ["AP"])["AP"]
    assert values == {"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.0}
    assert mean(values) == 0.25
    assert mean(values, ["q1", "q2"]) == 0.5
    assert mean_of_run(run, qrels, "AP", ["q1", "q2"]) == 0.5
    assert mean({}) == 0.0
    assert mean({"q1": 0.1, "q2": 0.2, "q3": 0.3}) == mean({"q3": 0.3, "q2": 0.2, "q1": 0.1})
    assert per_query({}, qrels, ["AP"]) == {"AP": dict.fromkeys(qrels, 0.0)}


def test_aliases_become_one_measure() -> None:
    assert list(per_query({}, {"q": {"a": 1}}, ["MAP", "AP", "MRR@10"])) == ["AP", "RR@10"]


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        *TREC_EVAL.items(),
        ("AP(rel=2)", "AP(rel=2)"),
        ("AP@10", "MAP@10"),
        ("nDCG(dcg='exp-log2')@20", 'nDCG(dcg="exp-log2")@20'),
    ],
)
def test_every_name_becomes_the_one_that_tables_have(name: str, expected: str) -> None:
    assert check_measures(name) == expected
    assert check_measures([name, "Bpref(rel=3)"]) == [expected, "Bpref(rel=3)"]
    assert parse_measure(name) == parse_measure(expected)


MISSPELT = {
    "ndgc_cut_10": "ndcg_cut_10",
    "ndcg_cut.10": "ndcg_cut_10",
    "reciprank": "recip_rank",
    "Ndcg@10": "nDCG@10",
    "recall@5": "R@5",
    "precision@5": "P@5",
    "mrr@10": "RR@10",
    "map@100": "AP@100",
    "hit_rate@1": "Success@1",
    "r-precision": "Rprec",
}
UNKNOWN = ("foo", "", "P@x", "nDCG@10@3", "nDCG@-1", "nDCG(dcg='exp')@20")
WITHOUT_CUTOFF = ("ERR", "ERR@0", "nDCG(dcg='exp-log2')", "P@0")
NOT_COMPUTED = ("NumQ", "alpha_nDCG@10", "nDCG(gains={1:2})", "P(judged_only=True)@3")
BEYOND_TREC_EVAL = ("P@99999999999999999999", "AP(rel=99999999999999999999)", "RR@1000001")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, f"'{name}' is not a measure; did you mean {meant}?") for name, meant in MISSPELT.items()),
        *((name, f"'{name}' is not a measure; it needs a cut-off;") for name in ("P", "R")),
        *((name, f"{name!r} is not a measure; ") for name in UNKNOWN),
        *((name, "needs a cut-off of 1 or more; ") for name in WITHOUT_CUTOFF),
        *((name, " is not computed here; ") for name in NOT_COMPUTED),
        *((name, "has a cut-off or a level above 1,000,000; ") for name in BEYOND_TREC_EVAL),
        ("AP(rel=0)", "needs a relevance level of 1 or more; "),
    ],
)
def test_unusable_measures_are_refused_with_their_fault_and_what_is_allowed(name: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=f"{re.escape(fault)}.*allowed are nDCG, nDCG@k, P@k"):
        parse_measure(name)


def test_message_and_page_name_each_measure() -> None:
    with pytest.raises(ConfigError) as refused:
        parse_measure("foo")
    forms = str(refused.value).partition("allowed are ")[2].partition(" with k")[0].split(", ")
    assert {form.partition("@")[0].partition("(")[0] for form in forms} == DEFINITIONS.keys()
    for form in forms:
        parse_measure(form.replace("@k", "@10"))
    page = Path(__file__).parents[2].joinpath("docs/methods/evaluation.md").read_text(encoding="utf-8")
    section = page.partition("## Measures\n")[2].partition("\n## ")[0]
    assert [form for form in forms if not re.search(rf"[- ]{re.escape(form)}[,:]", section)] == []


def test_definitions_say_what_is_computed() -> None:
    assert definition("nDCG@20").startswith("nDCG@20: sum of grade / log2(rank + 1), linear gain")
    assert definition("nDCG@20").endswith("only the first 20 ranks count")
    assert "exponential gain as in gdeval" in definition("nDCG(dcg='exp-log2')@20")
    assert definition("MRR@10").startswith("RR@10: 1 / rank")
    assert definition("P@5") == (
        "P@5: share of relevant documents among the first 5; fewer retrieved ones count as not relevant"
    )
    assert definition("AP(rel=2)").endswith("relevant is a grade of 2 or more")
    for name in DEFINITIONS:
        cutoff = "@5" if "cutoff" in getattr(ir_measures, name).SUPPORTED_PARAMS else ""
        assert "{" not in definition(f"{name}{cutoff}")
