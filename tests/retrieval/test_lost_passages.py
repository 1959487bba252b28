"""A passage that loses all its terms is in no index and in every evaluation."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from small_lucene import OPTIONS, write_queries, write_weights

from irpretrain.evaluation.evaluate import evaluate
from irpretrain.evaluation.runs import read_run
from irpretrain.retrieval import lucene
from irpretrain.retrieval.term_weights.integers import LARGEST_WEIGHT, write_vectors
from irpretrain.retrieval.weighted_index import index_weights

WEIGHTS = {
    "kept": {"cat": 0.5, "dog": 0.1},
    "lost": {"cat": -0.2, "dog": 0.001, "zebra": math.nan},
    "stops": {"the": 0.9},
    "large": {"cat": math.inf} | {f"word{number:03}": math.inf for number in range(40)},
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lost")
    write_weights(folder / "weights", WEIGHTS)
    counts = write_vectors(folder / "weights", 100, False, folder / "vectors")
    assert (counts["texts"], counts["texts_without_terms"], counts["overflow"]) == (4, 1, 41)
    indexed = index_weights([folder / "vectors"], "alphanumeric", OPTIONS, folder / "index")
    assert (indexed["documents"], indexed["documents_without_terms"]) == (4, 2)
    assert indexed["weight"] == 50 + 10 + 41 * LARGEST_WEIGHT
    return folder / "index"


@pytest.mark.parametrize("model", ["bm25", "ql-jm"])
def test_what_is_relevant_and_lost_counts_as_not_found(index: Path, tmp_path: Path, model: str) -> None:
    queries = write_queries(tmp_path / "queries", {"q1": "dogs", "q2": "zebra", "q3": "the", "q4": "cats"})
    lucene.search(index, queries, model, OPTIONS, tmp_path / "run.gz")
    run = read_run(tmp_path / "run.gz")
    found = {query: {document for document, _ in ranking} for query, ranking in run.items()}
    assert found == {"q1": {"kept"}, "q4": {"large", "kept"}}
    (tmp_path / "qrels").write_text("q1 0 kept 1\nq2 0 lost 1\nq3 0 stops 1\nq4 0 lost 1\n")
    cell = {"dataset": "d", "candidates": model, "model": model, "regime": "first-stage", "seed": 0}
    cells, outputs = (
        [cell | {"paths": [str(tmp_path / "run.gz")]}],
        (tmp_path / "each", tmp_path / "scores.csv"),
    )
    evaluated = evaluate(cells, tmp_path / "qrels", None, ["RR@10"], *outputs)
    assert evaluated["queries_without_documents"] == 2
    [row] = csv.DictReader((tmp_path / "scores.csv").open())
    assert (row["value"], row["queries"]) == ("0.25", "4")
