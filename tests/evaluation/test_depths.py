"""Re-ranking at depths: what cutting a re-ranked run to the first candidates gives, by hand."""

from __future__ import annotations

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


def outputs(folder: Path) -> tuple[Path, Path]:
    return folder / "depths.parquet", folder / "depths.csv"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 c 1\nq2 0 z 1\nq3 0 a 1\n")
    return tmp_path / "qrels"


def test_depths_by_hand(tmp_path: Path, qrels: Path) -> None:
    """q1: a is third, the model puts it first. q2: c is second, the model puts it last; z is not found. q3: nothing."""
    candidates = {
        "q1": [("b", 3.0), ("c", 2.0), ("a", 1.0)],
        "q2": [("b", 3.0), ("c", 2.0), ("a", 1.0)],
    }
    first = described(tmp_path, "bm25", "first-stage", [candidates])
    folds = [{"q1": [("a", 9.0), ("b", 8.0), ("c", 7.0)]}, {"q2": [("a", 9.0), ("b", 8.0), ("c", 7.0)]}]
    model = described(tmp_path, "net", "full", folds)
    counts = evaluate_depths([first, model], qrels, [1, 2, 3], ["RR@10"], *outputs(tmp_path))
    assert (counts["runs"], counts["rows"]) == (2, 9)
    sizes = {
        (row["candidates"], row["model"]): (row["queries"], row["longest"], row["documents"])
        for row in counts["lists"]
    }
    assert sizes["bm25@2", "net"] == sizes["bm25@2", "bm25"] == (2, 2, 4)
    with open(tmp_path / "depths.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {(row["model"], int(row["depth"]), row["measure"]): float(row["value"]) for row in rows}
    assert found == pytest.approx(
        {
            ("bm25", 1, "R@1"): 0,
            ("bm25", 2, "R@2"): (0 + 1 / 2) / 3,
            ("bm25", 3, "R@3"): (1 + 1 / 2) / 3,
            ("bm25", 1, "RR@10"): 0,
            ("bm25", 2, "RR@10"): (1 / 2) / 3,
            ("bm25", 3, "RR@10"): (1 / 3 + 1 / 2) / 3,
            ("net", 1, "RR@10"): 0,
            ("net", 2, "RR@10"): (1 / 2) / 3,
            ("net", 3, "RR@10"): (1 + 1 / 3) / 3,
        }
    )
    assert {row["queries"] for row in rows} == {"3"}
    scores = Scores.read([tmp_path / "depths.parquet"])
    assert scores.get(RunName("d", "bm25@3", "net", "full"), "RR@10").per_query == pytest.approx(
        [1, 1 / 3, 0]
    )
    assert scores.get(RunName("d", "bm25@2", "bm25", "first-stage"), "R@2").per_query == pytest.approx(
        [0, 0.5, 0]
    )
