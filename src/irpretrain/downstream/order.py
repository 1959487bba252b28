"""Which training sequences a step sees: a fresh permutation every epoch, whose last batch may be smaller."""

import math
from dataclasses import dataclass, field

import numpy as np

from irpretrain.randomness import generator


@dataclass
class EpochOrder:
    """The batches of an endless series of epochs; a pure function of seed and batch number."""

    size: int
    batch: int
    seed: int
    _epoch: int = field(default=-1, init=False)
    _order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @property
    def steps_per_epoch(self) -> int:
        """Batches of one epoch."""
        return math.ceil(self.size / self.batch)

    def places(self, number: int) -> np.ndarray:
        """Return the places (int64) of the sequences of a batch, counted from 0 over all epochs."""
        epoch, within = divmod(number, self.steps_per_epoch)
        if epoch != self._epoch:
            drawn = generator(self.seed, "data order", f"downstream/{epoch}").permutation(self.size)
            self._epoch, self._order = epoch, drawn
        return self._order[within * self.batch : (within + 1) * self.batch]
