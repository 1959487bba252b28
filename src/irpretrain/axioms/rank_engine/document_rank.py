"""The rank of one given document under a query, without a top-k search.

The document's own score θ is computed first; then the documents above it are counted. This is the threshold
algorithm (Fagin, Lotem, Naor, PODS 2001) with a threshold known from the start and chosen cut-offs: if each list i
has a cut-off c_i and the postings up to the cut-offs add up to less than θ, then a document above θ has a posting
above the cut-off in at least one list. Only these *essential* postings are visited (as in MaxScore, Turtle and Flood
1995, with whole lists), and each document is looked up in the other lists until its bound falls below θ. See
docs/methods/document-rank.md.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from irpretrain.axioms.rank_engine.bm25 import inverse_document_frequencies
from irpretrain.axioms.rank_engine.postings import OVERFLOW, Index, Postings
from irpretrain.axioms.rank_engine.rank_lists import (
    CUTOFF,
    END,
    LONG,
    MAX_BATCH,
    ROWS,
    START,
    TOP,
    RankCandidates,
    RankQuery,
    choose_cutoffs,
    count_better,
    describe_lists,
    distinct_terms,
    empty_candidates,
    highest_list_level,
    lowest_level,
    order_others,
    score_of,
    take_from_list,
    take_from_prefix,
)
from irpretrain.foundation.compiled import compiled, compiled_uncounted
from irpretrain.foundation.errors import InputError

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
    depth: int | None = 50,  # ranks beyond it are 0; None for all ranks
    threads: int = 1,  # the result does not depend on it
) -> np.ndarray:
    """Return the rank of a document under each query, by Lucene's BM25.

    The rank is 1 + the number of documents with a higher score, or an equal one and a lower number.

    Returns:
        int32[queries]: the rank from 1 on; 0 beyond `depth`, or if the document holds no term of the query.

    Raises:
        InputError: a document or a term is not in the collection, or the arrays do not fit together.
    """
    documents = np.ascontiguousarray(documents, np.int64)
    terms, offsets = np.ascontiguousarray(terms, np.int64), np.ascontiguousarray(offsets, np.int64)
    _check_terms(postings, terms, offsets, len(documents))
    if len(documents) and not 0 <= documents.min() <= documents.max() < len(postings):
        raise InputError(postings.directory, f"a query's document is outside 0 … {len(postings) - 1:,}")
    if depth is not None and depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    ranks = np.zeros(len(documents), np.int32)
    max_rank = np.iinfo(np.int32).max if depth is None else depth

    def rank_block(first_query: int) -> None:
        block = slice(first_query, first_query + QUERIES_AT_ONCE)
        block_offsets = offsets[first_query : block.stop + 1]
        _rank_queries(postings.index, documents[block], terms, block_offsets, max_rank, ranks[block])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(rank_block, range(0, len(documents), QUERIES_AT_ONCE)))
    return ranks


def _check_terms(postings: Postings, terms: np.ndarray, offsets: np.ndarray, query_count: int) -> None:
    """Raise InputError for what a kernel could not survive."""
    directory = postings.directory
    is_whole = len(offsets) == query_count + 1 and offsets[0] == 0 and offsets[-1] == len(terms)
    if not is_whole or (np.diff(offsets) < 0).any():
        raise InputError(directory, "the queries' documents, terms and offsets do not fit together")
    if len(terms) and not -1 <= terms.min() <= terms.max() < postings.terms:
        raise InputError(directory, f"a query's term is outside -1 … {postings.terms - 1:,}")


@compiled
def _rank_queries(
    index: Index,
    documents: np.ndarray,
    terms: np.ndarray,
    offsets: np.ndarray,
    depth: int,
    ranks: np.ndarray,
) -> None:
    max_terms = 1
    for query_number in range(len(documents)):
        max_terms = max(max_terms, offsets[query_number + 1] - offsets[query_number])
    table = np.empty((ROWS, max_terms), np.int64)
    weights, bound_sums = np.empty(max_terms, np.float32), np.empty(max_terms + 1, np.float64)
    candidates = empty_candidates()
    for query_number in range(len(documents)):
        query_terms = terms[offsets[query_number] : offsets[query_number + 1]]
        list_count = distinct_terms(query_terms, index.lists.offsets, table)
        document = documents[query_number]
        unscored_query = RankQuery(table, weights, bound_sums, list_count, document, np.float32(0))
        describe_lists(index, unscored_query)
        score = score_of(index, unscored_query, document)
        if score >= 0:
            query = RankQuery(table, weights, bound_sums, list_count, document, score)
            choose_cutoffs(index.bounds, query)
            ranks[query_number] = _rank(index, query, depth, candidates)


@compiled_uncounted
def _rank(index: Index, query: RankQuery, depth: int, candidates: RankCandidates) -> int:
    """Count the documents above the target among the essential postings; return its rank, or 0 beyond `depth`."""
    table, bounds = query.table, index.bounds
    better_count = 0
    batch = FIRST_BATCH
    for term in range(query.list_count):
        if table[CUTOFF, term] >= table[TOP, term]:
            continue
        order_others(query, term)
        floor = lowest_level(query, term) - 1
        long_number = table[LONG, term]
        if long_number >= 0:
            cursor, end = bounds.prefix_offsets[long_number], bounds.prefix_offsets[long_number + 1]
            while cursor < end:
                candidate_count, cursor = take_from_prefix(
                    index, query, term, cursor, floor, batch, candidates
                )
                better_count += count_better(index, query, term, candidate_count, candidates)
                if better_count >= depth:
                    return 0
                batch = min(2 * batch, MAX_BATCH)
        if highest_list_level(index, query, term) <= floor:
            continue
        cursor, end = table[START, term], table[END, term]
        while cursor < end:
            candidate_count, cursor = take_from_list(index, query, term, cursor, floor, batch, candidates)
            better_count += count_better(index, query, term, candidate_count, candidates)
            if better_count >= depth:
                return 0
            batch = min(2 * batch, MAX_BATCH)
    return better_count + 1


# The best documents under a query by Lucene's BM25, from the same postings.
#
# Every posting of the query's terms is scored. A rank needs few of them, for it knows its threshold from the start.


def top_documents(
    postings: Postings,
    terms: np.ndarray,  # int[all terms], the queries' terms, end to end, as in `document_ranks`
    offsets: np.ndarray,  # int[queries + 1], where each query's terms begin and end
    depth: int = 1000,
    threads: int = 1,  # the result does not depend on it
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best documents of each query.

    Returns:
        int32[queries, depth] numbers of documents, by falling score, then by number; -1 if no more documents hold a
        term of the query. float32[queries, depth]: their scores, 0 without a document.

    Raises:
        InputError: a term is not in the collection, or the arrays do not fit together.
    """
    query_count = max(0, len(offsets) - 1)
    _check_terms(postings, terms, offsets, query_count)
    if depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    documents = np.full((query_count, depth), -1, np.int32)
    scores = np.zeros((query_count, depth), np.float32)

    def search(query_number: int) -> None:
        query_terms = terms[offsets[query_number] : offsets[query_number + 1]]
        hits, hit_scores = _top(*_scores(postings, query_terms), depth)
        documents[query_number, : len(hits)], scores[query_number, : len(hits)] = hits, hit_scores

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(search, range(query_count)))
    return documents, scores


