"""Results of batches that are kept by the clock, so that a job that is broken off goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any, TypeVar

from irpretrain.atomic import write_text
from irpretrain.training.checkpoint_clock import CheckpointClock

Batch = TypeVar("Batch", bound=Sized)


class KeptBatches:
    """Results of batches, as far as they are computed.

    Args:
        path: file that keeps it; None keeps nothing.
        clock: says when to save.
        told: called with the share of all items that is done, after each batch.
    """

    def __init__(
        self,
        path: Path | None = None,
        clock: CheckpointClock | None = None,
        told: Callable[[float], None] = lambda share: None,
    ) -> None:
        self._path, self._clock, self._told = path, clock, told

    def results(
        self, batches: Iterable[Batch], compute: Callable[[Batch], list[Any]], items: int
    ) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield every batch with what `compute` returned for it, now or before the job was broken off: a list of lists,
        or of arrays, which come back from the file as lists.

        Args:
            batches: each has a length, its number of items.
            compute: batch → its results.
            items: number of items in all batches.
        """
        kept = self._read()
        done = 0
        for number, batch in enumerate(batches):
            if number == len(kept):
                kept.append(compute(batch))
                if self._path is not None and self._clock is not None and self._clock.due():
                    write_text(self._path, json.dumps(kept, default=lambda array: array.tolist()))
                    self._clock.saved()
            done += len(batch)
            self._told(done / items)
            yield batch, kept[number]

    def discard(self) -> None:
        """Remove the file: the results are no longer needed."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _read(self) -> list[list[Any]]:
        try:
            kept: list[list[Any]] = json.loads(self._path.read_text()) if self._path is not None else []
        except (OSError, ValueError):  # none, or damaged
            return []
        return kept
