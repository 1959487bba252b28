"""The best documents under a query by Lucene's BM25, from the postings of `document_rank`.

A rank has a threshold from the start, the score of its document; a search must find one. The documents of a list's
highest levels are scored first: the k-th best score among them is a threshold that the k best documents reach. Then, as
with a rank, cut-offs are chosen for the threshold, and the document of each essential posting is looked up in the other
lists until its bound falls below the threshold, which rises with the results.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from irpretrain.axioms.rank_engine.document_rank import FIRST_BATCH, QUERIES_AT_ONCE, check_terms
from irpretrain.axioms.rank_engine.impacts import DEFAULT, LEVELS, Bm25, impacts_of
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.axioms.rank_engine.rank_lists import (
    CUTOFF,
    END,
    LARGEST_BATCH,
    LONG,
    OTHER,
    ROWS,
    START,
    TOP,
    Index,
    RankCandidates,
    RankQuery,
    choose_cutoffs,
    describe_lists,
    distinct_terms,
    empty_candidates,
    highest_listed,
    look_up,
    lowest_level,
    order_others,
    score_of,
    take_from_list,
    take_from_prefix,
)
from irpretrain.foundation.compiled import compiled, compiled_uncounted

# Target of a query without a document to rank; fills rows of fewer documents than `depth`.
NOBODY = -1


class Best(NamedTuple):
    """Documents that may be among the best, in no order; room for three times the depth, and `LARGEST_BATCH` more."""

    documents: np.ndarray  # int64
    scores: np.ndarray  # float32
    state: np.ndarray  # int64[1], how many there are
    threshold: np.ndarray  # float32[1], the score that the best reach at least


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
        last = min(first + QUERIES_AT_ONCE, count)
        _search(index, terms, offsets[first : last + 1], documents[first:last], scores[first:last])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(0, count, QUERIES_AT_ONCE)))
    return documents, scores


@compiled
def _search(
    index: Index, terms: np.ndarray, offsets: np.ndarray, documents: np.ndarray, scores: np.ndarray
) -> None:
    count, depth = documents.shape
    longest = 1
    for number in range(count):
        longest = max(longest, offsets[number + 1] - offsets[number])
    table = np.empty((ROWS, longest), np.int64)
    weights, rest = np.empty(longest, np.float32), np.empty(longest + 1, np.float64)
    candidates = empty_candidates()
    room = 3 * depth + LARGEST_BATCH
    best = Best(
        np.empty(room, np.int64), np.empty(room, np.float32), np.zeros(1, np.int64), np.zeros(1, np.float32)
    )
    bounds = index.bounds
    for number in range(count):
        size = distinct_terms(terms[offsets[number] : offsets[number + 1]], index.lists.offsets, table)
        query = RankQuery(table, weights, rest, size, NOBODY, np.float32(0))
        describe_lists(index, query)
        best.threshold[0] = 0
        _raise_threshold(index, query, depth, best)
        best.state[0] = 0
        choose_cutoffs(
            bounds.hull_offsets,
            bounds.hull_levels,
            bounds.hull_above,
            table,
            size,
            weights,
            best.threshold[0],
        )
        for at in range(size):
            _search_list(index, query, at, depth, candidates, best)
        _keep_best(best, depth)
        for at in range(best.state[0]):
            documents[number, at], scores[number, at] = best.documents[at], best.scores[at]


@compiled
def _raise_threshold(index: Index, query: RankQuery, depth: int, best: Best) -> None:
    """Raise the threshold to a score that at least `depth` documents reach, if the lists' best ones are so many."""
    documents, taken = best.documents, 0
    bounds, table = index.bounds, query.table
    for at in range(query.size):
        long = table[LONG, at]
        if long >= 0:
            first, last = bounds.prefix_offsets[long], bounds.prefix_offsets[long + 1]
            for position in range(first, min(last, first + depth)):
                documents[taken] = bounds.prefix_documents[position]
                taken += 1
        else:
            for position in range(table[START, at], min(table[END, at], table[START, at] + depth)):
                documents[taken] = index.lists.documents[position]
                taken += 1
        if taken >= 2 * depth:
            break
    if taken < depth:
        return
    # Numba compiles np.unique and np.partition for seconds; this sort is compiled for `_keep_best` anyway.
    numbers = documents[:taken][np.argsort(documents[:taken])].astype(np.int32)
    count = 0
    for at in range(taken):
        if at == 0 or numbers[at] != numbers[at - 1]:
            documents[count], best.scores[count] = numbers[at], score_of(index, query, numbers[at])
            count += 1
    best.state[0] = count
    if count >= depth:
        _keep_best(best, depth)


@compiled
def _search_list(
    index: Index, query: RankQuery, at: int, depth: int, candidates: RankCandidates, best: Best
) -> None:
    table, weights, rest, bounds = query.table, query.weights, query.rest, index.bounds
    if table[CUTOFF, at] >= table[TOP, at]:
        return
    order_others(table, query.size, weights, at, rest)
    batch = FIRST_BATCH
    long = table[LONG, at]
    if long >= 0:
        cursor, end = bounds.prefix_offsets[long], bounds.prefix_offsets[long + 1]
        while cursor < end:
            now = RankQuery(table, weights, rest, query.size, NOBODY, best.threshold[0])
            floor = lowest_level(table, weights, at, rest[0], now.score) - 1
            taken, cursor = take_from_prefix(index, now, at, cursor, floor, batch, candidates)
            _score(index, now, at, taken, candidates, best)
            if best.state[0] >= 2 * depth:
                _keep_best(best, depth)
            batch = min(2 * batch, LARGEST_BATCH)
    cursor, end = table[START, at], table[END, at]
    while cursor < end:
        now = RankQuery(table, weights, rest, query.size, NOBODY, best.threshold[0])
        floor = lowest_level(table, weights, at, rest[0], now.score) - 1
        if highest_listed(index, now, at) <= floor:
            return
        taken, cursor = take_from_list(index, now, at, cursor, floor, batch, candidates)
        _score(index, now, at, taken, candidates, best)
        if best.state[0] >= 2 * depth:
            _keep_best(best, depth)
        batch = min(2 * batch, LARGEST_BATCH)


@compiled_uncounted
def _score(
    index: Index, query: RankQuery, at: int, taken: int, candidates: RankCandidates, best: Best
) -> None:
    """Add those candidates that reach the threshold and were not met in an earlier list."""
    for number in range(query.size - 1):
        other = query.table[OTHER, number]
        most = query.table[CUTOFF, other] if other < at else LEVELS
        taken = look_up(index, query, other, most, query.score - query.rest[number + 1], taken, candidates)
    count = best.state[0]
    for number in range(taken):
        document = candidates.documents[number]
        score = score_of(index, query, document)
        if score >= query.score:
            best.documents[count], best.scores[count] = document, score
            count += 1
    best.state[0] = count


@compiled
def _keep_best(best: Best, depth: int) -> None:
    """Sort the documents, keep the best, and raise the threshold to the last of them."""
    count = best.state[0]
    # By number first, and then stably by score, so that ties stay by number.
    order = np.argsort(best.documents[:count])
    order = order[np.argsort(-best.scores[:count][order], kind="mergesort")][:depth]
    documents, scores = best.documents[:count][order], best.scores[:count][order]
    for at in range(len(order)):  # numba would compile the error text of `[:n] =` for seconds
        best.documents[at], best.scores[at] = documents[at], scores[at]
    best.state[0] = len(order)
    if len(order) == depth:
        best.threshold[0] = best.scores[depth - 1]
