"""The rank of one given document under a query, without a top-k search.

The document's own score θ is computed first; what is left is to count the documents above it, which is done as in the
threshold algorithm (Fagin, Lotem, Naor, PODS 2001), but with a threshold that is known from the start and cut-offs
that are chosen rather than met: if each list i has a cut-off c_i and what postings up to there add comes to less
than θ, then a document above θ has a posting above the cut-off in at least one list. Only these postings, the
*essential* ones, are looked at (as MaxScore, Turtle and Flood 1995, does with whole lists), and each one's document is
looked up in the other lists until its bound falls below θ. docs/methods/document-rank.md has more.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from irpretrain.compiled import compiled, compiled_uncounted
from irpretrain.errors import InputError
from irpretrain.rank_engine.bm25 import Lengths
from irpretrain.rank_engine.impacts import Bounds, impacts_of
from irpretrain.rank_engine.postings import Lists, Postings
from irpretrain.rank_engine.rank_candidates import (
    LARGEST_BATCH,
    Candidates,
    count_better,
    take_from_list,
    take_from_prefix,
)
from irpretrain.rank_engine.rank_cutoffs import choose_cutoffs, lowest_level, order_others
from irpretrain.rank_engine.rank_lists import (
    CUTOFF,
    END,
    LONG,
    ROWS,
    START,
    TOP,
    describe_lists,
    distinct_terms,
    score_of,
)

QUERIES_AT_ONCE = 512
"""Consecutive queries that one thread does, one after the other."""
FIRST_BATCH = 32
"""Candidates that are looked up together at first, since few may be enough to know that the rank is too low."""


def document_ranks(
    postings: Postings,
    documents: np.ndarray,
    terms: np.ndarray,
    offsets: np.ndarray,
    k1: float = 3.8,
    b: float = 0.87,
    depth: int | None = 50,
    lengths: Lengths = "exact",
    threads: int = 1,
) -> np.ndarray:
    """Return the rank of a document under each query, by Lucene's BM25.

    The rank is 1 + the number of documents with a higher score, or an equal one and a lower number.

    Args:
        postings: the collection.
        documents: int[queries], the number of each query's document. It is fastest to have a document's queries
            follow each other.
        terms: int[all terms], the queries' terms, end to end. A term that stands n times in a query counts n times;
            -1 is a term that the collection lacks, which counts nothing, like one that no document holds.
        offsets: int[queries + 1], where each query's terms begin and end.
        k1, b: BM25's parameters. Others than those of the stored bounds cost a pass over all postings first.
        depth: ranks beyond it are not told apart; None for all ranks.
        lengths: exact, or with the loss of Lucene's byte.
        threads: the result does not depend on it.

    Returns:
        int32[queries]: the rank from 1 on; 0 where it is beyond `depth`, or the document holds no term of the query
        (an empty query's, for one), so that no search would return it.

    Raises:
        InputError: a document or a term is not in the collection, or the arrays do not fit together.
        ConfigError: k1 or b is out of range.
        IntegrityError: the postings' bounds are damaged.
    """
    documents = np.ascontiguousarray(documents, np.int64)
    terms, offsets = np.ascontiguousarray(terms, np.int64), np.ascontiguousarray(offsets, np.int64)
    _check(postings, documents, terms, offsets)
    if depth is not None and depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    ranks = np.zeros(len(documents), np.int32)
    if not len(documents):
        return ranks
    impacts = impacts_of(postings, k1, b, lengths)
    most = np.iinfo(np.int32).max if depth is None else depth

    def work(first: int) -> None:
        last = min(first + QUERIES_AT_ONCE, len(documents))
        _rank_queries(
            postings.lists, impacts.bounds, impacts.norms, postings.document_count,
            documents, terms, offsets, first, last, most, ranks,
        )  # fmt: skip

    firsts = range(0, len(documents), QUERIES_AT_ONCE)
    if threads == 1:
        for first in firsts:
            work(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, firsts))
    return ranks


def _check(postings: Postings, documents: np.ndarray, terms: np.ndarray, offsets: np.ndarray) -> None:
    """Raise InputError for what the kernel could not survive."""
    where = postings.directory
    if len(offsets) != len(documents) + 1 or offsets[0] != 0 or offsets[-1] != len(terms):
        raise InputError(where, "the queries' documents, terms and offsets do not fit together")
    if (np.diff(offsets) < 0).any():
        raise InputError(where, "the queries' offsets fall")
    if len(documents) and not 0 <= documents.min() <= documents.max() < len(postings):
        raise InputError(where, f"a query's document is outside 0 … {len(postings) - 1:,}")
    if len(terms) and not -1 <= terms.min() <= terms.max() < postings.terms:
        raise InputError(where, f"a query's term is outside -1 … {postings.terms - 1:,}")


@compiled
def _rank_queries(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    count: int,
    documents: np.ndarray,
    terms: np.ndarray,
    offsets: np.ndarray,
    first: int,
    last: int,
    depth: int,
    ranks: np.ndarray,
) -> None:
    """Fill `ranks` for the queries from `first` to `last`."""
    longest = 1
    for number in range(first, last):
        longest = max(longest, offsets[number + 1] - offsets[number])
    table = np.empty((ROWS, longest), np.int64)
    weights, rest = np.empty(longest, np.float32), np.empty(longest + 1, np.float64)
    candidates = Candidates(
        np.empty(LARGEST_BATCH, np.int32),
        np.empty(LARGEST_BATCH, np.float64), np.empty(LARGEST_BATCH, np.float64),
        np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int32),
    )  # fmt: skip
    for number in range(first, last):
        query = terms[offsets[number] : offsets[number + 1]]
        size = distinct_terms(query, lists.offsets, table)
        describe_lists(
            lists.directory_offsets, bounds.tops, bounds.long_numbers, len(norms), count, table, size, weights
        )
        target = documents[number]
        score = score_of(
            lists.documents, lists.frequencies, lists.overflow_places, lists.overflow_frequencies,
            lists.directory, table, size, weights, target, norms[target],
        )  # fmt: skip
        if score < 0:
            ranks[number] = 0
            continue
        choose_cutoffs(
            bounds.hull_offsets, bounds.hull_levels, bounds.hull_above, table, size, weights, score
        )
        ranks[number] = _rank(
            lists, bounds, norms, table, size, weights, rest, target, score, depth,
            candidates,
        )  # fmt: skip


@compiled_uncounted
def _rank(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
    rest: np.ndarray,
    target: int,
    score: np.float32,
    depth: int,
    candidates: Candidates,
) -> int:
    """Count the documents above the target among the essential postings; return its rank, or 0 beyond `depth`."""
    above = 0
    batch = FIRST_BATCH
    for at in range(size):
        if table[CUTOFF, at] >= table[TOP, at]:
            continue
        order_others(table, size, weights, at, rest)
        floor = lowest_level(table, weights, at, rest[0], score) - 1
        listed_top = table[TOP, at]
        long = table[LONG, at]
        if long >= 0:
            listed_top = min(listed_top, bounds.floors[long])
            cursor, end = bounds.prefix_offsets[long], bounds.prefix_offsets[long + 1]
            while cursor < end:
                found, cursor = take_from_prefix(
                    bounds.prefix_documents, bounds.prefix_levels, cursor, end, floor, weights[at], target,
                    batch, candidates,
                )  # fmt: skip
                above += count_better(
                    lists, bounds, norms, table, size, weights, rest, at, target, score,
                    found, candidates,
                )  # fmt: skip
                if above >= depth:
                    return 0
                batch = min(2 * batch, LARGEST_BATCH)
        if listed_top <= floor:
            continue
        cursor, end = table[START, at], table[END, at]
        while cursor < end:
            found, cursor = take_from_list(
                lists.documents, bounds.levels, cursor, end, floor, listed_top, weights[at], target,
                batch, candidates,
            )  # fmt: skip
            above += count_better(
                lists, bounds, norms, table, size, weights, rest, at, target, score,
                found, candidates,
            )  # fmt: skip
            if above >= depth:
                return 0
            batch = min(2 * batch, LARGEST_BATCH)
    return above + 1
