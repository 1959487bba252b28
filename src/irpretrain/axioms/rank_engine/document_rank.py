"""The rank of one given document under a query, without a top-k search.

The document's own score θ is computed first; then the documents above it are counted. This is the threshold
algorithm (Fagin, Lotem, Naor, PODS 2001) with a threshold known from the start and chosen cut-offs: if each list i
has a cut-off c_i and the postings up to the cut-offs add up to less than θ, then a document above θ has a posting
above the cut-off in at least one list. Only these *essential* postings are visited (as in MaxScore, Turtle and Flood
1995, with whole lists), and each document is looked up in the other lists until its bound falls below θ. See
docs/methods/document-rank.md.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from irpretrain.axioms.rank_engine.impacts import DEFAULT, Bm25, impacts_of, part_of_score
from irpretrain.axioms.rank_engine.postings import Postings, frequency_at
from irpretrain.axioms.rank_engine.rank_lists import (
    CUTOFF,
    END,
    LARGEST_BATCH,
    LONG,
    ROWS,
    START,
    TOP,
    Index,
    RankCandidates,
    RankQuery,
    choose_cutoffs,
    count_better,
    describe_lists,
    distinct_terms,
    empty_candidates,
    highest_listed,
    lowest_level,
    order_others,
    score_of,
    take_from_list,
    take_from_prefix,
)
from irpretrain.errors import InputError
from irpretrain.foundation.compiled import compiled, compiled_uncounted

# Consecutive queries that one thread does, one after the other.
QUERIES_AT_ONCE = 512

# Candidates that are looked up together at first, since few may be enough to know that the rank is too low.
FIRST_BATCH = 32


def document_ranks(
    postings: Postings,
    # int[queries], the number of each query's document. It is fastest to have a document's queries follow
    # each other.
    documents: np.ndarray,
    # int[all terms], the queries' terms, end to end. A term that stands n times in a query counts n times; -1
    # is a term that the collection lacks, which counts nothing, like one that no document holds.
    terms: np.ndarray,
    offsets: np.ndarray,  # int[queries + 1], where each query's terms begin and end
    # parameters. Others than those of the stored bounds cost a pass over all postings first.
    bm25: Bm25 = DEFAULT,
    depth: int | None = 50,  # ranks beyond it are 0; None for all ranks
    threads: int = 1,  # the result does not depend on it
) -> np.ndarray:
    """Return the rank of a document under each query, by Lucene's BM25.

    The rank is 1 + the number of documents with a higher score, or an equal one and a lower number.

    Returns:
        int32[queries]: the rank from 1 on; 0 beyond `depth`, or if the document holds no term of the query.

    Raises:
        InputError: a document or a term is not in the collection, or the arrays do not fit together.
        ConfigError: k1 or b is out of range.
        IntegrityError: the postings' bounds are damaged.
    """
    documents = np.ascontiguousarray(documents, np.int64)
    terms, offsets = np.ascontiguousarray(terms, np.int64), np.ascontiguousarray(offsets, np.int64)
    check_terms(postings, terms, offsets, len(documents))
    if len(documents) and not 0 <= documents.min() <= documents.max() < len(postings):
        raise InputError(postings.directory, f"a query's document is outside 0 … {len(postings) - 1:,}")
    if depth is not None and depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    ranks = np.zeros(len(documents), np.int32)
    if not len(documents):
        return ranks
    impacts = impacts_of(postings, bm25)
    index = Index(postings.lists, impacts.bounds, impacts.norms, postings.document_count)
    queries = _Queries(documents, terms, offsets)
    most = np.iinfo(np.int32).max if depth is None else depth

    def work(first: int) -> None:
        last = min(first + QUERIES_AT_ONCE, len(documents))
        _rank_queries(index, queries, first, last, most, ranks)

    firsts = range(0, len(documents), QUERIES_AT_ONCE)
    if threads == 1:
        for first in firsts:
            work(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, firsts))
    return ranks


def check_terms(postings: Postings, terms: np.ndarray, offsets: np.ndarray, queries: int) -> None:
    """Raise InputError for what a kernel could not survive."""
    where = postings.directory
    if len(offsets) != queries + 1 or offsets[0] != 0 or offsets[-1] != len(terms):
        raise InputError(where, "the queries' documents, terms and offsets do not fit together")
    if (np.diff(offsets) < 0).any():
        raise InputError(where, "the queries' offsets fall")
    if len(terms) and not -1 <= terms.min() <= terms.max() < postings.terms:
        raise InputError(where, f"a query's term is outside -1 … {postings.terms - 1:,}")


class _Queries(NamedTuple):
    documents: np.ndarray
    terms: np.ndarray
    offsets: np.ndarray


@compiled
def _rank_queries(
    index: Index, queries: _Queries, first: int, last: int, depth: int, ranks: np.ndarray
) -> None:
    terms, offsets, documents, bounds = queries.terms, queries.offsets, queries.documents, index.bounds
    longest = 1
    for number in range(first, last):
        longest = max(longest, offsets[number + 1] - offsets[number])
    table = np.empty((ROWS, longest), np.int64)
    weights, rest = np.empty(longest, np.float32), np.empty(longest + 1, np.float64)
    candidates = empty_candidates()
    for number in range(first, last):
        size = distinct_terms(terms[offsets[number] : offsets[number + 1]], index.lists.offsets, table)
        target = documents[number]
        unscored = RankQuery(table, weights, rest, size, target, np.float32(0))
        describe_lists(index, unscored)
        score = score_of(index, unscored, target)
        if score < 0:
            ranks[number] = 0
            continue
        choose_cutoffs(
            bounds.hull_offsets, bounds.hull_levels, bounds.hull_above, table, size, weights, score
        )
        ranks[number] = _rank(index, RankQuery(table, weights, rest, size, target, score), depth, candidates)


@compiled_uncounted
def _rank(index: Index, query: RankQuery, depth: int, candidates: RankCandidates) -> int:
    """Count the documents above the target among the essential postings; return its rank, or 0 beyond `depth`."""
    table, weights, rest, bounds = query.table, query.weights, query.rest, index.bounds
    above = 0
    batch = FIRST_BATCH
    for at in range(query.size):
        if table[CUTOFF, at] >= table[TOP, at]:
            continue
        order_others(table, query.size, weights, at, rest)
        floor = lowest_level(table, weights, at, rest[0], query.score) - 1
        long = table[LONG, at]
        if long >= 0:
            cursor, end = bounds.prefix_offsets[long], bounds.prefix_offsets[long + 1]
            while cursor < end:
                taken, cursor = take_from_prefix(index, query, at, cursor, floor, batch, candidates)
                above += count_better(index, query, at, taken, candidates)
                if above >= depth:
                    return 0
                batch = min(2 * batch, LARGEST_BATCH)
        if highest_listed(index, query, at) <= floor:
            continue
        cursor, end = table[START, at], table[END, at]
        while cursor < end:
            taken, cursor = take_from_list(index, query, at, cursor, floor, batch, candidates)
            above += count_better(index, query, at, taken, candidates)
            if above >= depth:
                return 0
            batch = min(2 * batch, LARGEST_BATCH)
    return above + 1


# The best documents under a query by Lucene's BM25, from the postings of `document_rank`.
#
# Every posting of the query's terms is scored. A rank needs few of them, for it knows its threshold from the start.


# Target of a query without a document to rank; fills rows of fewer documents than `depth`.
NOBODY = -1


def top_documents(
    postings: Postings,
    terms: np.ndarray,  # int[all terms], the queries' terms, end to end, as in `document_ranks`
    offsets: np.ndarray,  # int[queries + 1], where each query's terms begin and end
    # parameters. Others than those of the stored bounds cost a pass over all postings first.
    bm25: Bm25 = DEFAULT,
    depth: int = 1000,
    threads: int = 1,  # the result does not depend on it
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best documents of each query.

    Returns:
        int32[queries, depth] numbers of documents, by falling score, then by number; -1 if no more documents hold a
        term of the query. float32[queries, depth]: their scores, 0 without a document.

    Raises:
        InputError: a term is not in the collection, or the arrays do not fit together.
        ConfigError: k1 or b is out of range.
        IntegrityError: the postings' bounds are damaged.
    """
    terms, offsets = np.ascontiguousarray(terms, np.int64), np.ascontiguousarray(offsets, np.int64)
    count = max(0, len(offsets) - 1)
    check_terms(postings, terms, offsets, count)
    if depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    documents, scores = np.full((count, depth), NOBODY, np.int32), np.zeros((count, depth), np.float32)
    if not count or not len(postings):
        return documents, scores
    impacts = impacts_of(postings, bm25)
    index = Index(postings.lists, impacts.bounds, impacts.norms, postings.document_count)

    def work(first: int) -> None:
        sums, seen = np.zeros(len(postings)), np.full(len(postings), -1, np.int64)
        matching = np.empty(len(postings), np.int32)
        for number in range(first, min(first + QUERIES_AT_ONCE, count)):
            query = terms[offsets[number] : offsets[number + 1]]
            held = _score_all(index, query, number, sums, seen, matching)
            best, best_scores = _best(matching[:held], sums, depth)
            documents[number, : len(best)], scores[number, : len(best)] = best, best_scores

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(0, count, QUERIES_AT_ONCE)))
    return documents, scores


