"""What a predictor makes of each axiom on the pairs that there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irpretrain.axioms.predictor import chosen_columns
from irpretrain.axioms.preferences import vector_numbers
from irpretrain.config.axioms import AXIOMS, Axiom


def effects(table: np.ndarray, features: np.ndarray, axioms: Sequence[Axiom]) -> dict[Axiom, float]:
    """Return the mean over pairs of p(f with the axiom = 1) - p(f with the axiom = -1), all else as observed.

    This is the difference of two points of the axiom's partial dependence (Friedman, 2001, section 8.2), from -1 to 1:
    below 0, the predictor speaks against the axiom. It does not depend on which query of a pair comes first, as
    p(-f) = 1 - p(f).

    Args:
        table: float64 [3⁹], symmetric probabilities by number of vector.
        features: int8 [pairs, 9], the vectors observed; one pair or more.
        axioms: those that the predictor looks at.
    """
    vectors, times = np.unique(features, axis=0, return_counts=True)
    by_axiom: dict[Axiom, float] = {}
    for column in chosen_columns(axioms):
        preferred, other = vectors.copy(), vectors.copy()
        preferred[:, column], other[:, column] = 1, -1
        differences = table[vector_numbers(preferred)] - table[vector_numbers(other)]
        by_axiom[AXIOMS[column]] = float(np.average(differences, weights=times))
    return by_axiom
