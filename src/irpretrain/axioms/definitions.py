"""The nine axioms of ARES (Chen et al., SIGIR 2022, section 3.2).

RANK: the rank of the document among all when the query is searched by BM25 (ARES, section 3.2.1).
"""

import math

import numpy as np

from irpretrain.axioms.batch import AxiomBatch, QueryTerms, TermPositions, sums_between, to_grid
from irpretrain.foundation.compiled import compiled


def rank(batch: AxiomBatch) -> np.ndarray:
    """Return RANK, from 1, smaller is better; 0 means +∞: beyond `rank_depth`, or not retrieved (int32).

    A term that occurs twice in the query counts twice.
    """
    from irpretrain.axioms.rank_engine import document_ranks  # numba

    collection, (terms, offsets) = batch.collection, batch.search_terms
    return document_ranks(
        collection.postings,
        batch.document_numbers,
        terms,
        offsets,
        depth=collection.options.rank_depth,
        threads=collection.threads,
    )


# REP-QL and REP-TFIDF: how representative a query is of its document (ARES, section 3.2.2).


def query_likelihood(batch: AxiomBatch) -> np.ndarray:
    """Return REP-QL: the mean of ln P(t|D) over the terms of each query, -∞ without terms (float64).

    P(t|D) = (tf + μ P(t|C)) / (|D| + μ),  P(t|C) = (df + 1) / (Σ df + |V|)   (equations 3 and 4, over terms)
    """
    collection = batch.collection
    mu, prior_of_one = collection.mu, collection.mu / collection.frequency_total
    norms = batch.documents.lengths[batch.document_of_query] + mu
    return _query_likelihood(batch.queries, batch.occurrences, norms, collection.frequencies, prior_of_one)


def tf_idf(batch: AxiomBatch) -> np.ndarray:
    """Return REP-TFIDF: the mean of tf · ln((N + 1) / (df + 1)) over the terms of each query, 0 without terms."""
    collection = batch.collection
    return _tf_idf(batch.queries, batch.occurrences, collection.frequencies, collection.documents)


@compiled
def _query_likelihood(
    queries: QueryTerms,
    occurrences: np.ndarray,
    norms: np.ndarray,
    frequencies: np.ndarray,
    prior_of_one: float,
) -> np.ndarray:
    """`norms`: |D| + μ of each query's document; `prior_of_one`: μ / (Σ df + |V|)."""
    values = np.full(len(norms), -np.inf)
    for query in range(len(norms)):
        first_slot, end_slot = queries.offsets[query], queries.offsets[query + 1]
        total = 0.0
        for slot in range(first_slot, end_slot):
            prior = prior_of_one * (frequencies[queries.terms[slot]] + 1)
            total += to_grid(math.log((occurrences[slot] + prior) / norms[query]))
        if end_slot > first_slot:
            values[query] = total / (end_slot - first_slot)
    return values


@compiled
def _tf_idf(
    queries: QueryTerms, occurrences: np.ndarray, frequencies: np.ndarray, document_count: int
) -> np.ndarray:
    values = np.zeros(len(queries.offsets) - 1)
    for query in range(len(values)):
        first_slot, end_slot = queries.offsets[query], queries.offsets[query + 1]
        total = 0.0
        for slot in range(first_slot, end_slot):
            idf = math.log((document_count + 1) / (frequencies[queries.terms[slot]] + 1))
            total += occurrences[slot] * to_grid(idf)
        if end_slot > first_slot:
            values[query] = total / (end_slot - first_slot)
    return values


# PROX-1 and PROX-2: where the terms of a query are in its document (ARES, section 3.2.3). Smaller is better.


def distance(batch: AxiomBatch) -> np.ndarray:
    """Return PROX-1 (equation 1): the mean over pairs of terms of the mean number of words between them (float64).

    0 without a pair of terms. A missing term makes it +∞, or is left out (`missing_terms`); +∞ if the document holds no
    term of the query.
    """
    return _distance(batch.queries, batch.term_positions, _measured_terms(batch))


def first_position(batch: AxiomBatch) -> np.ndarray:
    """Return PROX-2 (equation 2): the mean of the terms' first positions, from 0; missing terms as in PROX-1."""
    term_positions, is_present, term_counts = batch.term_positions, batch.is_present, _measured_terms(batch)
    first_positions = np.zeros(len(is_present), np.int64)
    first_positions[is_present] = term_positions.positions[term_positions.offsets[:-1][is_present]]
    sums = sums_between(first_positions, batch.queries.offsets)
    return np.divide(sums, term_counts, out=np.full(len(batch), np.inf), where=term_counts > 0)


