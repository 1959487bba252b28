"""PROX-1 and PROX-2: where the terms of a query are in its document (ARES, section 3.2.3). Smaller is better."""

import math

import numpy as np

from irpretrain.axioms.batch import Batch, Places, QueryTerms, terms_held
from irpretrain.axioms.grid import on_grid
from irpretrain.compiled import compiled


def distance(batch: Batch) -> np.ndarray:
    """Return PROX-1 (equation 1): the mean over pairs of terms of the mean number of words between them (float64).

    A query whose terms make no pair has 0. A missing term makes it +∞, or is left out (`missing_terms`); a query of
    which the document holds no term has +∞.
    """
    return _distance(batch.queries, batch.places, batch.collection.options.missing_terms == "skipped")


def first_position(batch: Batch) -> np.ndarray:
    """Return PROX-2 (equation 2): the mean of the terms' first positions, from 0; missing terms as in PROX-1."""
    return _first_position(batch.queries, batch.places, batch.collection.options.missing_terms == "skipped")


@compiled
def _distance(queries: QueryTerms, places: Places, skip: bool) -> np.ndarray:
    values = np.full(len(queries.offsets) - 1, math.inf)
    for query in range(len(values)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        held = terms_held(places, first, last)
        if held == 0 or (held < last - first and not skip):
            continue
        total, pairs = 0.0, held * (held - 1) // 2
        for term in range(first, last):
            for other in range(term + 1, last):
                total += _words_between(places, term, other)
        values[query] = total / max(pairs, 1)
    return values


@compiled
def _first_position(queries: QueryTerms, places: Places, skip: bool) -> np.ndarray:
    values = np.full(len(queries.offsets) - 1, math.inf)
    for query in range(len(values)):
        first, last = queries.offsets[query], queries.offsets[query + 1]
        held = terms_held(places, first, last)
        if held == 0 or (held < last - first and not skip):
            continue
        total = 0
        for slot in range(first, last):
            if places.offsets[slot + 1] > places.offsets[slot]:
                total += places.positions[places.offsets[slot]]
        values[query] = total / held
    return values


@compiled
def _words_between(places: Places, term: int, other: int) -> float:
    """Return δ: the mean over all pairs of occurrences of the number of words between them; 0 where a term is missing.

    Both lists are walked in order of position. Each occurrence adds its distance to those of the other term before it,
    which only their number and their sum are needed for; so the cost is linear, and the sum exact.
    """
    left, left_end = places.offsets[term], places.offsets[term + 1]
    right, right_end = places.offsets[other], places.offsets[other + 1]
    pairs = (left_end - left) * (right_end - right)
    if pairs == 0:
        return 0.0
    lefts = rights = left_sum = right_sum = total = 0
    while left < left_end or right < right_end:
        if right == right_end or (left < left_end and places.positions[left] < places.positions[right]):
            position = int(places.positions[left])
            total += position * rights - right_sum
            lefts, left_sum, left = lefts + 1, left_sum + position, left + 1
        else:
            position = int(places.positions[right])
            total += position * lefts - left_sum
            rights, right_sum, right = rights + 1, right_sum + position, right + 1
    return on_grid(total / pairs - 1)
