"""The compiled Philox against NumPy's, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irpretrain.randomness import generator, stream_key
from irpretrain.text.philox import raw_words, uniforms

WORDS_64 = st.integers(0, 2**64 - 1)


def numpy_words(key: tuple[int, int], count: int) -> np.ndarray:
    return np.random.Philox(key=np.array(key, np.uint64)).random_raw(count)


@settings(max_examples=200, deadline=None)
@given(WORDS_64, WORDS_64, st.integers(0, 41))
def test_words_equal_numpys(key_0: int, key_1: int, count: int) -> None:
    ours = raw_words(np.uint64(key_0), np.uint64(key_1), count)
    np.testing.assert_array_equal(ours, numpy_words((key_0, key_1), count))


@pytest.mark.parametrize("key", [(0, 0), (2**64 - 1, 2**64 - 1), (1, 2**63)])
def test_extreme_keys(key: tuple[int, int]) -> None:
    ours = raw_words(np.uint64(key[0]), np.uint64(key[1]), 1001)
    np.testing.assert_array_equal(ours, numpy_words(key, 1001))


def test_uniforms_are_those_of_the_projects_generator() -> None:
    key = stream_key(7, "rop", "squad-train/3")
    ours = uniforms(np.uint64(key[0]), np.uint64(key[1]), 999)
    np.testing.assert_array_equal(ours, generator(7, "rop", "squad-train/3").random(999))
