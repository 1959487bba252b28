"""The rank of one document: by hand, against brute force, and against Lucene itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_collections import BM25, Build

from irpretrain.axioms.rank_engine.bm25 import document_norms, inverse_document_frequencies
from irpretrain.axioms.rank_engine.document_rank import QUERIES_AT_ONCE, document_ranks, top_documents
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval.java import run_anserini


def ask(postings: Postings, queries: list[tuple[int, list[int]]], **options) -> list[int]:
    """Ask for ranks of (document, terms)."""
    documents = np.array([document for document, _ in queries], np.int64)
    terms = np.array([term for _, terms in queries for term in terms], np.int64)
    offsets = np.cumsum([0, *(len(terms) for _, terms in queries)])
    return document_ranks(postings, documents, terms, offsets, **options).tolist()


def frequencies_of(documents: list[list[int]], terms: int) -> np.ndarray:
    return np.array([np.bincount(document, minlength=terms)[:terms] for document in documents]).reshape(
        -1, terms
    )


def scores_of(frequencies: np.ndarray, query: list[int], bm25: Bm25Config = BM25) -> np.ndarray:
    """Every document's score, all at once in NumPy: float32 by term, summed in float64."""
    own = frequencies.sum(axis=1).astype(np.int32)
    count = int((own > 0).sum())
    norms = document_norms(own, own.sum() / max(1, count), bm25)
    idf = inverse_document_frequencies((frequencies > 0).sum(axis=0), count)
    total = np.zeros(len(frequencies))
    for term, times in zip(*np.unique([t for t in query if t >= 0], return_counts=True), strict=True):
        held = frequencies[:, int(term)].astype(np.float32)
        weight = np.float32(times) * idf[int(term)]
        total += np.where(held > 0, weight - weight / (np.float32(1) + held * norms), 0)
    return total.astype(np.float32)


def rank_of(scores: np.ndarray, held: np.ndarray, document: int, depth: int | None) -> int:
    """The rank by sorting, among the documents that hold a term."""
    if not held[document]:
        return 0
    order = sorted(np.flatnonzero(held).tolist(), key=lambda other: (-scores[other], other))
    rank = order.index(document) + 1
    return 0 if depth is not None and rank > depth else rank


def brute_force(
    documents: list[list[int]], terms: int, queries: list[tuple[int, list[int]]], depth: int | None = 50,
    bm25: Bm25Config = BM25,
) -> list[int]:  # fmt: skip
    frequencies = frequencies_of(documents, terms)
    ranks = []
    for document, query in queries:
        known = [term for term in query if term >= 0]
        held = (frequencies[:, known] > 0).any(axis=1) if known else np.zeros(len(documents), bool)
        ranks.append(rank_of(scores_of(frequencies, query, bm25), held, document, depth))
    return ranks


#        0          1       2    3       4
FIVE = [[0, 1, 2], [0, 0, 3], [1], [0, 2, 2], []]


def test_ranks_by_hand(build: Build) -> None:
    postings = build(FIVE, 5)
    queries = [
        (1, [0]),  # twice in three words: above 0 and 3, with one in three
        (0, [0]),  # equal to document 3, with the lower number
        (3, [0]),
        (2, [1]),  # one word of one: shorter than document 0
        (0, [1]),
        (3, [2, 0]),  # 2 occurs twice and 0 once; in document 0 each once
        (0, [2, 0]),
        (1, [2, 0]),  # only 0, though twice
        (1, [3]),
    ]
    assert ask(postings, queries) == [1, 2, 3, 1, 2, 1, 2, 3, 1]


def test_what_no_search_returns_has_rank_zero(build: Build) -> None:
    postings = build(FIVE, 5)
    queries = [
        (2, [0]),  # holds no term of the query
        (4, [0]),  # holds no term at all
        (0, []),  # an empty query
        (0, [-1]),  # a term that the collection lacks
        (0, [4]),  # a term that no document holds
    ]
    assert ask(postings, queries) == [0] * 5
    assert ask(postings, queries, depth=None) == [0] * 5


