"""Words outside a document, in classes of nearly equal weight.

A word w that a document lacks has γ_w = s h_w, where s = μ / (|D| + μ) is the document's and
h_w = −P(w|θ_C) log P(w|θ_C) is the collection's. So which of them are heavy is the same for all documents, and words
whose h differs by at most T log 2 have weights exp(γ_w/T) within a factor of two of each other, for every s ≤ 1. A
class can then be drawn by its size and its largest weight, and a word of it uniformly and by rejection, which accepts
at least every second time.
"""

import math
from typing import NamedTuple

import numpy as np


class WeightClasses(NamedTuple):
    """Classes of the words of the vocabulary by h.

    Attributes:
        members: int32 [V], words class by class; no words where nothing is drawn outside documents.
        offsets: int64 [classes + 1]; class k has members[offsets[k] : offsets[k + 1]].
        tops: float64 [classes], the largest h of each.
        class_of: int32 [V].
    """

    members: np.ndarray
    offsets: np.ndarray
    tops: np.ndarray
    class_of: np.ndarray


def weight_classes(heights: np.ndarray, temperature: float) -> WeightClasses:
    """Return the classes of words with these h (float64 [V], at least 0)."""
    steps = np.floor(heights / (temperature * math.log(2)))
    values, class_of = np.unique(steps, return_inverse=True)
    tops = np.zeros(len(values))
    np.maximum.at(tops, class_of, heights)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(class_of, minlength=len(values)))))
    members = np.argsort(class_of, kind="stable").astype(np.int32)
    return WeightClasses(members, offsets.astype(np.int64), tops, class_of.astype(np.int32))


def no_classes() -> WeightClasses:
    """Return the classes of no words."""
    return WeightClasses(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0), np.empty(0, np.int32))
