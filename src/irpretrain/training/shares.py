"""Which micro-batches of an optimiser step a process computes.

A step is cut into as many micro-batches whatever the number of processes, as long as there is one for each of them.
So what is together in a micro-batch, and what is dropped in it, depends on nobody's share. Imports no torch.
"""

from __future__ import annotations

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
    """Return what process `rank` of so many computes of a step with so many items.

    Args:
        items: at least one for each process.
        accumulation: micro-batches that the step is split into; where there are more processes, one for each.
        rank: of the process, counted from 0.
        processes: that share the step.
    """
    if items < processes:
        raise ValueError(f"{items} items cannot be shared out among {processes} processes")
    parts = min(max(accumulation, processes), items)
    bounds = [int(bound) for bound in np.linspace(0, items, parts + 1).round()]
    numbers = range(parts * rank // processes, parts * (rank + 1) // processes)
    return Share(numbers, tuple(slice(bounds[number], bounds[number + 1]) for number in numbers))
