"""Ranks of given documents, and the best documents of a query: by hand, against brute force, and against Lucene."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_collections import Build, Rankings, by_sorting, frequencies_of, scores_of

from irpretrain.axioms.rank_engine.bm25 import inverse_document_frequencies
from irpretrain.axioms.rank_engine.document_rank import QUERIES_AT_ONCE, document_ranks, top_documents
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval.java import run_anserini

Requests = list[tuple[int, list[int]]]
"""Documents whose ranks are asked for, each with the terms of its query."""


def end_to_end(queries: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    terms = np.array([term for query in queries for term in query], np.int64)
    return terms, np.cumsum([0, *map(len, queries)])


def ranks_of(postings: Postings, requests: Requests, **options) -> list[int]:
    documents = np.array([document for document, _ in requests], np.int64)
    return document_ranks(postings, documents, *end_to_end(queries_of(requests)), **options).tolist()


def queries_of(requests: Requests) -> list[list[int]]:
    return [terms for _, terms in requests]


def search(postings: Postings, queries: list[list[int]], **options) -> Rankings:
    documents, scores = top_documents(postings, *end_to_end(queries), **options)
    assert documents.shape == scores.shape == (len(queries), options.get("depth", 1000))
    assert ((documents < 0) == (scores == 0)).all()
    return [
        [(document, score) for document, score in zip(*row, strict=True) if document >= 0]
        for row in zip(documents.tolist(), scores.tolist(), strict=True)
    ]


def names(rankings: Rankings) -> list[list[int]]:
    return [[document for document, _ in ranking] for ranking in rankings]


def assert_sorted(
    postings: Postings, rankings: Rankings, requests: Requests, depth: int | None = None
) -> None:
    """Both functions give what sorting gives: the ranks of the documents, and the best of each query."""
    ranks = [
        {name: rank for rank, name in enumerate(order[:depth], 1)}.get(document, 0)
        for (document, _), order in zip(requests, names(rankings), strict=True)
    ]
    assert ranks_of(postings, requests, depth=depth) == ranks
    most = depth or max(1, len(postings))
    assert search(postings, queries_of(requests), depth=most) == [ranking[:most] for ranking in rankings]


#        0          1       2    3       4
FIVE = [[0, 1, 2], [0, 0, 3], [1], [0, 2, 2], []]


def test_ranks_by_hand(build: Build) -> None:
    requests = [
        (1, [0]),  # twice in three words: above 0 and 3, with one in three
        (0, [0]),  # equal to document 3, with the lower number
        (3, [0]),
        (2, [1]),  # one word of one: shorter than document 0
        (0, [1]),
        (3, [2, 0]),  # 2 occurs twice and 0 once; in document 0 each once
        (0, [2, 0]),
        (1, [2, 0]),  # only 0, though twice
        (1, [3]),
        (3, [-1, 0, 4, -1]),  # terms that no document holds count nothing beside others
        *((2, [0]), (4, [0]), (0, []), (0, [-1]), (0, [4])),  # found by no search
    ]
    assert ranks_of(build(FIVE, 5), requests) == [1, 2, 3, 1, 2, 1, 2, 3, 1, 3, *[0] * 5]


def test_the_best_by_hand(build: Build) -> None:
    postings = build(FIVE, 5)
    queries = [[0], [1], [2, 0], [3], [], [-1], [4], [0, -1, 4]]
    assert names(search(postings, queries)) == [[1, 0, 3], [2, 0], [3, 0, 1], [1], [], [], [], [1, 0, 3]]
    assert names(search(postings, queries, depth=1)) == [[1], [2], [3], [1], [], [], [], [1]]


def test_ranks_beyond_the_depth_are_zero(build: Build) -> None:
    # Document n holds the term n + 1 times of 100: the last is the first.
    postings = build([[0] * (n + 1) + [1] * (99 - n) for n in range(60)], 2)
    requests = [(n, [0]) for n in range(60)]
    for depth in (1, 50, 60):
        assert ranks_of(postings, requests, depth=depth) == [0] * (60 - depth) + list(range(depth, 0, -1))


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 1000), st.lists(st.integers(-1, 5), max_size=7)), max_size=12),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([(3.8, 0.87), (0.9, 0.4), (1e-3, 1.0), (100.0, 0.0)]),
)
def test_small_collections_are_those_of_sorting(build: Build, documents, drawn, depth, parameters) -> None:
    k1, b = parameters
    requests = [(number % len(documents), terms) for number, terms in drawn]
    rankings = by_sorting(documents, 6, queries_of(requests), Bm25Config(k1=k1, b=b))
    assert_sorted(build(documents, 6, k1, b), rankings, requests, depth)


def large(seed: int, count: int = 4000, terms: int = 60) -> tuple[list[list[int]], Requests]:
    """A collection with lists long enough for hulls, prefixes and directories, and queries on it."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 80, count)
    documents = [(random.zipf(1.2, length) % terms).tolist() for length in lengths]
    documents[7] = [3] * 900  # more than a byte of frequency holds
    requests = []
    for _ in range(300):
        document = int(random.integers(count))
        own = documents[document] or [0]
        terms_of = [int(random.choice(own)) for _ in range(random.integers(1, 6))]
        requests.append((document, terms_of + [int(random.integers(terms))] * int(random.integers(2))))
    return documents, requests


