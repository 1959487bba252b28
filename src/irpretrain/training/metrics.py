"""What is measured at each step: a JSON line a step for machines, a status line now and then for people."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from irpretrain.atomic import write_text
from irpretrain.progress import LONGEST_SILENCE, duration, say

STARVING = 0.1
"""Share of the time waited for batches from which on a training says so loudly."""


@dataclass
class TaskMetrics:
    """One task in one step. Losses are unweighted means over the step (MLM: nats a position).

    `SUMMED` names what each of several processes knows of its own share, and adds up to what it is for the step.
    """

    SUMMED: ClassVar[tuple[str, ...]] = ("ranking_loss", "mlm_loss", "correct_pairs", "pairs")

    weight: float
    mlm_weight: float
    ranking_loss: float = 0.0
    mlm_loss: float = 0.0
    correct_pairs: int = 0
    pairs: int = 0

    @property
    def weighted_loss(self) -> float:
        """The task's part of the loss."""
        return self.weight * self.ranking_loss + self.mlm_weight * self.mlm_loss

    def summed(self) -> list[float]:
        """Return what adds up over processes."""
        return [getattr(self, name) for name in self.SUMMED]

    def put_summed(self, sums: Iterator[float]) -> None:
        """Take as many sums as `summed` gave, in their order."""
        for name in self.SUMMED:
            kind = type(getattr(self, name))
            setattr(self, name, kind(next(sums)))

    def record(self) -> dict[str, float | None]:
        """Return what is written; None for what was not computed."""
        return {
            "ranking_loss": self.ranking_loss if self.weight > 0 else None,
            "mlm_loss": self.mlm_loss if self.mlm_weight > 0 else None,
            "pair_accuracy": self.correct_pairs / self.pairs if self.pairs else None,
        }


@dataclass
class StepMetrics:
    """One optimiser step.

    Attributes:
        step: counted from 1.
        loss: the weighted sum that was minimised.
        tasks: by name.
        learning_rate: of this step.
        gradient_norm: of all gradients together, before clipping.
        tokens: word pieces and special tokens without padding.
        seconds: wall time.
        operations: floating-point operations of matrix products (`models.arithmetic`); 0 where they are not counted.
        waited: of `seconds`, those in which nothing could be computed because the batch was not read yet.
    """

    step: int
    loss: float
    tasks: dict[str, TaskMetrics] = field(default_factory=dict)
    learning_rate: float = 0.0
    gradient_norm: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    operations: int = 0
    waited: float = 0.0

    @property
    def pair_accuracy(self) -> float | None:
        """Share of (preferred, other) pairs of all tasks whose scores are in the right order."""
        pairs = sum(task.pairs for task in self.tasks.values())
        return sum(task.correct_pairs for task in self.tasks.values()) / pairs if pairs else None

    def record(self) -> dict[str, Any]:
        """Return the JSON line of this step."""
        return {
            "step": self.step,
            "loss": self.loss,
            "pair_accuracy": self.pair_accuracy,
            "learning_rate": self.learning_rate,
            "gradient_norm": self.gradient_norm,
            "tokens": self.tokens,
            "tokens_per_second": round(self.tokens / max(self.seconds, 1e-9), 1),
            "seconds": round(self.seconds, 4),
            "waited_seconds": round(self.waited, 4),
            "tasks": {name: task.record() for name, task in self.tasks.items()},
        }


class MetricsLog:
    """A JSONL file that grows by a line a step and, after a crash, holds each step once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def truncate(self, step: int) -> None:
        """Keep only whole lines of steps up to `step`."""
        lines = [line for line, record in self._read() if record["step"] <= step]
        write_text(self._path, "".join(lines))

    def append(self, record: dict[str, Any]) -> None:
        """Add a line."""
        with open(self._path, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(record) + "\n")

    def flush(self) -> None:
        """Bring all lines to the disk; called before a checkpoint relies on them."""
        if self._path.exists():
            with open(self._path, "rb") as handle:
                os.fsync(handle.fileno())

    def publish(self, target: str | Path) -> None:
        """Write all lines to `target`, atomically."""
        write_text(target, "".join(line for line, _ in self._read()))

    def _read(self) -> list[tuple[str, dict[str, Any]]]:
        """Whole lines and their records; a line cut short by a crash is left out."""
        if not self._path.exists():
            return []
        lines = []
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
            try:
                record = json.loads(line) if line.endswith("\n") else None
            except ValueError:
                record = None
            if isinstance(record, dict) and "step" in record:
                lines.append((line, record))
        return lines


def waited_share(measured: Sequence[StepMetrics]) -> float:
    """Return the share of the steps' time in which nothing was computed because a batch was not read yet."""
    return sum(m.waited for m in measured) / max(sum(m.seconds for m in measured), 1e-9)


class BatchWaits:
    """Says once, loudly, that a training waits for its batches."""

    def __init__(self, title: str) -> None:
        self._title, self._said = title, False

    def check(self, measured: Sequence[StepMetrics]) -> None:
        """Look at some steps; leave out those before which nothing could be read, as reading ahead began with them."""
        share = waited_share(measured)
        if share > STARVING and not self._said:
            self._said = True
            say(
                f"SLOW: {self._title} waits for its batches in {share:.0%} of the time; set "
                "compute.prefetch: on if a core is free, or put results on a faster disk"
            )


class StatusLine:
    """Prints step, losses, pair accuracy, tokens/s and time left every so many steps or seconds, and at the last.

    Figures are means since the last line. With a `peak` (the device's, in floating-point operations a second) it prints
    what share of it the model used, too (MFU).
    """

    def __init__(self, title: str, steps: int, every: int, peak: float | None = None) -> None:
        self._title, self._steps, self._every, self._peak = title, steps, every, peak
        self._waiting: list[StepMetrics] = []
        self._batches, self._begun = BatchWaits(title), False

    def add(self, metrics: StepMetrics) -> None:
        """Take note of a step, and print if it is time."""
        self._waiting.append(metrics)
        silence = sum(m.seconds for m in self._waiting)
        if metrics.step % self._every == 0 or metrics.step == self._steps or silence >= LONGEST_SILENCE:
            say(self._line())
            self._batches.check(self._waiting if self._begun else self._waiting[1:])
            self._waiting, self._begun = [], True

    def _line(self) -> str:
        recent = self._waiting
        seconds = max(sum(m.seconds for m in recent), 1e-9)
        last = recent[-1]
        parts = [f"step {last.step}/{self._steps}", f"loss {_mean([m.loss for m in recent]):.4f}"]
        accuracy = [m.pair_accuracy for m in recent if m.pair_accuracy is not None]
        if accuracy:
            parts.append(f"pair accuracy {_mean(accuracy):.3f}")
        mlm = [t.mlm_loss for m in recent for t in m.tasks.values() if t.mlm_weight > 0]
        if mlm:
            parts.append(f"MLM {_mean(mlm):.3f}")
        parts.append(f"{sum(m.tokens for m in recent) / seconds:,.0f} tokens/s")
        operations = sum(m.operations for m in recent)
        if self._peak and operations:
            parts.append(f"MFU {operations / seconds / self._peak:.1%}")
        parts.append(f"waited for batches {waited_share(recent):.1%}")
        parts.append(f"{duration((self._steps - last.step) * seconds / len(recent))} left")
        return f"[{self._title}] " + ", ".join(parts)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
