"""Counts of indexes are exact; times are there and say nothing more to a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_lucene import OPTIONS, TEXT, write_queries, write_vectors

from irpretrain.retrieval import lucene, opened_index
from irpretrain.retrieval.index_costs import SearchedIndex, measure_indexes
from irpretrain.retrieval.java import java_class
from irpretrain.retrieval.weighted_index import index_weights
from small_documents import write_documents


def record_searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, int]]:
    """k1, b and depth of every search that Lucene is asked for from now on."""
    asked: list[tuple[float, float, int]] = []

    def recorded(name: str) -> Any:
        found = java_class(name)
        if not name.endswith(".IndexSearcher"):
            return found

        def searcher(reader: Any) -> Recorder:
            return Recorder(found(reader), asked)

        searcher.setMaxClauseCount = found.setMaxClauseCount  # type: ignore[attr-defined]
        return searcher

    monkeypatch.setattr(opened_index, "java_class", recorded)
    return asked


class Recorder:
    """A searcher that notes what it is asked."""

    def __init__(self, searcher: Any, asked: list[tuple[float, float, int]]) -> None:
        self._searcher, self._asked = searcher, asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._searcher, name)

    def setSimilarity(self, similarity: Any) -> None:
        self._parameters = round(similarity.getK1(), 4), round(similarity.getB(), 4)
        self._searcher.setSimilarity(similarity)

    def search(self, query: Any, depth: int) -> Any:
        self._asked.append((*self._parameters, depth))
        return self._searcher.search(query, depth)


def test_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = write_documents(
        tmp_path / "documents.parquet", {"a": "cat cat dog", "b": "the", "c": "dog bird"}
    )
    lucene.index([documents], OPTIONS, TEXT, tmp_path / "tf")
    vectors = write_vectors(
        tmp_path / "vectors.parquet", {"a": {"cat": 70}, "b": {}, "c": {"dog": 30, "dogs": 5}}
    )
    index_weights([vectors], "lucene", OPTIONS, tmp_path / "weights")
    queries = write_queries(
        tmp_path / "queries.parquet", {"q1": "cats and dogs", "q2": "the", "q3": "bird bird"}
    )
    tuning = tmp_path / "tuning.json"
    tuning.write_text(json.dumps({"parameters": {"k1": 10.0, "b": 0.9}}))
    deep = OPTIONS.model_copy(update={"depth": 1000})
    searches = record_searches(monkeypatch)
    counts = measure_indexes(
        [
            SearchedIndex("tf", tmp_path / "tf", OPTIONS),
            SearchedIndex("deepct", tmp_path / "weights", deep, {"k1": 3.0, "b": None}),
            SearchedIndex("tuned", tmp_path / "weights", OPTIONS, {"k1": 3.0}, tuning),
        ],
        queries,
        tmp_path / "costs.json",
        tmp_path / "costs.md",
    )
    assert counts == {"indexes": 3, "queries": 2}
    assert set(searches) == {(0.9, 0.4, 10), (3.0, 0.4, 1000), (10.0, 0.9, 10)}
    tf, deepct, _ = json.loads((tmp_path / "costs.json").read_text())
    facts = ("index", "documents", "documents_without_terms", "terms", "postings", "length")
    assert [tf[name] for name in facts] == ["tf", 3, 1, 3, 4, 2.5]
    assert [deepct[name] for name in facts] == ["deepct", 3, 1, 2, 2, 52.5]
    assert [deepct[name] for name in ("k1", "b", "depth")] == [3.0, 0.4, 1000]
    assert tf["bytes"] > 0
    assert deepct["median_ms"] > 0
    table = (tmp_path / "costs.md").read_text().splitlines()
    assert table[2].startswith("| tf | 3 | 1 | 3 | 4 | ")
    assert table[3].startswith("| deepct | 3 | 1 | 2 (0.67) | 2 (0.50) | ")
    shown = [line.split(" | ")[6] for line in table[2:5]]
    assert shown == [
        "k1 = 0.9, b = 0.4, depth 10",
        "k1 = 3, b = 0.4, depth 1,000",
        "k1 = 10, b = 0.9, depth 10",
    ]
    assert "2 queries without their analysis" in table[-1]
