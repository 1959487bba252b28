"""From the words of a text and their weights to its list of terms."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def weighted_terms(
    words: Sequence[str], weights: np.ndarray, read: np.ndarray | None = None, summed: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Return the different words, sorted by code points, each with its largest weight, and how many occurrences have
    none.

    A word one of whose weights is not a number has that: it is a fault, and must be seen where weights become integers.

    Args:
        words: of a text, lower-cased, in its order.
        weights: float32 [words], any numbers.
        read: bool [words], whether a word has a weight, without which it is left out; None where all have one.
        summed: whether a word has the sum of its weights in place of the largest.
    """
    best: dict[str, float] = {}
    covered = np.ones(len(words), bool) if read is None else read
    for word, weight, has_weight in zip(words, weights.tolist(), covered.tolist(), strict=True):
        if not has_weight:
            continue
        old = best.get(word)
        if summed:
            best[word] = weight + (old or 0.0)
        elif old is None or (old == old and not weight <= old):
            best[word] = weight
    return [{"term": word, "weight": best[word]} for word in sorted(best)], int((~covered).sum())
