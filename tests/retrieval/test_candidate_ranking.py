"""Given candidates ranked by BM25 and query likelihood: the scores of a search of the whole index, for them alone."""

from pathlib import Path

import pytest
from small_lucene import OPTIONS, TEXT

from irpretrain.config.retrieval import Bm25Config, RetrievalConfig
from irpretrain.evaluation.runs import Run, read_run, write_run
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval import lucene
from irpretrain.retrieval.lucene import rank_candidates
from small_documents import write_documents, write_queries

BODIES = {
    "a": "quick brown fox jumps high",
    "b": "quick quick dog sleeps now",
    "c": "lazy cat sleeps all day",
    "é'd": "dog chases cat all day",
    "e": "red green blue red green",
    "empty": "",
    "f": "dog chases cat all day",
}
QUERIES = {"q1": "quick dogs", "q2": "the", "q3": "dog dog cat sleeping", "q4": "zebra", "q5": "quick"}
CANDIDATES = {
    "q1": ["e", "empty", "é'd", "b"],
    "q2": ["c", "a"],
    "q3": ["f", "é'd", "c", "b", "a"],
    "q4": ["b", "a"],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("candidates")
    lucene.index([write_documents(folder / "documents.parquet", BODIES)], OPTIONS, TEXT, folder / "index")
    return folder / "index"


def ranked(
    index: Path, folder: Path, model: str, options: RetrievalConfig
) -> tuple[Run, dict[str, int], Path]:
    queries = write_queries(folder / "queries.parquet", QUERIES)
    run = {query: [(document, 1.0) for document in names] for query, names in CANDIDATES.items()}
    write_run(folder / "given.run.gz", run, "given")
    output = folder / "ranked.run.gz"
    counts = rank_candidates(index, queries, folder / "given.run.gz", model, options, output, "ours")
    return read_run(output), counts, queries


@pytest.mark.parametrize("model", ["bm25", "ql", "ql-jm"])
def test_scores_are_those_of_a_search_of_the_whole_index(index: Path, tmp_path: Path, model: str) -> None:
    options = OPTIONS.model_copy(update={"bm25": Bm25Config(k1=3.8, b=0.87)})
    run, counts, queries = ranked(index, tmp_path, model, options)
    lucene.search(index, queries, model, options, tmp_path / "all.run.gz")
    whole = read_run(tmp_path / "all.run.gz")
    for query, names in CANDIDATES.items():
        searched = [(name, score) for name, score in whole.get(query, []) if name in names]
        missing = sorted(set(names) - {name for name, _ in searched})
        assert [name for name, _ in run[query]] == [*(name for name, _ in searched), *missing]
        assert [score for _, score in run[query]] == pytest.approx(
            [*(score for _, score in searched), *(0.0 for _ in missing)], abs=2e-4
        )
    assert counts == {
        "queries": 5,
        "queries_without_candidates": 1,
        "candidates": 13,
        "candidates_without_query_words": 2 + 2 + 1 + 2,
    }


def test_candidates_of_other_queries_are_refused(index: Path, tmp_path: Path) -> None:
    queries = write_queries(tmp_path / "queries.parquet", {"q": "dog"})
    write_run(tmp_path / "given.run.gz", {"stranger": [("a", 1.0)]}, "given")
    with pytest.raises(InputError, match="query 'stranger' is not in the data set"):
        rank_candidates(index, queries, tmp_path / "given.run.gz", "bm25", OPTIONS, tmp_path / "r.gz", "x")
    assert not (tmp_path / "r.gz").exists()
