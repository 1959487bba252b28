"""Scores are read as the tables that docs/contracts.md describes."""

from pathlib import Path

import pytest

from irpretrain.evaluation.evaluate import evaluate, read_scores
from irpretrain.foundation.contracts import PER_QUERY, SCORES
from irpretrain.foundation.errors import InputError


def test_what_evaluation_writes_is_read(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d2 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2.0 x\n1 Q0 d2 2 1.0 x\n2 Q0 d1 1 2.0 x\n2 Q0 d2 2 1.0 x\n")
    run = {"dataset": "n", "candidates": "1", "model": "1", "regime": "first-stage", "seed": 0}
    evaluate(
        [{**run, "paths": [tmp_path / "run"]}],
        tmp_path / "qrels",
        None,
        ["RR"],
        tmp_path / "queries.parquet",
        tmp_path / "means.csv",
    )
    means, queries = read_scores(tmp_path / "means.csv"), read_scores(tmp_path / "queries.parquet")
    assert list(means.columns) == SCORES.schema.names
    assert list(queries.columns) == PER_QUERY.schema.names
    [row] = means.to_dict("records")
    assert (row["candidates"], row["value"], row["queries"]) == ("1", 0.75, 2), (
        "a name of digits stays a text"
    )
    assert dict(zip(queries.query_id, queries.value, strict=True)) == {"1": 1.0, "2": 0.5}
    assert {row["fold"], *queries.fold} == {0}, "without folds there is one mean"


def test_another_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="columns are a, b"):
        read_scores(tmp_path / "other.csv")
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(tmp_path / "absent.csv")