def test_unknown_terms_count_nothing_beside_others(build: Build) -> None:
    postings = build(FIVE, 5)
    assert ask(postings, [(3, [-1, 0, 4, -1])]) == ask(postings, [(3, [0])]) == [3]


def test_a_repeated_term_counts_so_often(build: Build) -> None:
    # Terms 0 and 1 are equally rare; each document holds one of them, and 2 is the longer one.
    postings = build([[0, 2, 2], [1, 2, 2], [2]], 3)
    queries = [(0, [0, 1]), (1, [0, 1]), (0, [0, 1, 1]), (1, [0, 1, 1])]
    assert ask(postings, queries) == [1, 2, 2, 1]


def test_ranks_beyond_the_depth_are_zero(build: Build) -> None:
    # Document n holds the term n + 1 times of 100: the last is the first.
    postings = build([[0] * (n + 1) + [1] * (99 - n) for n in range(60)], 2)
    requested = [(n, [0]) for n in range(60)]
    assert ask(postings, requested) == [0] * 10 + list(range(50, 0, -1))
    assert ask(postings, requested, depth=1) == [0] * 59 + [1]
    assert ask(postings, requested, depth=None) == list(range(60, 0, -1))


def test_equal_documents_rank_by_their_numbers(build: Build) -> None:
    postings = build([[0, 1]] * 400, 2)
    requested = [(n, [0, 1]) for n in (0, 1, 49, 50, 399)]
    assert ask(postings, requested) == [1, 2, 50, 0, 0]
    assert ask(postings, requested, depth=None) == [1, 2, 50, 51, 400]


words = st.integers(0, 5)
queries = st.lists(st.tuples(st.integers(0, 1000), st.lists(st.integers(-1, 5), max_size=7)), max_size=12)


@given(
    st.lists(st.lists(words, max_size=9), min_size=1, max_size=25), queries, st.sampled_from([None, 1, 3]),
    st.sampled_from([(3.8, 0.87), (0.9, 0.4), (1e-3, 1.0), (100.0, 0.0)]),
)  # fmt: skip
def test_ranks_are_those_of_sorting(build: Build, documents, queries, depth, parameters) -> None:
    k1, b = parameters
    queries = [(number % len(documents), terms) for number, terms in queries]
    wanted = brute_force(documents, 6, queries, depth, Bm25Config(k1=k1, b=b))
    assert ask(build(documents, 6, k1, b), queries, depth=depth) == wanted


