"""How an optimiser step is cut into micro-batches, and which of them a process computes. Imports no torch.

The cut does not depend on the number of processes, as long as there is a micro-batch for each. So what is together in a
micro-batch, and what dropout draws in it, does not either.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ProcessShare:
    """Neighbouring micro-batches of a step."""

    numbers: range  # theirs among all of the step, counted from 0
    slices: tuple[slice, ...]  # the items (ranking groups, sequences) of each, counted through the whole step

    @property
    def items(self) -> slice:
        return slice(self.slices[0].start, self.slices[-1].stop)

    @property
    def own_slices(self) -> list[slice]:
        """`slices`, counted from the first item of the share."""
        first = self.items.start
        return [slice(part.start - first, part.stop - first) for part in self.slices]


def share_of(items: int, accumulation: int, rank: int = 0, processes: int = 1) -> ProcessShare:
    """Return what process `rank` computes of a step with `items` items, at least one per process.

    The step is cut into `accumulation` equal micro-batches, or one per process if there are more processes.
    """
    _check(items, processes)
    parts = min(max(accumulation, processes), items)
    return _share([int(bound) for bound in np.linspace(0, items, parts + 1).round()], rank, processes)


def share_by_tokens(tokens: np.ndarray, most: int, rank: int = 0, processes: int = 1) -> ProcessShare:
    """Return what process `rank` computes of a step, cut by the word pieces of its items, int64 [items].

    A micro-batch has at most `most` word pieces; a longer item is one by itself.
    """
    _check(len(tokens), processes)
    return _share(_cut_by_tokens(tokens.tolist(), most, processes), rank, processes)


def _check(items: int, processes: int) -> None:
    if items < processes:
        raise ValueError(f"{items} items cannot be shared out among {processes} processes")


def _share(bounds: Sequence[int], rank: int, processes: int) -> ProcessShare:
    parts = len(bounds) - 1
    numbers = range(parts * rank // processes, parts * (rank + 1) // processes)
    return ProcessShare(numbers, tuple(slice(bounds[number], bounds[number + 1]) for number in numbers))


def _cut_by_tokens(tokens: list[int], most: int, least: int) -> list[int]:
    """Return the bounds of micro-batches that take items in order while they fit, cut again to at least `least`."""
    bounds, filled = [0], 0
    for item, size in enumerate(tokens):
        if item > bounds[-1] and filled + size > most:
            bounds.append(item)
            filled = 0
        filled += size
    bounds.append(len(tokens))
    sums = [0, *itertools.accumulate(tokens)]
    while len(bounds) <= least:
        parts = [(first, last) for first, last in itertools.pairwise(bounds) if last - first > 1]
        first, last = max(parts, key=lambda part: (sums[part[1]] - sums[part[0]], -part[0]))
        middle = sums[first] + sums[last]
        cut = min(range(first + 1, last), key=lambda position: abs(2 * sums[position] - middle))
        bounds = sorted([*bounds, cut])
    return bounds
