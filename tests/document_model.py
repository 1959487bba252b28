"""A document's smoothed language model (PROP, equations 2 and 3), spelt out: what drawn word sets are held against."""

import math
from collections.abc import Sequence

import numpy as np

from irpretrain.objectives.prop.language_model import RARE_WORD, CollectionModel


def numbers_of(collection: CollectionModel, words: Sequence[str]) -> np.ndarray:
    """Return the term number of each word (int64), RARE or STOP."""
    return np.fromiter(
        (collection.number_of_word.get(word, RARE_WORD) for word in words), np.int64, len(words)
    )


class DocumentModel:
    """A document's model over the collection's vocabulary.

    Attributes:
        counts: int64[V], c(w,D).
        length: |D|, in words.
        probabilities: float64[V], P(w|D).
    """

    def __init__(self, collection: CollectionModel, words: Sequence[str]) -> None:
        numbers = numbers_of(collection, words)
        self.counts = np.bincount(numbers[numbers >= 0], minlength=len(collection.terms))
        self.length = int(np.count_nonzero(numbers >= (RARE_WORD if collection.rare_words_count else 0)))
        smoothed = self.counts + collection.mu * collection.background
        self.probabilities = smoothed / (self.length + collection.mu)

    def log_likelihood(self, terms: Sequence[int]) -> float:
        """Return log P(S|D), the sum of log P(w|D) over a set of term numbers (equation 2)."""
        return math.fsum(math.log(self.probabilities[term]) for term in terms)