def test_long_lists_are_those_of_sorting(build: Build) -> None:
    documents, requests = large(3)
    postings, rankings = build(documents, 60), by_sorting(documents, 60, queries_of(requests))
    for depth in (1, 50, 1500, None):
        assert_sorted(postings, rankings, requests, depth)
    assert len({*ranks_of(postings, requests)}) > 30


def test_runs_of_equal_documents_in_long_lists(build: Build) -> None:
    """Ties everywhere: bounds must let through what is equal."""
    random = np.random.default_rng(5)
    kinds = [[0, 1, 2], [0, 0, 1], [2, 1, 1, 3], [3], [0, 1, 2, 3]]
    documents = [kinds[kind] for kind in random.integers(0, 5, 5000)]
    requests = [(int(random.integers(5000)), random.integers(0, 4, 3).tolist()) for _ in range(200)]
    postings, rankings = build(documents, 4), by_sorting(documents, 4, queries_of(requests))
    for depth in (1, 10, 700, 1100, None):
        assert_sorted(postings, rankings, requests, depth)


def test_threads_change_nothing(build: Build) -> None:
    documents, requests = large(4)
    requests = requests * 5
    assert len(requests) > 2 * QUERIES_AT_ONCE
    postings, queries = build(documents, 60), queries_of(requests)
    ranks, found = ranks_of(postings, requests), search(postings, queries, depth=20)
    for threads in (2, 3):
        assert ranks_of(postings, requests, threads=threads) == ranks
        assert search(postings, queries, depth=20, threads=threads) == found


@pytest.mark.parametrize(
    ("documents", "terms", "offsets", "message"),
    [
        ([0], [0], [0, 2], "do not fit together"),
        ([0, 1], [0], [0, 1], "do not fit together"),
        ([0, 1, 2], [0], [0, 1, 0, 1], "do not fit together"),
        ([5], [0], [0, 1], r"outside 0 … 4"),
        ([-1], [0], [0, 1], r"outside 0 … 4"),
        ([0], [5], [0, 1], r"outside -1 … 4"),
        ([0], [-2], [0, 1], r"outside -1 … 4"),
    ],
)
def test_what_does_not_fit_is_refused(build: Build, documents, terms, offsets, message) -> None:
    postings = build(FIVE, 5)
    with pytest.raises(InputError, match=message):
        document_ranks(postings, np.array(documents), np.array(terms), np.array(offsets))


def test_searches_of_other_terms_and_depths_of_none_are_refused(build: Build) -> None:
    postings, terms = build(FIVE, 5), np.array([0])
    with pytest.raises(InputError, match="do not fit together"):
        top_documents(postings, terms, np.array([]))
    with pytest.raises(InputError, match="outside -1 … 4"):
        top_documents(postings, np.array([5]), np.array([0, 1]))
    for function, documents in ((top_documents, []), (document_ranks, [np.array([0])])):
        with pytest.raises(ValueError, match="depth 0 is below 1"):
            function(postings, *documents, terms, np.array([0, 1]), depth=0)


def test_no_queries_and_no_documents(build: Build) -> None:
    postings = build(FIVE, 5)
    assert (ranks_of(postings, []), search(postings, [])) == ([], [])
    empty = build([], 5)
    assert (ranks_of(empty, []), search(empty, [[0]])) == ([], [[]])


