"""Sub-sampling of frequent words (Mikolov et al., "Distributed representations of words and phrases", 2013).

PROP draws a word and keeps it with probability k(w), else draws again. That is the same as drawing once in
proportion to P(w|D) k(w), which is what `irpretrain.objectives.prop.word_sets` does.
"""

from typing import Literal

import numpy as np

KeepRule = Literal["word2vec-paper", "word2vec-code"]


def keep_probabilities(
    counts: np.ndarray, total: int, threshold: float, rule: KeepRule, minimum_count: int = 0
) -> np.ndarray:
    """Return k(w), the probability that a drawn word is kept (float64, one a word).

    With f = count / total and t = `threshold`: min(1, √(t/f)) for the formula of word2vec's paper, and
    min(1, √(t/f) + t/f) for that of its code.

    Args:
        counts: occurrences of each word in the collection, at least 1.
        total: occurrences of all words.
        threshold: t; 0 keeps every word.
        rule: which formula.
        minimum_count: words with fewer occurrences are always kept. (PROP's released code has no entry for
            them, and a worker that draws one dies.)
    """
    if threshold == 0:
        return np.ones(len(counts))
    ratio = threshold * total / counts
    keep = np.sqrt(ratio) + (ratio if rule == "word2vec-code" else 0.0)
    return np.where(counts < minimum_count, 1.0, np.minimum(keep, 1.0))
