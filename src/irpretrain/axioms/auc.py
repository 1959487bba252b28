"""Area under the ROC curve of pairwise preferences, and its interval by resampling documents."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


class Auc(NamedTuple):
    """An AUC with its bootstrap interval; not a number where only one class was seen."""

    value: float
    low: float
    high: float


def area(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return P(score of a positive > score of a negative) + ½ P(equal), over all pairs of a positive and a negative.

    Args:
        scores: one a case.
        labels: true for positive cases.
    """
    levels, positive = _levels(scores, labels)
    return _area(levels, positive, np.ones(len(levels)))


def area_with_interval(
    scores: ArrayLike, labels: ArrayLike, documents: ArrayLike, resamples: int, rng: np.random.Generator
) -> Auc:
    """Return the AUC with a percentile bootstrap interval of 95 %.

    Args:
        documents: int, the document of each case. Cases of one document are not independent, so each resample draws
            documents, as many as there are, with replacement, and takes all cases of each.
        resamples: how many; those with one class alone are left out.
    """
    levels, positive = _levels(scores, labels)
    _, place = np.unique(np.asarray(documents), return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    value = _area(levels, positive, np.ones(len(levels)))
    areas = np.empty(resamples)
    for number in range(resamples):
        drawn = np.bincount(rng.integers(0, count, count), minlength=count) if count else np.zeros(0)
        areas[number] = _area(levels, positive, drawn[place].astype(np.float64))
    areas = areas[~np.isnan(areas)]
    if not len(areas):
        return Auc(value, float("nan"), float("nan"))
    low, high = np.quantile(areas, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Auc(value, float(low), float(high))


def _levels(scores: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank of each score among the distinct scores, from 0, and the labels (bool)."""
    _, levels = np.unique(np.asarray(scores, np.float64), return_inverse=True)
    return levels, np.asarray(labels, bool)


def _area(levels: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    size = int(levels.max()) + 1 if len(levels) else 0
    above = np.bincount(levels[positive], weights[positive], size)
    below = np.bincount(levels[~positive], weights[~positive], size)
    pairs = above.sum() * below.sum()
    if pairs == 0:
        return float("nan")
    smaller = np.cumsum(below) - below
    return float((above * (smaller + below / 2)).sum() / pairs)
