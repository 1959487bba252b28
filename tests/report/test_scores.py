from pathlib import Path

import pytest
from small_run import QUERIES, rows_of, write_results

from irpretrain.foundation.errors import IntegrityError
from irpretrain.report.scores import RunName, Scores


def test_values_by_seed_and_query(tmp_path: Path) -> None:
    _, per_query = write_results(tmp_path, rows_of("squad", seeds=(2, 1)))
    found = Scores.read(per_query).get(RunName("squad", "bm25", "prop", "zero-shot"), "nDCG@20")
    assert found.seeds == (1, 2)
    assert found.query_ids == tuple(f"q{n:02}" for n in range(QUERIES))
    assert found.per_seed == pytest.approx([0.5, 0.51])
    assert found.mean == pytest.approx(0.505)
    assert found.per_query[:2] == pytest.approx([0.505 - 0.06, 0.505 + 0.06])


def test_first_stages_are_found_under_their_own_candidates(results) -> None:
    scores = Scores.read(results[1])
    assert scores.first_stage("squad", "ql") == RunName("squad", "ql", "ql", "first-stage")
    assert scores.first_stage("squad", "tf-idf") is None
    assert scores.pairs() == [("squad", "bm25")]
    assert scores.get(RunName("squad", "bm25", "prop", "zero-shot"), "AP") is None


def test_a_data_set_that_nothing_re_ranks_still_counts(tmp_path: Path) -> None:
    rows = [row for row in rows_of("squad") if row["regime"] == "first-stage"]
    _, per_query = write_results(tmp_path, rows)
    assert Scores.read(per_query).pairs() == [("squad", "bm25")]


def test_seeds_with_different_queries_are_refused(tmp_path: Path) -> None:
    rows = rows_of("squad", seeds=(1, 2))
    _, per_query = write_results(tmp_path, rows[:-1])
    with pytest.raises(IntegrityError, match="same queries once each"):
        Scores.read(per_query)
    twice = {**rows[-1], "query_id": rows[-2]["query_id"]}  # of the last seed, in place of the last query
    _, per_query = write_results(tmp_path, [*rows[:-1], twice])
    with pytest.raises(IntegrityError, match="same queries once each"):
        Scores.read(per_query)
