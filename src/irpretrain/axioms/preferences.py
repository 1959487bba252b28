"""From values to preferences: which of two queries an axiom prefers (ARES, equation 9)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from irpretrain.axioms.registry import DEFINITIONS
from irpretrain.config.axioms import Axiom


def preferences(
    axiom: Axiom,
    first: Mapping[str, np.ndarray],
    second: Mapping[str, np.ndarray],
    stm_2_threshold: float,
) -> np.ndarray:
    """Return 1 where the axiom prefers the first query, -1 where the second, 0 where it has no preference (int8).

    Values are compared, not subtracted: two that are infinite are equal.

    Args:
        axiom: the axiom.
        first, second: column of AXIOM_VALUES → its values, a pair of queries a place.
        stm_2_threshold: STM-2 has no preference where the values of STM-1 differ by this or more.
    """
    one, other = merits(axiom, first), merits(axiom, second)
    found = (one > other).astype(np.int8) - (one < other).astype(np.int8)
    if axiom == "STM-2":
        near = np.abs(np.subtract(first["stm_1"], second["stm_1"])) < stm_2_threshold
        found[~near] = 0
    return found


def merits(axiom: Axiom, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return an axiom's values so that the larger is the better (float64)."""
    definition = DEFINITIONS[axiom]
    column = np.asarray(values[definition.column], np.float64)
    if axiom == "RANK":
        return np.where(column == 0, -np.inf, -column)
    return column if definition.larger_is_better else -column