def _best(matching: np.ndarray, sums: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    scores = sums[matching].astype(np.float32)
    if len(matching) > depth:
        near = scores >= np.partition(scores, -depth)[-depth]
        matching, scores = matching[near], scores[near]
    order = np.lexsort((matching, -scores))[:depth]
    return matching[order], scores[order]


@compiled
def _score_all(
    index: Index, terms: np.ndarray, mark: int, sums: np.ndarray, seen: np.ndarray, matching: np.ndarray
) -> int:
    """Sum up the scores of all documents that hold a term; return their number, and who they are in `matching`.

    `seen` has the number (`mark`) of the query that a document's sum belongs to.
    """
    lists, longest = index.lists, max(1, len(terms))
    table = np.empty((ROWS, longest), np.int64)
    weights, rest = np.empty(longest, np.float32), np.empty(longest + 1, np.float64)
    size = distinct_terms(terms, lists.offsets, table)
    describe_lists(index, RankQuery(table, weights, rest, size, NOBODY, np.float32(0)))
    held = 0
    for at in range(size):
        for position in range(table[START, at], table[END, at]):
            document = lists.documents[position]
            if seen[document] != mark:
                seen[document], sums[document], matching[held] = mark, 0.0, document
                held += 1
            frequency = frequency_at(
                lists.frequencies, lists.overflow_positions, lists.overflow_frequencies, position
            )
            part = part_of_score(weights[at], np.float32(frequency), index.norms[document])
            sums[document] += np.float64(part)
    return held
