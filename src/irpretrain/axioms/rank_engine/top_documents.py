"""The best documents under a query by Lucene's BM25, from the postings of `document_rank`.

Every posting of the query's terms is scored. A rank needs few of them, for it knows its threshold from the start.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from irpretrain.axioms.rank_engine.document_rank import QUERIES_AT_ONCE, check_terms
from irpretrain.axioms.rank_engine.impacts import DEFAULT, Bm25, impacts_of, part_of_score
from irpretrain.axioms.rank_engine.postings import Postings, frequency_at
from irpretrain.axioms.rank_engine.rank_lists import (
    END,
    ROWS,
    START,
    Index,
    RankQuery,
    describe_lists,
    distinct_terms,
)
from irpretrain.foundation.compiled import compiled

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
