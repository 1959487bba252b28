"""Draws from a fixed discrete distribution in constant time: Walker's alias method, set up as by Vose (1991)."""

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.text.philox import next_uniform


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (thresholds float64[n], aliases int32[n]) for draws in proportion to `weights` (≥ 0, not all 0)."""
    total = float(np.sum(weights))
    if not (np.all(weights >= 0) and 0 < total < np.inf):
        raise ValueError("the weights of an alias table must be finite, not negative, and not all zero")
    return _fill(np.asarray(weights, np.float64) * (len(weights) / total))


@compiled
def _fill(scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = len(scaled)
    aliases = np.arange(size).astype(np.int32)
    thresholds = np.ones(size)
    small, large = np.empty(size, np.int32), np.empty(size, np.int32)
    smalls = larges = 0
    largest = 0
    for index in range(size):
        if scaled[index] > scaled[largest]:
            largest = index
        if scaled[index] < 1.0:
            small[smalls] = index
            smalls += 1
        else:
            large[larges] = index
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        low, high = small[smalls], large[larges - 1]
        thresholds[low], aliases[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            larges -= 1
            small[smalls] = high
            smalls += 1
    # Rounding may leave cells over. They are full, but a word of weight zero must still never be drawn.
    while smalls > 0:
        smalls -= 1
        if scaled[small[smalls]] <= 0.0:
            thresholds[small[smalls]], aliases[small[smalls]] = 0.0, largest
    return thresholds, aliases


@compiled
def draw_alias(thresholds: np.ndarray, aliases: np.ndarray, state: np.ndarray) -> int:
    """Return one index; takes one uniform of the Philox stream `state` (cell by its integer, side by its rest)."""
    place = next_uniform(state) * len(thresholds)
    cell = int(place)
    return cell if place - cell < thresholds[cell] else int(aliases[cell])
