"""Results of batches that are kept by the clock, so that a job that is broken off goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any, TypeVar

import torch

from irpretrain.atomic import write_text
from irpretrain.models.to_device import begun_ahead
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
        self,
        batches: Iterable[Batch],
        begin: Callable[[Batch], Callable[[], list[Any]]],
        items: int,
        device: torch.device,
    ) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield every batch with its results, computed now or before the job was broken off: a list of lists, or of
        arrays, which come back from the file as lists.

        Args:
            batches: each has a length, its number of items.
            begin: batch → what waits for its results; see `begun_ahead`.
            items: number of items in all batches.
            device: where batches are computed.
        """
        kept = self._read()

        def begin_missing(numbered: tuple[int, Batch]) -> Callable[[], list[Any]] | None:
            number, batch = numbered
            return None if number < len(kept) else begin(batch)

        done = 0
        for (number, batch), wait in begun_ahead(enumerate(batches), begin_missing, device):
            if wait is not None:
                kept.append(wait())
                self._save(kept)
            done += len(batch)
            self._told(done / items)
            yield batch, kept[number]

    def _save(self, kept: list[list[Any]]) -> None:
        """Write the results of all batches so far, if it is time."""
        if self._path is not None and self._clock is not None and self._clock.due():
            write_text(self._path, json.dumps(kept, default=lambda array: array.tolist()))
            self._clock.saved()

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
