"""A document's terms as a sorted array with counts, and draws by inversion of running sums; for compiled code."""

import numpy as np

from irpretrain.compiled import compiled


@compiled
def first_above(sums: np.ndarray, size: int, value: float) -> int:
    """Return the first index below `size` whose running sum exceeds `value` (the last index if none does)."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def count_terms(terms: np.ndarray, distinct: np.ndarray, counts: np.ndarray) -> int:
    """Sort `terms`, write its distinct terms and their counts, return how many there are."""
    terms.sort()
    size = 0
    for index in range(len(terms)):
        if index == 0 or terms[index] != terms[index - 1]:
            distinct[size], counts[size] = terms[index], 0
            size += 1
        counts[size - 1] += 1
    return size


@compiled
def count_of(term: int, distinct: np.ndarray, counts: np.ndarray, size: int) -> int:
    """Return c(w,D)."""
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if distinct[middle] < term:
            low = middle + 1
        else:
            high = middle
    return counts[low] if low < size and distinct[low] == term else 0