SCALE = 2**15
"""Times a term stands in a query: a power of two, which multiplies its score exactly."""


def search_by_lucene(folder: Path, documents: list[list[int]], queries: list[list[int]]) -> Rankings:
    """All documents that Anserini finds for each query, and their scores."""
    (folder / "input").mkdir()
    with open(folder / "input" / "vectors.jsonl", "w") as file:
        for number, document in enumerate(documents):
            terms, times = np.unique(document, return_counts=True)
            vector = {f"t{term}": int(count) for term, count in zip(terms, times, strict=True)}
            file.write(json.dumps({"id": f"{number:06d}", "contents": "", "vector": vector}) + "\n")
    arguments = ["-collection", "JsonVectorCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    arguments += ["-input", str(folder / "input"), "-index", str(folder / "index"), "-pretokenized"]
    run_anserini("index.IndexCollection", [*arguments, "-threads", "1", "-optimize", "-bm25.accurate"], 256)
    topics = folder / "topics.tsv"
    texts = [" ".join(f"t{term}" for term in query) for query in queries]
    topics.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    arguments = ["-index", str(folder / "index"), "-topics", str(topics), "-topicReader", "TsvString"]
    arguments += ["-output", str(folder / "run"), "-hits", str(len(documents)), "-pretokenized"]
    arguments += ["-bm25.accurate", "-bm25.k1", "3.8", "-bm25.b", "0.87"]
    run_anserini("search.SearchCollection", arguments, 256)
    found: Rankings = [[] for _ in queries]
    for line in (folder / "run").read_text().splitlines():
        number, _, document, _, score, _ = line.split()
        found[int(number)].append((int(document), float(score)))
    return found


TERMS = 300


@pytest.fixture(scope="module")
def collection() -> tuple[list[list[int]], list[list[int]]]:
    random = np.random.default_rng(9)
    documents = [(random.zipf(1.2, random.integers(1, 300)) % TERMS).tolist() for _ in range(400)]
    return documents, [random.integers(0, TERMS, random.integers(1, 6)).tolist() for _ in range(25)]


ONE_TERM = [[term] * SCALE for term in (20, 40, 75, 150)] + [[30] * SCALE + [60] * SCALE]
"""Queries whose printed scores tell their last bits."""


@pytest.fixture(scope="module")
def searched(tmp_path_factory, collection):
    """What Lucene finds with true lengths, as Anserini's option bm25.accurate has them."""
    documents, requested = collection
    return search_by_lucene(tmp_path_factory.mktemp("lucene"), documents, requested + ONE_TERM)


def test_ranks_and_searches_are_lucenes(build: Build, collection, searched) -> None:
    documents, queries = collection
    found = searched[: len(queries)]
    postings = build(documents, TERMS)
    for query, ranking, ours in zip(
        queries, found, search(postings, queries, depth=len(documents)), strict=True
    ):
        order = [document for document, _ in ranking]
        others = [document for document in range(len(documents)) if document not in order]
        requests = [(document, query) for document in [*order, *others]]
        expected = [*range(1, len(order) + 1), *(0 for _ in others)]
        assert ranks_of(postings, requests, depth=None) == expected
        assert [document for document, _ in ours] == order
        assert [score for _, score in ours] == pytest.approx([score for _, score in ranking], abs=2e-4)
    assert sum(map(len, found)) > 1000


def test_scores_are_lucenes(collection, searched) -> None:
    """With true lengths Anserini has a formula of its own, which rounds otherwise, in the last bits of a weight."""
    documents, requested = collection
    frequencies = frequencies_of(documents, TERMS)
    idf = inverse_document_frequencies((frequencies > 0).sum(axis=0), len(documents))
    compared = 0
    for query, ranking in zip(ONE_TERM, searched[len(requested) :], strict=True):
        scores = scores_of(frequencies, query)
        for document, printed in ranking:
            # Four decimals are printed, and what then ties is lowered by 1e-6 each; floats above 2**13 lie 1e-3 apart.
            if scores[document] > 2**13:
                compared += 1
                apart = float(np.spacing(scores[document])) / 2
                blur = 3e-7 * float(idf[query].sum())
                assert abs(float(scores[document]) - printed) < apart + blur
    assert compared > 50
