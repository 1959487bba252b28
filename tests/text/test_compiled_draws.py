"""Compiled draws: the stream is NumPy's Philox, bit for bit, and alias tables hold their distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.randomness import generator, stream_key
from irpretrain.text.draws import (
    STATE_WORDS,
    alias_table,
    next_uniform,
    start_stream,
    uniform_at,
    write_uniforms,
)

WORDS_64 = st.integers(0, 2**64 - 1)


@given(WORDS_64, WORDS_64, st.integers(0, 41))
def test_uniforms_equal_numpys(key_0: int, key_1: int, count: int) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    start_stream(state, np.uint64(key_0), np.uint64(key_1))
    philox = np.random.Philox(key=np.array([key_0, key_1], np.uint64))
    assert [next_uniform(state) for _ in range(count)] == np.random.Generator(philox).random(count).tolist()


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


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40).filter(lambda w: sum(w) > 0))
def test_an_alias_table_holds_exactly_its_distribution(weights: list[float]) -> None:
    expected = np.array(weights) / sum(weights)
    thresholds, aliases = alias_table(np.array(weights))
    # Each cell has the mass 1/n, split at its threshold.
    masses = thresholds.copy()
    np.add.at(masses, aliases, 1.0 - thresholds)
    np.testing.assert_allclose(masses / len(weights), expected, rtol=0, atol=1e-12)
    assert (masses[expected == 0] == 0).all()


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [np.inf, 1.0], [np.nan]])
def test_impossible_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="alias table"):
        alias_table(np.array(weights))