def large(
    seed: int, count: int = 4000, terms: int = 60
) -> tuple[list[list[int]], list[tuple[int, list[int]]]]:
    """A collection with lists long enough for hulls, prefixes and directories, and queries on it."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 80, count)
    documents = [(random.zipf(1.2, length) % terms).tolist() for length in lengths]
    documents[7] = [3] * 900  # more than a byte of frequency holds
    requested = []
    for _ in range(300):
        document = int(random.integers(count))
        own = documents[document] or [0]
        terms_of = [int(random.choice(own)) for _ in range(random.integers(1, 6))]
        requested.append((document, terms_of + [int(random.integers(terms))] * int(random.integers(2))))
    return documents, requested


@pytest.mark.parametrize("depth", [50, None])
def test_ranks_in_long_lists(build: Build, depth: int | None) -> None:
    documents, requested = large(3)
    found = ask(build(documents, 60), requested, depth=depth)
    assert found == brute_force(documents, 60, requested, depth=depth)
    assert len({*found}) > 30


def test_runs_of_equal_documents_in_long_lists(build: Build) -> None:
    """Ties everywhere: bounds must let through what is equal."""
    random = np.random.default_rng(5)
    kinds = [[0, 1, 2], [0, 0, 1], [2, 1, 1, 3], [3], [0, 1, 2, 3]]
    documents = [kinds[kind] for kind in random.integers(0, 5, 2000)]
    requested = [(int(random.integers(2000)), random.integers(0, 4, 3).tolist()) for _ in range(200)]
    assert ask(build(documents, 4), requested, depth=None) == brute_force(documents, 4, requested, depth=None)


def test_exact_ranks_are_those_of_real_numbers(build: Build) -> None:
    """Where scores in float64 are apart by more than float32 can blur, nothing else decides."""
    documents, requested = large(11)
    frequencies = frequencies_of(documents, 60).astype(np.float64)
    own = frequencies.sum(axis=1)
    count, mean = (own > 0).sum(), own.sum() / (own > 0).sum()
    held = (frequencies > 0).sum(axis=0)
    idf = np.log(1 + (count - held + 0.5) / (held + 0.5))
    ranks = ask(build(documents, 60), requested, depth=None)
    compared = 0
    for (document, query), rank in zip(requested, ranks, strict=True):
        tf = frequencies[:, query]
        scores = (idf[query] * tf / (tf + 3.8 * (0.13 + 0.87 * own[:, None] / mean))).sum(axis=1)
        gaps = np.abs(scores - scores[document])
        if rank and (np.delete(gaps, document) > 1e-5).all():
            compared += 1
            assert rank == 1 + (scores > scores[document]).sum()
    assert compared > 50


def test_threads_change_nothing(build: Build) -> None:
    documents, requested = large(4)
    requested = requested * 5
    assert len(requested) > 2 * QUERIES_AT_ONCE
    postings = build(documents, 60)
    one = ask(postings, requested)
    assert [ask(postings, requested, threads=threads) for threads in (2, 3)] == [one, one]


@pytest.mark.parametrize(
    ("documents", "terms", "offsets", "message"),
    [
        ([0], [0], [0, 2], "do not fit together"),
        ([0, 1], [0], [0, 1], "do not fit together"),
        ([0, 1, 2], [0], [0, 1, 0, 1], "offsets fall"),
        ([5], [0], [0, 1], r"outside 0 … 4"),
        ([-1], [0], [0, 1], r"outside 0 … 4"),
        ([0], [5], [0, 1], r"outside -1 … 4"),
        ([0], [-2], [0, 1], r"outside -1 … 4"),
    ],
)
def test_what_does_not_fit_is_refused(build: Build, documents, terms, offsets, message) -> None:
    with pytest.raises(InputError, match=message):
        document_ranks(build(FIVE, 5), np.array(documents), np.array(terms), np.array(offsets))


def test_no_queries_no_ranks(build: Build) -> None:
    assert ask(build(FIVE, 5), []) == []
    assert ask(build([], 5), []) == []


SCALE = 2**15
"""Times a term stands in a query: a power of two, which multiplies its score exactly."""


def search_by_lucene(
    folder: Path, documents: list[list[int]], queries: list[list[int]]
) -> list[list[tuple[int, float]]]:
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
    arguments += [
        "-output",
        str(folder / "run"),
        "-hits",
        str(len(documents)),
        "-pretokenized",
        "-threads",
        "1",
    ]
    arguments += ["-bm25.accurate", "-bm25.k1", "3.8", "-bm25.b", "0.87"]
    run_anserini("search.SearchCollection", arguments, 256)
    found: list[list[tuple[int, float]]] = [[] for _ in queries]
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


def test_ranks_are_lucenes(build: Build, collection, searched) -> None:
    documents, requested = collection
    found = searched[: len(requested)]
    postings = build(documents, TERMS)
    for query, ranking in zip(requested, found, strict=True):
        queries = [(document, query) for document, _ in ranking]
        assert ask(postings, queries, depth=None) == list(range(1, len(queries) + 1))
        others = sorted({*range(len(documents))} - {document for document, _ in ranking})
        assert not any(ask(postings, [(document, query) for document in others]))
    assert sum(map(len, found)) > 1000


def test_searches_are_lucenes(build: Build, collection, searched) -> None:
    documents, requested = collection
    terms, offsets = np.concatenate(requested), np.cumsum([0, *map(len, requested)])
    best, scores = top_documents(build(documents, TERMS), terms, offsets, len(documents))
    for number, ranking in enumerate(searched[: len(requested)]):
        assert best[number, : len(ranking)].tolist() == [document for document, _ in ranking]
        assert scores[number, : len(ranking)] == pytest.approx([score for _, score in ranking], abs=2e-4)
        assert (best[number, len(ranking) :] < 0).all()


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
