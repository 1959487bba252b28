"""Re-ranking at depths: what cutting a re-ranked run to the first candidates gives, by hand."""

import csv
from pathlib import Path

import pytest

from irpretrain.evaluation.evaluate import evaluate_depths
from irpretrain.evaluation.runs import write_run
from irpretrain.report.scores import RunName, Scores


def described(folder: Path, model: str, regime: str, runs, candidates: str = "bm25"):
    paths = []
    for number, run in enumerate(runs):
        paths.append(folder / f"{model}-{number}.run.gz")
        write_run(paths[-1], run, model)
    keys = {"dataset": "d", "candidates": candidates, "model": model, "regime": regime, "seed": 1}
    return {**keys, "paths": paths}


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 c 1\nq2 0 z 1\nq3 0 a 1\n")
    return tmp_path / "qrels"


def test_depths_by_hand(tmp_path: Path, qrels: Path) -> None:
    """q1: a is third, the model puts it first. q2: c is second, the model puts it last; z is not found. q3: nothing."""
    candidates, reranked = [("b", 3.0), ("c", 2.0), ("a", 1.0)], [("a", 9.0), ("b", 8.0), ("c", 7.0)]
    first = described(tmp_path, "bm25", "first-stage", [{"q1": candidates, "q2": candidates}])
    model = described(tmp_path, "net", "full", [{"q1": reranked}, {"q2": reranked}])
    table, means = tmp_path / "depths.parquet", tmp_path / "depths.csv"
    counts = evaluate_depths([first, model], qrels, [1, 2, 3], ["RR@10"], table, means)
    assert (counts["runs"], counts["rows"]) == (2, 9)
    sizes = {
        (row["candidates"], row["model"]): (row["queries"], row["longest"], row["documents"])
        for row in counts["lists"]
    }
    assert sizes["bm25@2", "net"] == sizes["bm25@2", "bm25"] == (2, 2, 4)
    with open(means, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(row["model"], int(row["depth"]), row["measure"]): float(row["value"]) for row in rows} == {
        ("bm25", 1, "R@1"): 0,
        ("bm25", 2, "R@2"): pytest.approx((0 + 1 / 2) / 3),
        ("bm25", 3, "R@3"): pytest.approx((1 + 1 / 2) / 3),
        ("bm25", 1, "RR@10"): 0,
        ("bm25", 2, "RR@10"): pytest.approx((1 / 2) / 3),
        ("bm25", 3, "RR@10"): pytest.approx((1 / 3 + 1 / 2) / 3),
        ("net", 1, "RR@10"): 0,
        ("net", 2, "RR@10"): pytest.approx((1 / 2) / 3),
        ("net", 3, "RR@10"): pytest.approx((1 + 1 / 3) / 3),
    }
    assert {row["queries"] for row in rows} == {"3"}
    scores = Scores.read([table])
    net = scores.get(RunName("d", "bm25@3", "net", "full"), "RR@10")
    assert net.per_query == pytest.approx([1, 1 / 3, 0])
    bm25 = scores.get(RunName("d", "bm25@2", "bm25", "first-stage"), "R@2")
    assert bm25.per_query == pytest.approx([0, 0.5, 0])
