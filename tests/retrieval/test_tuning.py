"""Sweeps: the whole grid in one process, what is chosen, and the search that follows."""

import csv
import json
from pathlib import Path

import pytest
from small_lucene import OPTIONS, TEXT

from irpretrain.config.retrieval import Bm25Config, SweepConfig
from irpretrain.evaluation.measures import mean_of_run
from irpretrain.evaluation.runs import read_qrels, read_run
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval import lucene
from irpretrain.retrieval.lucene import search_tuned, stage_parameters, tune
from small_documents import write_documents, write_queries

BODIES = {
    "long": "cat " * 6 + "red green blue black white grey pink brown gold silver " * 4,
    "short": "cat dog",
    "other": "dog dog bird",
}
"""Whether long or short comes first for cat is a matter of k1 and b."""
QUERIES = {"q1": "cats", "q2": "dogs", "q3": "bird", "q4": "cat"}
SWEEP = SweepConfig(k1=[0.5, 10.0], b=[0.0, 1.0], mu=[1.0, 50.0], smoothing=[0.1, 0.5, 0.9])


TUNED = {"k1": 0.5, "b": 1.0}
"""Alone in putting the short document first."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    lucene.index([write_documents(folder / "documents.parquet", BODIES)], OPTIONS, TEXT, folder / "index")
    write_queries(folder / "queries.parquet", QUERIES)
    (folder / "qrels.txt").write_text("q1 0 short 1\nq2 0 other 1\n")
    return folder


def sweep(folder: Path, tmp_path: Path, model: str, grid: SweepConfig = SWEEP, queries: Path | None = None):
    inputs = folder / "index", queries or folder / "queries.parquet", folder / "qrels.txt"
    counts = tune(*inputs, model, grid, OPTIONS, tmp_path / "tuning.json", tmp_path / "grid.csv")
    with open(tmp_path / "grid.csv", encoding="utf-8") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert not list(tmp_path.glob(".*"))
    return counts, json.loads((tmp_path / "tuning.json").read_text()), rows


def test_every_point_is_what_a_search_of_its_own_gives(folder: Path, tmp_path: Path) -> None:
    counts, tuning, rows = sweep(folder, tmp_path, "bm25")
    assert counts == {"queries": 2, "points": 4}
    assert [(row["k1"], row["b"]) for row in rows] == [(k, b) for k in (0.5, 10.0) for b in (0.0, 1.0)]
    judged = read_qrels(folder / "qrels.txt")
    for row in rows:
        options = OPTIONS.model_copy(update={"bm25": Bm25Config(k1=row["k1"], b=row["b"])})
        lucene.search(folder / "index", folder / "queries.parquet", "bm25", options, tmp_path / "run.gz")
        value = mean_of_run(read_run(tmp_path / "run.gz"), judged, "RR@10", ["q1", "q2"])
        assert row["RR@10"] == value
    assert len({row["RR@10"] for row in rows}) == 2
    assert tuning == {
        "model": "bm25",
        "measure": "RR@10",
        "queries": 2,
        "parameters": TUNED,
        "value": 1.0,
        "at_edge": ["k1", "b"],
    }


def test_queries_without_judgements_choose_nothing(folder: Path, tmp_path: Path) -> None:
    unjudged = write_queries(tmp_path / "unjudged.parquet", {"q3": "bird"})
    with pytest.raises(InputError, match="none of these queries is judged"):
        sweep(folder, tmp_path, "bm25", queries=unjudged)


def test_a_grid_of_query_likelihood_and_one_of_one_point(folder: Path, tmp_path: Path) -> None:
    counts, tuning, rows = sweep(folder, tmp_path, "ql-jm")
    assert counts["points"] == len(rows) == 3
    assert tuning["value"] == max(row["RR@10"] for row in rows)
    _, tuning, rows = sweep(folder, tmp_path, "bm25", SweepConfig(k1=[0.9], b=[0.4], measure="AP"))
    assert (tuning["parameters"], tuning["at_edge"], len(rows)) == ({"k1": 0.9, "b": 0.4}, [], 1)


def test_the_search_has_the_tuned_parameters(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tuning.json").write_text(json.dumps({"parameters": TUNED}))
    found = {}
    for name, tuning, given in (
        ("tuned", tmp_path / "tuning.json", {}),
        ("given", None, {**TUNED, "mu": None}),
        ("default", None, {"k1": None, "b": None}),
    ):
        path, options = tmp_path / f"{name}.run.gz", OPTIONS.with_parameters(stage_parameters(given, tuning))
        inputs = folder / "index", folder / "queries.parquet"
        counts = search_tuned(*inputs, "stage", "bm25", options, path)
        found[name] = path.read_bytes()
        assert counts["candidates"] == sum(len(ranking) for ranking in read_run(path).values())
    assert found["tuned"] == found["given"] != found["default"]
    assert counts["parameters"] == {"k1": 0.9, "b": 0.4}
