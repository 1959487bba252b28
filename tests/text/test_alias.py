from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.text.draws import alias_table


def probabilities(thresholds: np.ndarray, aliases: np.ndarray) -> np.ndarray:
    """Spell out what an alias table draws: each cell has the mass 1/n, split at its threshold."""
    masses = thresholds.copy()
    np.add.at(masses, aliases, 1.0 - thresholds)
    return masses / len(thresholds)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40).filter(lambda w: sum(w) > 0))
def test_a_table_holds_exactly_its_distribution(weights: list[float]) -> None:
    given_weights = np.array(weights)
    held = probabilities(*alias_table(given_weights))
    np.testing.assert_allclose(held, given_weights / given_weights.sum(), rtol=0, atol=1e-12)
    assert (held[given_weights == 0] == 0).all()


def test_a_zipfian_vocabulary_is_held_exactly() -> None:
    weights = 1.0 / np.arange(1, 200_001)
    held = probabilities(*alias_table(weights))
    np.testing.assert_allclose(held, weights / weights.sum(), rtol=1e-9, atol=0)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [np.inf, 1.0], [np.nan]])
def test_impossible_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="alias table"):
        alias_table(np.array(weights))
