"""Which tasks a step trains, and which of their batches it sees.

With `sum` every task has a batch in every step, and the weighted losses are added. With `alternate` a step trains
one task, drawn with probability proportional to its weight, on the next batch that this task has not seen; so every
task goes through its groups in its own order, whatever the others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from irpretrain.randomness import generator


class Mixing:
    """The tasks of every step: a pure function of seed and step.

    Args:
        kind: sum or alternate.
        weights: of the tasks.
        steps: of the training.
        seed: of the draws.
    """

    def __init__(
        self, kind: Literal["sum", "alternate"], weights: Sequence[float], steps: int, seed: int
    ) -> None:
        self._tasks, self._steps = len(weights), steps
        self._drawn: np.ndarray | None = None
        if kind == "alternate" and len(weights) > 1:
            shares = np.cumsum(weights) / np.sum(weights)
            draws = generator(seed, "task mixing").random(steps)
            self._drawn = np.searchsorted(shares[:-1], draws, side="right").astype(np.int16)

    def of_step(self, step: int) -> tuple[list[int], int]:
        """Return the tasks of a step, both counted from 0, and which of their batches they see, counted from 0."""
        if self._drawn is None:
            return list(range(self._tasks)), step
        task = int(self._drawn[step])
        return [task], int(np.count_nonzero(self._drawn[:step] == task))

    def batches(self) -> list[int]:
        """Return how many batches each task has in the whole training."""
        if self._drawn is None:
            return [self._steps] * self._tasks
        return np.bincount(self._drawn, minlength=self._tasks).tolist()
