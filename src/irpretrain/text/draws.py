"""Random draws in compiled code: the stream, alias tables, and inversion of running sums."""

import numpy as np

from irpretrain.foundation.compiled import compiled

# Philox4x64-10 for compiled code, bit for bit the stream of NumPy's `np.random.Philox`.
#
# Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3. A stream
# is named by its 128-bit key (`foundation.randomness.stream_key`); its counter is raised before each block, as in
# NumPy. The state is eight unsigned 64-bit words: key (2), counter (lowest word only), block (4), words used of the
# block.

STATE_WORDS = 8

_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
_LOW_BITS = np.uint64(0xFFFFFFFF)
_HALF_BITS = np.uint64(32)
_ONE = np.uint64(1)
_FOUR = np.uint64(4)
_DROPPED_BITS = np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@compiled
def _multiply_high(a: np.uint64, b: np.uint64) -> np.uint64:
    a_low, a_high = a & _LOW_BITS, a >> _HALF_BITS
    b_low, b_high = b & _LOW_BITS, b >> _HALF_BITS
    middle = a_high * b_low + ((a_low * b_low) >> _HALF_BITS)
    crossed = a_low * b_high + (middle & _LOW_BITS)
    return a_high * b_high + (middle >> _HALF_BITS) + (crossed >> _HALF_BITS)


@compiled
def start_stream(state: np.ndarray, key_0: np.uint64, key_1: np.uint64) -> None:
    """Set `state` (uint64[8]) to the start of the stream with this key."""
    state[:] = np.uint64(0)
    state[0], state[1] = key_0, key_1
    state[7] = _FOUR


@compiled
def _block(key_0: np.uint64, key_1: np.uint64, counter: np.uint64) -> tuple[np.uint64, ...]:
    """Return the four words of a block."""
    c_0, c_1, c_2, c_3 = counter, np.uint64(0), np.uint64(0), np.uint64(0)
    for _ in range(10):
        high_0, low_0 = _multiply_high(_MULTIPLIER_0, c_0), _MULTIPLIER_0 * c_0
        high_1, low_1 = _multiply_high(_MULTIPLIER_1, c_2), _MULTIPLIER_1 * c_2
        c_0, c_1, c_2, c_3 = high_1 ^ c_1 ^ key_0, low_1, high_0 ^ c_3 ^ key_1, low_0
        key_0 += _WEYL_0
        key_1 += _WEYL_1
    return c_0, c_1, c_2, c_3


@compiled
def next_uniform(state: np.ndarray) -> float:
    """Return a double in [0, 1), the one that NumPy's `Generator.random` makes of the same word."""
    if state[7] == _FOUR:
        state[2] += _ONE
        state[3], state[4], state[5], state[6] = _block(state[0], state[1], state[2])
        state[7] = np.uint64(0)
    word = state[np.int64(3) + np.int64(state[7])]
    state[7] += _ONE
    return _uniform(word)


@compiled
def _uniform(word: np.uint64) -> float:
    return np.float64(word >> _DROPPED_BITS) * _UNIT


@compiled
def uniform_at(key_0: np.uint64, key_1: np.uint64, draw: int) -> float:
    """Return draw number `draw`, counted from 0, of the uniform draws of the stream with this key."""
    return _uniform(_block(key_0, key_1, np.uint64((draw >> 2) + 1))[draw & 3])


@compiled
def write_uniforms(key_0: np.uint64, key_1: np.uint64, first_draw: int, draws: np.ndarray) -> None:
    """Write the uniform draws from number `first_draw` on of the stream with this key."""
    for block in range(first_draw >> 2, (first_draw + len(draws) + 3) >> 2):
        words = _block(key_0, key_1, np.uint64(block + 1))
        for word in range(4):
            index = 4 * block + word - first_draw
            if index >= 0 and index < len(draws):
                draws[index] = _uniform(words[word])


# Draws from a fixed discrete distribution in constant time: Walker's alias method, set up as by Vose (1991).


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (thresholds float64[n], aliases int32[n]) for draws in proportion to `weights` (≥ 0, not all 0)."""
    total = float(np.sum(weights))
    if not (np.all(weights >= 0) and 0 < total < np.inf):
        raise ValueError("the weights of an alias table must be finite, not negative, and not all zero")
    return _fill_alias_table(np.asarray(weights, np.float64) * (len(weights) / total))


@compiled
def _fill_alias_table(scaled_weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cell_count = len(scaled_weights)
    aliases = np.arange(cell_count).astype(np.int32)
    thresholds = np.ones(cell_count)
    small_cells, large_cells = np.empty(cell_count, np.int32), np.empty(cell_count, np.int32)
    small_count = large_count = 0
    largest_cell = 0
    for index in range(cell_count):
        if scaled_weights[index] > scaled_weights[largest_cell]:
            largest_cell = index
        if scaled_weights[index] < 1.0:
            small_cells[small_count] = index
            small_count += 1
        else:
            large_cells[large_count] = index
            large_count += 1
    while small_count > 0 and large_count > 0:
        small_count -= 1
        small_cell, large_cell = small_cells[small_count], large_cells[large_count - 1]
        thresholds[small_cell], aliases[small_cell] = scaled_weights[small_cell], large_cell
        scaled_weights[large_cell] -= 1.0 - scaled_weights[small_cell]
        if scaled_weights[large_cell] < 1.0:
            large_count -= 1
            small_cells[small_count] = large_cell
            small_count += 1
    # Rounding may leave cells over. They are full, but a word of weight zero must still never be drawn.
    while small_count > 0:
        small_count -= 1
        if scaled_weights[small_cells[small_count]] <= 0.0:
            thresholds[small_cells[small_count]], aliases[small_cells[small_count]] = 0.0, largest_cell
    return thresholds, aliases


@compiled
def draw_alias(thresholds: np.ndarray, aliases: np.ndarray, state: np.ndarray) -> int:
    """Return one index; takes one uniform of the Philox stream `state` (cell by its integer, side by its rest)."""
    position = next_uniform(state) * len(thresholds)
    cell = int(position)
    return cell if position - cell < thresholds[cell] else int(aliases[cell])


# A document's terms as a sorted array with counts, and draws by inversion of running sums; for compiled code.


@compiled
def first_above(sums: np.ndarray, size: int, value: float) -> int:
    """Return the first index below `size` whose running sum exceeds `value` (the last index if none does)."""
    return min(int(np.searchsorted(sums[:size], value, side="right")), size - 1)


@compiled
def count_terms(terms: np.ndarray, distinct_terms: np.ndarray, counts: np.ndarray) -> int:
    """Sort `terms`, write its distinct terms and their counts, return how many there are."""
    terms.sort()
    distinct_count = 0
    for index in range(len(terms)):
        if index == 0 or terms[index] != terms[index - 1]:
            distinct_terms[distinct_count], counts[distinct_count] = terms[index], 0
            distinct_count += 1
        counts[distinct_count - 1] += 1
    return distinct_count


@compiled
def count_of(term: int, distinct_terms: np.ndarray, counts: np.ndarray, distinct_count: int) -> int:
    """Return c(w,D)."""
    index = np.searchsorted(distinct_terms[:distinct_count], term)
    return counts[index] if index < distinct_count and distinct_terms[index] == term else 0
