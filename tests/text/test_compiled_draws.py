"""The compiled Philox against NumPy's, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.randomness import generator, stream_key
from irpretrain.text.draws import (
    STATE_WORDS,
    next_uniform,
    next_word,
    start_stream,
    uniform_at,
    write_uniforms,
)

WORDS_64 = st.integers(0, 2**64 - 1)


def draws(key: tuple[int, int], count: int, draw: Callable[[np.ndarray], float]) -> list[float]:
    """The first draws of a stream."""
    state = np.empty(STATE_WORDS, np.uint64)
    start_stream(state, np.uint64(key[0]), np.uint64(key[1]))
    return [draw(state) for _ in range(count)]


def numpy_words(key: tuple[int, int], count: int) -> np.ndarray:
    return np.random.Philox(key=np.array(key, np.uint64)).random_raw(count)


@given(WORDS_64, WORDS_64, st.integers(0, 41))
def test_words_equal_numpys(key_0: int, key_1: int, count: int) -> None:
    assert draws((key_0, key_1), count, next_word) == numpy_words((key_0, key_1), count).tolist()


@pytest.mark.parametrize("key", [(0, 0), (2**64 - 1, 2**64 - 1), (1, 2**63)])
def test_extreme_keys(key: tuple[int, int]) -> None:
    assert draws(key, 1001, next_word) == numpy_words(key, 1001).tolist()


def test_uniforms_are_those_of_the_projects_generator() -> None:
    key = stream_key(7, "rop", "squad-train/3")
    assert draws(key, 999, next_uniform) == generator(7, "rop", "squad-train/3").random(999).tolist()


@given(st.integers(0, 9), st.integers(0, 1 << 34), st.integers(0, 13))
def test_uniforms_from_any_place_of_a_stream(seed: int, first: int, number: int) -> None:
    stream = generator(seed, "masking", "rop/0/7")
    stream.bit_generator.advance(first // 4)
    expected = stream.random(first % 4 + number)[first % 4 :]
    key_0, key_1 = (np.uint64(word) for word in stream_key(seed, "masking", "rop/0/7"))
    written = np.full(number, -1.0)
    write_uniforms(key_0, key_1, first, written)
    assert written.tolist() == expected.tolist()
    assert [uniform_at(key_0, key_1, first + place) for place in range(number)] == expected.tolist()
