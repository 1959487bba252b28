"""REP-QL and REP-TFIDF: how representative a query is of its document (ARES, section 3.2.2)."""

import math

import numpy as np

from irpretrain.axioms.batch import Batch, Documents, Places, QueryTerms
from irpretrain.axioms.grid import on_grid
from irpretrain.compiled import compiled


def query_likelihood(batch: Batch) -> np.ndarray:
    """Return REP-QL: the mean of ln P(t|D) over the terms of each query, -∞ without terms (float64).

    P(t|D) = (tf + μ P(t|C)) / (|D| + μ),  P(t|C) = (df + 1) / (Σ df + |V|)   (equations 3 and 4, over terms)
    """
    collection = batch.collection
    return _query_likelihood(
        batch.queries,
        batch.places,
        batch.documents,
        batch.document,
        collection.frequencies,
        collection.mu / collection.frequency_total,
        collection.mu,
    )


def tf_idf(batch: Batch) -> np.ndarray:
    """Return REP-TFIDF: the mean of tf · ln((N + 1) / (df + 1)) over the terms of each query, 0 without terms."""
    collection = batch.collection
    return _tf_idf(batch.queries, batch.places, collection.frequencies, collection.documents)


@compiled
def _query_likelihood(
    queries: QueryTerms,
    places: Places,
    documents: Documents,
    document: np.ndarray,
    frequencies: np.ndarray,
    prior_of_one: float,
    mu: float,
) -> np.ndarray:
    """`prior_of_one`: μ / (Σ df + |V|)."""
    values = np.full(len(document), -np.inf)
    for query in range(len(document)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        norm, total = documents.lengths[document[query]] + mu, 0.0
        for slot in range(first, last):
            held = places.offsets[slot + 1] - places.offsets[slot]
            prior = prior_of_one * (frequencies[queries.terms[slot]] + 1)
            total += on_grid(math.log((held + prior) / norm))
        if last > first:
            values[query] = total / (last - first)
    return values


@compiled
def _tf_idf(queries: QueryTerms, places: Places, frequencies: np.ndarray, documents: int) -> np.ndarray:
    values = np.zeros(len(queries.offsets) - 1)
    for query in range(len(values)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        total = 0.0
        for slot in range(first, last):
            held = places.offsets[slot + 1] - places.offsets[slot]
            total += held * on_grid(math.log((documents + 1) / (frequencies[queries.terms[slot]] + 1)))
        if last > first:
            values[query] = total / (last - first)
    return values