def _measured_terms(batch: AxiomBatch) -> np.ndarray:
    """Return how many terms of each query its document holds; 0 where missing ones make the value +∞ (int64)."""
    present_terms = sums_between(batch.is_present, batch.queries.offsets)
    if batch.collection.options.missing_terms == "skipped":
        return present_terms
    return np.where(present_terms < batch.term_counts, 0, present_terms)


@compiled
def _distance(queries: QueryTerms, term_positions: TermPositions, term_counts: np.ndarray) -> np.ndarray:
    values = np.full(len(term_counts), math.inf)
    for query in np.flatnonzero(term_counts):
        first_slot, end_slot = queries.offsets[query], queries.offsets[query + 1]
        total, pairs = 0.0, term_counts[query] * (term_counts[query] - 1) // 2
        for term in range(first_slot, end_slot):
            for other_term in range(term + 1, end_slot):
                total += _words_between(term_positions, term, other_term)
        values[query] = total / max(pairs, 1)
    return values


@compiled
def _words_between(term_positions: TermPositions, term: int, other_term: int) -> float:
    """Return δ: the mean number of words between all pairs of occurrences; 0 if a term is missing."""
    left, left_end = term_positions.offsets[term], term_positions.offsets[term + 1]
    right, right_end = term_positions.offsets[other_term], term_positions.offsets[other_term + 1]
    pairs = (left_end - left) * (right_end - right)
    if pairs == 0:
        return 0.0
    # Both lists are walked in order of position. Each occurrence adds its distance to those of the other term
    # before it, from their number and sum: linear cost, exact sum.
    left_count = right_count = left_sum = right_sum = total = 0
    positions = term_positions.positions
    while left < left_end or right < right_end:
        if right == right_end or (left < left_end and positions[left] < positions[right]):
            position = int(positions[left])
            total += position * right_count - right_sum
            left_count, left_sum, left = left_count + 1, left_sum + position, left + 1
        else:
            position = int(positions[right])
            total += position * left_count - left_sum
            right_count, right_sum, right = right_count + 1, right_sum + position, right + 1
    return to_grid(total / pairs - 1)


# REG: how often the document holds the most diverse term of a query (ARES, section 3.2.4).


def diversity(batch: AxiomBatch) -> np.ndarray:
    """Return REG: tf of the term that is least similar to the rest of the query, 0 without terms (float64).

    Similarity is the cosine of the term's vector with the mean of the other terms' vectors, and 0 if one of them is
    zero. A term's vector is the sum of those of its words in the query. Among equally similar terms, the rarest in the
    document counts.
    """
    return _diversity(batch.queries, batch.occurrences, batch.collection.vectors)


