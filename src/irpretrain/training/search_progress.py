"""How far the search of a fine-tuning over grid points and epochs is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from irpretrain.training.metrics import StepMetrics


@dataclass
class Progress:
    """How far the search is; all that a checkpoint needs beside weights and optimiser.

    Attributes:
        point: index of the grid point in work.
        epochs: epochs of that point that are trained and validated.
        history: per grid point, one record an epoch.
        best: record of the best epoch so far, with its grid point; empty before the first.
        steps: steps done of the epoch in work.
        loss: sum over their pairs.
        pairs: of these steps.
        correct_pairs: those among them that were in the right order.
    """

    point: int = 0
    epochs: int = 0
    history: list[list[dict[str, Any]]] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    loss: float = 0.0
    pairs: int = 0
    correct_pairs: int = 0

    @property
    def done(self) -> int:
        """Steps and validations done of all grid points; it grows from state to state."""
        return self.steps + sum(record["steps"] + 1 for records in self.history for record in records)

    def add(self, step: StepMetrics) -> None:
        """Take note of a step."""
        self.steps += 1
        for task in step.tasks.values():
            self.loss += task.weighted_loss * task.pairs
            self.pairs += task.pairs
            self.correct_pairs += task.correct_pairs

    def end_epoch(self, validation: float | None) -> dict[str, Any]:
        """Put the record of the epoch in work, whose means are weighted by pairs, into the history, and return it."""
        self.epochs += 1
        record = {
            "epoch": self.epochs,
            "validation": validation,
            "steps": self.steps,
            "loss": self.loss / self.pairs,
            "pair_accuracy": self.correct_pairs / self.pairs,
        }
        self.history[-1].append(record)
        self.steps, self.loss, self.pairs, self.correct_pairs = 0, 0.0, 0, 0
        return record
