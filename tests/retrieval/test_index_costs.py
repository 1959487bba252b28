"""Counts of indexes are exact; times are there and say nothing more to a test."""

from __future__ import annotations

import json
from pathlib import Path

from small_lucene import OPTIONS, TEXT, write_documents, write_queries, write_vectors

from irpretrain.retrieval import lucene
from irpretrain.retrieval.index_costs import measure_indexes
from irpretrain.retrieval.weighted_index import index_weights


def test_counts(tmp_path: Path) -> None:
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
    counts = measure_indexes(
        {"tf": tmp_path / "tf", "deepct": tmp_path / "weights"},
        queries,
        OPTIONS,
        tmp_path / "costs.json",
        tmp_path / "costs.md",
    )
    assert counts == {"indexes": 2, "queries": 2}
    tf, deepct = json.loads((tmp_path / "costs.json").read_text())
    facts = ("index", "documents", "documents_without_terms", "terms", "postings", "length")
    assert [tf[name] for name in facts] == ["tf", 3, 1, 3, 4, 2.5]
    assert [deepct[name] for name in facts] == ["deepct", 3, 1, 2, 2, 52.5]
    assert tf["bytes"] > 0
    assert deepct["median_ms"] > 0
    table = (tmp_path / "costs.md").read_text().splitlines()
    assert table[2].startswith("| tf | 3 | 1 | 3 | 4 | ")
    assert table[3].startswith("| deepct | 3 | 1 | 2 (0.67) | 2 (0.50) | ")
    assert "2 queries without their analysis" in table[-1]
