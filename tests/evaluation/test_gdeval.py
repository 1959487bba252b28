"""gdeval's nDCG and ERR: against values worked out by hand, and against gdeval.pl itself, which ir_measures carries."""

import math
import shutil

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.evaluation.measures import per_query
from irpretrain.evaluation.runs import Run, canonical
from irpretrain.foundation.errors import ConfigError

NDCG, ERR = "nDCG(dcg='exp-log2')@20", "ERR@20"


def test_by_hand() -> None:
    """Grades 1, none, 3, -2 in this order; a document of grade 2 was not found. Gains are 1, 0, 7, 0 and 3."""
    qrels = {"q": {"a": 1, "b": 3, "c": -2, "missed": 2}}
    run: Run = {"q": [("a", 9.0), ("unjudged", 8.0), ("b", 7.0), ("c", 6.0)]}
    values = per_query(run, qrels, [NDCG, ERR, "nDCG@20", "nDCG(dcg='exp-log2')@2", "ERR@2"])
    ideal = 7 / 1 + 3 / math.log2(3) + 1 / 2
    assert values[NDCG]["q"] == pytest.approx((1 / 1 + 7 / 2) / ideal)
    assert values["nDCG(dcg='exp-log2')@2"]["q"] == pytest.approx(1 / (7 + 3 / math.log2(3)))
    # 1/16 of the users stop at the first; of the others 7/16 at the third.
    assert values[ERR]["q"] == pytest.approx(1 / 16 + 15 / 16 * 7 / 16 / 3)
    assert values["ERR@2"]["q"] == pytest.approx(1 / 16)
    assert values["nDCG@20"]["q"] == pytest.approx((1 + 3 / 2) / (3 + 2 / math.log2(3) + 1 / 2))


def test_of_grades_0_and_1_alone_the_gains_are_trec_eval_s() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    run: Run = {"q": [("b", 2.0), ("a", 1.0)]}
    values = per_query(run, qrels, [NDCG, "nDCG@20"])
    assert values[NDCG]["q"] == pytest.approx(values["nDCG@20"]["q"])
    written_out = per_query(run, qrels, ["nDCG(dcg='log2')@20"])
    assert [list(one.values()) for one in written_out.values()] == [[values["nDCG@20"]["q"]]]


def test_grades_for_which_a_measure_is_not_defined_are_refused() -> None:
    run: Run = {"q": [("a", 1.0)]}
    with pytest.raises(ConfigError, match="up to 4, and query q has a judgement of 5"):
        per_query(run, {"q": {"a": 5, "b": 1}}, [ERR])
    assert per_query(run, {"q": {"a": 4}}, [ERR])[ERR]["q"] == 15 / 16
    assert per_query(run, {"q": {"a": 1000}}, [NDCG])[NDCG]["q"] == 1.0
    with pytest.raises(ConfigError, match="up to 1000, and query q has a judgement of 2000"):
        per_query(run, {"q": {"a": 2000, "b": 1}}, [NDCG])


documents = st.sampled_from([f"d{i:02}" for i in range(30)])
queries = st.integers(1, 4).map(str)  # gdeval takes numbers alone
judgements = st.dictionaries(queries, st.dictionaries(documents, st.integers(-2, 4), min_size=1), min_size=1)
retrieved = st.dictionaries(
    queries, st.dictionaries(documents, st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1), min_size=1
)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl needs perl, which is not installed")
@given(judgements, retrieved, st.sampled_from([1, 3, 20]))
def test_values_are_gdeval_s(
    qrels: dict[str, dict[str, int]], found: dict[str, dict[str, float]], cutoff: int
) -> None:
    """gdeval puts equal scores in descending document order, we in ascending, so it gets our ranks as scores; it says
    nothing of queries without a run or a relevant document, where ours are 0, and has five decimals."""
    measures = [f"nDCG(dcg='exp-log2')@{cutoff}", f"ERR@{cutoff}"]
    run = canonical({query: scores.items() for query, scores in found.items()})
    ours = per_query(run, qrels, measures)
    ranks = {query: {name: float(-i) for i, (name, _) in enumerate(run[query])} for query in run}
    parsed = [ir_measures.parse_measure(name) for name in measures]
    theirs = {name: dict.fromkeys(qrels, 0.0) for name in measures}
    for value in ir_measures.gdeval.iter_calc(parsed, qrels, ranks):
        theirs[str(value.measure)][value.query_id] = value.value
    for name in measures:
        assert ours[name] == pytest.approx(theirs[name], abs=5.1e-6)