@compiled
def _diversity(queries: QueryTerms, occurrences: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    values = np.zeros(len(queries.offsets) - 1)
    max_terms = 0
    for query in range(len(values)):
        max_terms = max(max_terms, queries.offsets[query + 1] - queries.offsets[query])
    term_vectors, products = np.empty((max_terms, vectors.shape[1])), np.empty((max_terms, max_terms))
    for query in range(len(values)):
        first_slot, term_count = queries.offsets[query], queries.offsets[query + 1] - queries.offsets[query]
        if term_count > 2:
            _products(queries, vectors, first_slot, term_count, term_vectors, products)
        least_similarity, occurrences_of_least = math.inf, 0
        for term in range(term_count):
            count = occurrences[first_slot + term]
            # Two terms are as similar to each other as the other way round.
            similarity = _cosine_with_others(products, term, term_count) if term_count > 2 else 0.0
            is_rarer = similarity == least_similarity and count < occurrences_of_least
            if similarity < least_similarity or is_rarer:
                least_similarity, occurrences_of_least = similarity, count
        values[query] = occurrences_of_least
    return values


@compiled
def _products(
    queries: QueryTerms,
    vectors: np.ndarray,
    first_slot: int,
    term_count: int,
    term_vectors: np.ndarray,
    products: np.ndarray,
) -> None:
    columns = vectors.shape[1]
    for term in range(term_count):
        _sum_vectors(queries, first_slot + term, first_slot + term + 1, vectors, term_vectors[term])
    for term in range(term_count):
        for other_term in range(term + 1):
            total = 0.0
            for column in range(columns):
                total += term_vectors[term, column] * term_vectors[other_term, column]
            products[term, other_term] = products[other_term, term] = total


@compiled
def _sum_vectors(
    queries: QueryTerms, first_slot: int, end_slot: int, vectors: np.ndarray, total: np.ndarray
) -> None:
    """Write the sum of the vectors of the words of some terms to `total`."""
    total[:] = 0.0
    for word in queries.words[queries.word_offsets[first_slot] : queries.word_offsets[end_slot]]:
        if word >= 0:
            for column in range(len(total)):
                total[column] += vectors[word, column]


@compiled
def _cosine_with_others(products: np.ndarray, term: int, term_count: int) -> float:
    """Return the cosine of a term's vector with the sum of the others', from their scalar products."""
    product, square = 0.0, 0.0
    for other_term in range(term_count):
        if other_term == term:
            continue
        product += products[term, other_term]
        for third_term in range(term_count):
            if third_term != term:
                square += products[other_term, third_term]
    square *= products[term, term]
    return to_grid(product / math.sqrt(square)) if square > 0 else 0.0


# STM-1, STM-2 and STM-3: what a query and its document have in common in meaning (ARES, section 3.2.5).


def similarity(batch: AxiomBatch) -> np.ndarray:
    """Return STM-1: the cosine of the mean word vectors of query and document (float64).

    0 if one of them has no word with a vector; -1 for a query without terms.
    """
    vectors = batch.collection.vectors
    return _mean_similarity(batch.queries, batch.document_of_query, batch.document_vectors, vectors)


def share_present(batch: AxiomBatch) -> np.ndarray:
    """Return STM-2's share: how many of a query's terms the document holds; 0 without terms (float64)."""
    return sums_between(batch.is_present, batch.queries.offsets) / np.maximum(batch.term_counts, 1)


def share_similar(batch: AxiomBatch) -> np.ndarray:
    """Return STM-3: the share of query words whose cosine with the document's mean vector is above the threshold
    (float64).

    0 without terms; a word without vector has cosine 0.
    """
    vectors, threshold = batch.collection.vectors, batch.collection.options.stm_3_threshold
    return _share_similar(batch.queries, batch.document_of_query, batch.document_vectors, vectors, threshold)


@compiled
def cosine(left: np.ndarray, right: np.ndarray) -> float:
    """Return the cosine of two vectors, 0 if one is zero. Sums and products are of double precision."""
    product = left_square = right_square = 0.0
    for column in range(len(left)):
        left_value, right_value = np.float64(left[column]), np.float64(right[column])
        product += left_value * right_value
        left_square += left_value * left_value
        right_square += right_value * right_value
    if left_square == 0 or right_square == 0:
        return 0.0
    return to_grid(product / (math.sqrt(left_square) * math.sqrt(right_square)))


@compiled
def _mean_similarity(
    queries: QueryTerms, document_of_query: np.ndarray, document_vectors: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    values = np.full(len(document_of_query), -1.0)
    total = np.empty(vectors.shape[1])
    for query in range(len(document_of_query)):
        first_slot, end_slot = queries.offsets[query], queries.offsets[query + 1]
        if first_slot == end_slot:
            continue
        _sum_vectors(queries, first_slot, end_slot, vectors, total)
        values[query] = cosine(total, document_vectors[document_of_query[query]])
    return values


@compiled
def _share_similar(
    queries: QueryTerms,
    document_of_query: np.ndarray,
    document_vectors: np.ndarray,
    vectors: np.ndarray,
    threshold: float,
) -> np.ndarray:
    values = np.zeros(len(document_of_query))
    for query in range(len(document_of_query)):
        first_word = queries.word_offsets[queries.offsets[query]]
        end_word = queries.word_offsets[queries.offsets[query + 1]]
        document_vector = document_vectors[document_of_query[query]]
        similar_count = 0
        for word in queries.words[first_word:end_word]:
            word_cosine = cosine(vectors[word], document_vector) if word >= 0 else 0.0
            similar_count += word_cosine > threshold
        values[query] = similar_count / max(end_word - first_word, 1)
    return values
