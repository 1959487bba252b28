"""REG: how often the document holds the most diverse term of a query (ARES, section 3.2.4)."""

import math

import numpy as np

from irpretrain.axioms.batch import Batch, Places, QueryTerms
from irpretrain.axioms.grid import on_grid
from irpretrain.compiled import compiled


def diversity(batch: Batch) -> np.ndarray:
    """Return REG: tf of the term that is least similar to the rest of the query, 0 without terms (float64).

    Similarity is the cosine of the term's vector with the mean of the other terms' vectors, and 0 where one of them is
    zero. A term's vector is the sum of those of its words in the query. Among equally similar terms, the one that the
    document holds less often decides.
    """
    return _diversity(batch.queries, batch.places, batch.collection.vectors)


@compiled
def _diversity(queries: QueryTerms, places: Places, vectors: np.ndarray) -> np.ndarray:
    values = np.zeros(len(queries.offsets) - 1)
    longest = 0
    for query in range(len(values)):
        longest = max(longest, queries.offsets[query + 1] - queries.offsets[query])
    term_vectors, products = np.empty((longest, vectors.shape[1])), np.empty((longest, longest))
    for query in range(len(values)):
        first, size = queries.offsets[query], queries.offsets[query + 1] - queries.offsets[query]
        if size > 2:
            _products(queries, vectors, first, size, term_vectors, products)
        least, value = math.inf, 0
        for term in range(size):
            held = places.offsets[first + term + 1] - places.offsets[first + term]
            # Two terms are as similar to each other as the other way round.
            similarity = _similarity(products, term, size) if size > 2 else 0.0
            if similarity < least or (similarity == least and held < value):
                least, value = similarity, held
        values[query] = value
    return values


@compiled
def _products(
    queries: QueryTerms,
    vectors: np.ndarray,
    first: int,
    size: int,
    term_vectors: np.ndarray,
    products: np.ndarray,
) -> None:
    """Fill the scalar products of the vectors of a query's terms."""
    columns = vectors.shape[1]
    term_vectors[:size] = 0.0
    for term in range(size):
        for place in range(queries.word_offsets[first + term], queries.word_offsets[first + term + 1]):
            word = queries.words[place]
            if word >= 0:
                for column in range(columns):
                    term_vectors[term, column] += vectors[word, column]
    for term in range(size):
        for other in range(term + 1):
            total = 0.0
            for column in range(columns):
                total += term_vectors[term, column] * term_vectors[other, column]
            products[term, other] = products[other, term] = total


@compiled
def _similarity(products: np.ndarray, term: int, size: int) -> float:
    """Return the cosine of a term's vector with the sum of the others', from their scalar products."""
    product, square = 0.0, 0.0
    for other in range(size):
        if other == term:
            continue
        product += products[term, other]
        for third in range(size):
            if third != term:
                square += products[other, third]
    square *= products[term, term]
    return on_grid(product / math.sqrt(square)) if square > 0 else 0.0