def _scores(postings: Postings, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents that hold a term, ascending, and their scores."""
    lists, norms = postings.lists, postings.index.norms
    sums, is_matching = np.zeros(len(postings)), np.zeros(len(postings), bool)
    for term, query_count in zip(*np.unique(terms[terms >= 0], return_counts=True), strict=True):
        start, end = lists.offsets[term], lists.offsets[term + 1]
        documents, frequencies = lists.documents[start:end], lists.frequencies[start:end].astype(np.float32)
        overflow_rows = np.flatnonzero(frequencies == OVERFLOW)
        overflows = np.searchsorted(lists.overflow_positions, start + overflow_rows)
        frequencies[overflow_rows] = lists.overflow_frequencies[overflows]
        idf = inverse_document_frequencies(np.array(end - start), postings.index.filled_documents)
        weight = np.float32(query_count) * idf
        sums[documents] += weight - weight / (np.float32(1) + frequencies * norms[documents])
        is_matching[documents] = True
    matching_documents = np.flatnonzero(is_matching)
    return matching_documents, sums[matching_documents].astype(np.float32)


def _top(documents: np.ndarray, scores: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    if len(documents) > depth:
        is_near_top = scores >= np.partition(scores, -depth)[-depth]
        documents, scores = documents[is_near_top], scores[is_near_top]
    order = np.lexsort((documents, -scores))[:depth]
    return documents[order], scores[order]
