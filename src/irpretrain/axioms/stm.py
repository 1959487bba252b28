"""STM-1, STM-2 and STM-3: what a query and its document have in common in meaning (ARES, section 3.2.5)."""

import math

import numpy as np

from irpretrain.axioms.batch import Batch, Places, QueryTerms, terms_held
from irpretrain.axioms.grid import on_grid
from irpretrain.compiled import compiled


def similarity(batch: Batch) -> np.ndarray:
    """Return STM-1: the cosine of the mean word vectors of query and document (float64).

    0 where one of the two has no word with a vector; -1 for a query without terms.
    """
    vectors = batch.collection.vectors
    return _similarity(batch.queries, batch.document, batch.document_vectors, vectors)


def share_held(batch: Batch) -> np.ndarray:
    """Return STM-2's share: how many of a query's terms the document holds; 0 without terms (float64)."""
    return _share_held(batch.queries, batch.places)


def share_similar(batch: Batch) -> np.ndarray:
    """Return STM-3: the share of a query's words whose cosine with the mean vector of the document's words is above
    the threshold, 0 without terms. A word without vector has cosine 0 (float64)."""
    threshold = batch.collection.options.stm_3_threshold
    vectors = batch.collection.vectors
    return _share_similar(batch.queries, batch.document, batch.document_vectors, vectors, threshold)


@compiled
def cosine(left: np.ndarray, right: np.ndarray) -> float:
    """Return the cosine of two vectors, 0 where one is zero. Sums and products are of double precision."""
    product = left_square = right_square = 0.0
    for column in range(len(left)):
        left_value, right_value = np.float64(left[column]), np.float64(right[column])
        product += left_value * right_value
        left_square += left_value * left_value
        right_square += right_value * right_value
    if left_square == 0 or right_square == 0:
        return 0.0
    return on_grid(product / (math.sqrt(left_square) * math.sqrt(right_square)))


@compiled
def _similarity(
    queries: QueryTerms, document: np.ndarray, document_vectors: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    values = np.full(len(document), -1.0)
    total = np.empty(vectors.shape[1])
    for query in range(len(document)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        if first == last:
            continue
        total[:] = 0.0
        for place in range(queries.word_offsets[first], queries.word_offsets[last]):
            word = queries.words[place]
            if word >= 0:
                for column in range(len(total)):
                    total[column] += vectors[word, column]
        values[query] = cosine(total, document_vectors[document[query]])
    return values


@compiled
def _share_held(queries: QueryTerms, places: Places) -> np.ndarray:
    values = np.zeros(len(queries.offsets) - 1)
    for query in range(len(values)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        values[query] = terms_held(places, first, last) / max(last - first, 1)
    return values


@compiled
def _share_similar(
    queries: QueryTerms,
    document: np.ndarray,
    document_vectors: np.ndarray,
    vectors: np.ndarray,
    threshold: float,
) -> np.ndarray:
    values = np.zeros(len(document))
    for query in range(len(document)):
        first = queries.word_offsets[queries.offsets[query]]
        last = queries.word_offsets[queries.offsets[query + 1]]
        similar = 0
        for place in range(first, last):
            word = queries.words[place]
            word_cosine = cosine(vectors[word], document_vectors[document[query]]) if word >= 0 else 0.0
            similar += word_cosine > threshold
        values[query] = similar / max(last - first, 1)
    return values
