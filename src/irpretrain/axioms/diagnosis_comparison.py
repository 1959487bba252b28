"""Whether two re-rankers differ in how often they agree with an axiom: McNemar's exact test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from irpretrain.config.axioms import AXIOMS

COMPARISON_COLUMNS = ("model", "other", "axiom", "pairs", "model_alone", "other_alone", "p")


def compare_models(preferred: np.ndarray, signs: Mapping[str, np.ndarray]) -> Iterator[list[Any]]:
    """Yield a row of `COMPARISON_COLUMNS` for any two models and each axiom.

    Args:
        preferred: int8 [pairs, 9], what the axioms prefer.
        signs: model → [pairs], 1 where it prefers the first query, -1 the second, 0 neither. Pairs on which one of the
            two models has equal scores are left out of the test.
    """
    for (model, model_signs), (name, other) in combinations(signs.items(), 2):
        for column, axiom in enumerate(AXIOMS):
            expected = preferred[:, column]
            told = (expected != 0) & (model_signs != 0) & (other != 0)
            alone = int((told & (model_signs == expected) & (other != expected)).sum())
            other_alone = int((told & (model_signs != expected) & (other == expected)).sum())
            yield [model, name, axiom, int(told.sum()), alone, other_alone, mcnemar(alone, other_alone)]


def mcnemar(first: int, second: int) -> float:
    """Return the two-tailed p-value of McNemar's exact test: that of so uneven a split of the pairs that one of the two
    models alone decides right, each with probability ½. 1 where there is no such pair."""
    from scipy.stats import binom

    return float(min(1.0, 2 * binom.cdf(min(first, second), first + second, 0.5)))
