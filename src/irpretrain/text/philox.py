"""Philox4x64-10 for compiled code, bit for bit the stream of NumPy's `np.random.Philox`.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3. A stream
is named by its 128-bit key (`irpretrain.randomness.stream_key`); its counter starts at zero and is raised before
each block of four 64-bit words, as NumPy does.

The state is an array of eight unsigned 64-bit words: key (2), counter (lowest word only, so a stream has 2^66
words), block (4), number of words used of the block.
"""

import numpy as np

from irpretrain.compiled import compiled

STATE_WORDS = 8

_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_FOUR = np.uint64(4)
_DROPPED_BITS = np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@compiled
def _multiply_high(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the upper 64 bits of the 128-bit product of two unsigned 64-bit words."""
    a_low, a_high = a & _LOW, a >> _HALF
    b_low, b_high = b & _LOW, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)


@compiled
def start_stream(state: np.ndarray, key_0: np.uint64, key_1: np.uint64) -> None:
    """Set `state` (uint64[8]) to the start of the stream with this key."""
    state[:] = np.uint64(0)
    state[0], state[1] = key_0, key_1
    state[7] = _FOUR


@compiled
def _fill_block(state: np.ndarray) -> None:
    state[2] += _ONE
    key_0, key_1 = state[0], state[1]
    c_0, c_1, c_2, c_3 = state[2], np.uint64(0), np.uint64(0), np.uint64(0)
    for _ in range(10):
        high_0, low_0 = _multiply_high(_MULTIPLIER_0, c_0), _MULTIPLIER_0 * c_0
        high_1, low_1 = _multiply_high(_MULTIPLIER_1, c_2), _MULTIPLIER_1 * c_2
        c_0, c_1, c_2, c_3 = high_1 ^ c_1 ^ key_0, low_1, high_0 ^ c_3 ^ key_1, low_0
        key_0 += _WEYL_0
        key_1 += _WEYL_1
    state[3], state[4], state[5], state[6] = c_0, c_1, c_2, c_3
    state[7] = np.uint64(0)


@compiled
def next_word(state: np.ndarray) -> np.uint64:
    """Return the stream's next unsigned 64-bit word."""
    if state[7] == _FOUR:
        _fill_block(state)
    word = state[np.int64(3) + np.int64(state[7])]
    state[7] += _ONE
    return word


@compiled
def next_uniform(state: np.ndarray) -> float:
    """Return a double in [0, 1), the one that NumPy's `Generator.random` makes of the same word."""
    return np.float64(next_word(state) >> _DROPPED_BITS) * _UNIT
