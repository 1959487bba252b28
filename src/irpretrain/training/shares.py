"""How an optimiser step is cut into micro-batches, and which of them a process computes.

A step is cut into as many micro-batches whatever the number of processes, as long as there is one for each of them.
So what is together in a micro-batch, and what is dropped in it, depends on nobody's share. Imports no torch.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Share:
    """Neighbouring micro-batches of a step.

    Attributes:
        numbers: theirs among all of the step, counted from 0.
        slices: the items (ranking groups, sequences) of each, counted through the whole step.
    """

    numbers: range
    slices: tuple[slice, ...]

    @property
    def items(self) -> slice:
        """The items of all of them."""
        return slice(self.slices[0].start, self.slices[-1].stop)

    @property
    def own_slices(self) -> list[slice]:
        """The same as `slices`, counted from the first item of the share."""
        first = self.items.start
        return [slice(part.start - first, part.stop - first) for part in self.slices]


def share_of(items: int, accumulation: int, rank: int = 0, processes: int = 1) -> Share:
    """Return what process `rank` of so many computes of a step with so many items, cut into equal numbers of them.

    Args:
        items: at least one for each process.
        accumulation: micro-batches that the step is split into; where there are more processes, one for each.
        rank: of the process, counted from 0.
        processes: that share the step.
    """
    _check(items, processes)
    parts = min(max(accumulation, processes), items)
    return _share([int(bound) for bound in np.linspace(0, items, parts + 1).round()], rank, processes)


def share_by_tokens(tokens: np.ndarray, most: int, rank: int = 0, processes: int = 1) -> Share:
    """Return what process `rank` of so many computes of a step, cut by how much its items hold.

    Args:
        tokens: int64 [items]; word pieces of each, at least one item for each process.
        most: word pieces that a micro-batch may have; an item with more is one by itself.
        rank: of the process, counted from 0.
        processes: that share the step.
    """
    _check(len(tokens), processes)
    return _share(_cut_by_tokens(tokens.tolist(), most, processes), rank, processes)


def _check(items: int, processes: int) -> None:
    if items < processes:
        raise ValueError(f"{items} items cannot be shared out among {processes} processes")


def _share(bounds: Sequence[int], rank: int, processes: int) -> Share:
    """Return the process's neighbouring ones of the micro-batches between the bounds."""
    parts = len(bounds) - 1
    numbers = range(parts * rank // processes, parts * (rank + 1) // processes)
    return Share(numbers, tuple(slice(bounds[number], bounds[number + 1]) for number in numbers))


def _cut_by_tokens(tokens: list[int], most: int, least: int) -> list[int]:
    """Return the bounds of micro-batches that take items in their order as long as they fit; `least` of them at least,
    for which the heaviest are cut again."""
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
        cut = min(range(first + 1, last), key=lambda place: abs(2 * sums[place] - middle))
        bounds = sorted([*bounds, cut])
    return bounds
