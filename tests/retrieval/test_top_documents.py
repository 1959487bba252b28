"""The best documents by RANK's postings: by hand, and against brute force. (Against Lucene: test_document_rank.py.)"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_collections import BM25, Build
from test_document_rank import FIVE, frequencies_of, large, queries, scores_of, words

from irpretrain.axioms.rank_engine.document_rank import QUERIES_AT_ONCE, top_documents
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.errors import InputError


def search(postings: Postings, requested: list[list[int]], **options) -> list[list[tuple[int, float]]]:
    """Documents and scores of each query of terms."""
    terms = np.array([term for query in requested for term in query], np.int64)
    offsets = np.cumsum([0, *map(len, requested)])
    documents, scores = top_documents(postings, terms, offsets, **options)
    assert documents.shape == scores.shape == (len(requested), options.get("depth", 1000))
    assert ((documents < 0) == (scores == 0)).all()
    return [
        [(document, score) for document, score in zip(*row, strict=True) if document >= 0]
        for row in zip(documents.tolist(), scores.tolist(), strict=True)
    ]


def sorted_scores(
    documents: list[list[int]], terms: int, requested: list[list[int]], depth: int = 1000,
    bm25: Bm25Config = BM25,
) -> list[list[tuple[int, float]]]:  # fmt: skip
    """The same by sorting the scores of all documents."""
    frequencies = frequencies_of(documents, terms)
    found = []
    for query in requested:
        known = [term for term in query if term >= 0]
        held = (frequencies[:, known] > 0).any(axis=1) if known else np.zeros(len(documents), bool)
        scores = scores_of(frequencies, query, bm25)
        order = sorted(np.flatnonzero(held).tolist(), key=lambda document: (-scores[document], document))
        found.append([(document, float(scores[document])) for document in order[:depth]])
    return found


def names(found: list[list[tuple[int, float]]]) -> list[list[int]]:
    return [[document for document, _ in ranking] for ranking in found]


def test_the_best_by_hand(build: Build) -> None:
    postings = build(FIVE, 5)
    requested = [[0], [1], [2, 0], [3], [], [-1], [4], [0, -1, 4]]
    assert names(search(postings, requested)) == [[1, 0, 3], [2, 0], [3, 0, 1], [1], [], [], [], [1, 0, 3]]
    assert names(search(postings, requested, depth=1)) == [[1], [2], [3], [1], [], [], [], [1]]
    assert search(postings, []) == []
    assert search(build([], 5), [[0]]) == [[]]


@given(
    st.lists(st.lists(words, max_size=9), min_size=1, max_size=25), queries, st.sampled_from([1, 3, 100]),
    st.sampled_from([(3.8, 0.87), (0.9, 0.4), (1e-3, 1.0), (100.0, 0.0)]),
)  # fmt: skip
def test_the_best_are_those_of_sorting(build: Build, documents, queries, depth, parameters) -> None:
    k1, b = parameters
    requested = [terms for _, terms in queries]
    wanted = sorted_scores(documents, 6, requested, depth, Bm25Config(k1=k1, b=b))
    assert search(build(documents, 6, k1, b), requested, depth=depth) == wanted


@pytest.mark.parametrize("depth", [1, 50, 1500, 4000])
def test_the_best_in_long_lists(build: Build, depth: int) -> None:
    documents, given_queries = large(3)
    requested = [terms for _, terms in given_queries]
    wanted = sorted_scores(documents, 60, requested, depth)
    assert search(build(documents, 60), requested, depth=depth) == wanted


def test_runs_of_equal_documents_in_long_lists(build: Build) -> None:
    """Ties everywhere: bounds must let through what is equal."""
    random = np.random.default_rng(5)
    kinds = [[0, 1, 2], [0, 0, 1], [2, 1, 1, 3], [3], [0, 1, 2, 3]]
    documents = [kinds[kind] for kind in random.integers(0, 5, 5000)]
    requested = [random.integers(0, 4, 3).tolist() for _ in range(100)]
    postings = build(documents, 4)
    for depth in (1, 10, 700, 1100):
        assert search(postings, requested, depth=depth) == sorted_scores(documents, 4, requested, depth=depth)


def test_threads_change_nothing(build: Build) -> None:
    documents, given_queries = large(4)
    requested = [terms for _, terms in given_queries] * 5
    assert len(requested) > 2 * QUERIES_AT_ONCE
    postings = build(documents, 60)
    one = search(postings, requested, depth=20)
    assert [search(postings, requested, depth=20, threads=threads) for threads in (2, 3)] == [one, one]


def test_what_does_not_fit_is_refused(build: Build) -> None:
    postings = build(FIVE, 5)
    for terms, offsets, message in (
        ([0], [0, 2], "do not fit together"),
        ([0], [], "do not fit together"),
        ([0], [0, 1, 0, 1], "offsets fall"),
        ([5], [0, 1], r"outside -1 … 4"),
    ):
        with pytest.raises(InputError, match=message):
            top_documents(postings, np.array(terms), np.array(offsets))
    with pytest.raises(ValueError, match="depth 0 is below 1"):
        top_documents(postings, np.array([0]), np.array([0, 1]), depth=0)
