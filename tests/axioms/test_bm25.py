"""Lucene's BM25: the formula in floats, and bounds that no rounding breaks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.axioms.rank_engine.bm25 import (
    document_norms,
    inverse_document_frequencies,
    term_score,
)
from irpretrain.axioms.rank_engine.impacts import level_of
from irpretrain.axioms.rank_engine.rank_lists import lower_bound, upper_bound
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.errors import ConfigError


def test_a_score_by_hand() -> None:
    # Lengths 2 and 4, mean 3; k1 = 1, b = 1: norm = 1 / (length / 3) = 1.5 and 0.75.
    norms = document_norms(np.array([2, 4, 0], np.int32), 3.0, Bm25Config(k1=1.0, b=1.0))
    assert norms.dtype == np.float32
    assert norms.tolist() == [1.5, 0.75, 0.0]
    # One of two documents holds the term: idf = log(1 + 1.5 / 1.5).
    idf = inverse_document_frequencies(np.array([1]), 2)
    assert idf[0] == np.float32(math.log(2))
    # tf = 2 in the first: w (1 - 1 / (1 + 2 · 1.5)) = 0.75 w.
    assert term_score(np.float32(4), np.float32(2), norms[0]) == 3.0


@pytest.mark.parametrize("k1", [0.0, 1e40])
def test_parameters_out_of_range_are_refused(k1: float) -> None:
    with pytest.raises(ConfigError, match=r"BM25 needs k1 from 1e-09 to 1e\+09"):
        document_norms(np.array([1], np.int32), 1.0, Bm25Config(k1=k1))


@given(
    st.integers(1, 100_000),
    st.floats(2**-20, 2**20, width=32),
    st.floats(2**-23, 2**13, width=32),
)
def test_levels_bound_what_lucenes_floats_add(frequency: int, norm: float, weight: float) -> None:
    norm, weight = np.float32(norm), np.float32(weight)
    level = level_of(float(frequency), float(norm))
    part = float(term_score(weight, np.float32(frequency), norm))
    assert 1 <= level <= 255
    assert lower_bound(weight, level) <= part <= upper_bound(weight, level)
