"""What is measured at each step: a JSON line per step for machines, a status line now and then for people."""

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.progress import LONGEST_SILENCE, duration, print_line


@dataclass
class TaskMetrics:
    """One task in one step. Losses are unweighted means over the step (MLM: nats per position)."""

    # Each process measures these on its share; their sums over processes are the step's.
    SUMMED_FIELDS: ClassVar[tuple[str, ...]] = ("ranking_loss", "mlm_loss", "correct_pairs", "pairs")

    weight: float
    mlm_weight: float
    ranking_loss: float = 0.0
    mlm_loss: float = 0.0
    correct_pairs: int = 0
    pairs: int = 0
    groups: int = 0  # of the whole step

    @property
    def weighted_loss(self) -> float:
        return self.weight * self.ranking_loss + self.mlm_weight * self.mlm_loss

    def summed(self) -> list[float]:
        return [getattr(self, name) for name in self.SUMMED_FIELDS]

    def put_summed(self, sums: Iterator[float]) -> None:
        """The inverse of `summed`."""
        for name in self.SUMMED_FIELDS:
            number_type = type(getattr(self, name))
            setattr(self, name, number_type(next(sums)))

    def record(self) -> dict[str, float | None]:
        """Return the values to write; None for what was not computed."""
        return {
            "ranking_loss": self.ranking_loss if self.weight > 0 else None,
            "mlm_loss": self.mlm_loss if self.mlm_weight > 0 else None,
            "pair_accuracy": self.correct_pairs / self.pairs if self.pairs else None,
        }


@dataclass
class StepMetrics:
    step: int  # counted from 1
    loss: float  # the weighted sum that was minimised
    tasks: dict[str, TaskMetrics] = field(default_factory=dict)  # by name
    learning_rate: float = 0.0  # of this step
    gradient_norm: float = 0.0  # of all gradients together, before clipping
    tokens: int = 0  # word pieces and special tokens without padding
    seconds: float = 0.0  # wall time
    # Of `seconds`, those in which nothing could be computed because the batch was not read yet.
    waited_seconds: float = 0.0
    pauses: bool = False  # whether no later step was begun: the model is as this step has left it

    @property
    def pair_accuracy(self) -> float | None:
        """Share of (preferred, other) pairs of all tasks whose scores are in the right order."""
        pairs = sum(task.pairs for task in self.tasks.values())
        return sum(task.correct_pairs for task in self.tasks.values()) / pairs if pairs else None

    def record(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "loss": self.loss,
            "pair_accuracy": self.pair_accuracy,
            "learning_rate": self.learning_rate,
            # Infinite where the scaler of fp16 skipped the step; JSON has no such number.
            "gradient_norm": self.gradient_norm if math.isfinite(self.gradient_norm) else None,
            "tokens": self.tokens,
            "tokens_per_second": round(self.tokens / max(self.seconds, 1e-9), 1),
            "seconds": round(self.seconds, 4),
            "waited_seconds": round(self.waited_seconds, 4),
            "tasks": {name: task.record() for name, task in self.tasks.items()},
        }


class MetricsLog:
    """A JSONL file that grows by one line per step and, after a crash, has each step once.

    A checkpoint holds the digest of the lines up to its step: lines that were damaged since do not go unnoticed.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._digest = path, sha256()
        path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def holds(self, step: int, digest: str | None) -> bool:
        """Whether the lines up to a step have this digest; None: whether there are as many."""
        lines = self._lines(step)
        return len(lines) == step and digest in (None, sha256(b"".join(lines)).hexdigest())

    def truncate(self, step: int) -> None:
        content = b"".join(self._lines(step)).decode("utf-8", "replace")
        self._digest = sha256(content.encode())
        write_text(self._path, content)

    def append(self, record: dict[str, Any]) -> None:
        line = f"{json.dumps(record)}\n".encode()
        self._digest.update(line)
        with open(self._path, "ab") as handle:
            handle.write(line)

    def flush(self) -> None:
        """Sync all lines to the disk, before a checkpoint relies on them."""
        if self._path.exists():
            with open(self._path, "rb") as handle:
                os.fsync(handle.fileno())

    def publish(self, target: str | Path) -> None:
        """Write all lines to another file."""
        write_text(target, self._path.read_text(encoding="utf-8"))

    def _lines(self, count: int) -> list[bytes]:
        if not self._path.exists():
            return []
        with open(self._path, "rb") as handle:
            return list(islice(handle, count))


def waited_share(steps: Sequence[StepMetrics]) -> float:
    """Return the share of the steps' time in which nothing was computed because a batch was not read yet."""
    return sum(m.waited_seconds for m in steps) / max(sum(m.seconds for m in steps), 1e-9)


class StatusLine:
    """Prints step, losses, pair accuracy, tokens/s and time left every so many steps or seconds, and at the last.

    Values are means since the last line.
    """

    def __init__(self, title: str, steps: int, log_every: int) -> None:
        self._title, self._steps, self._log_every = title, steps, log_every
        self._unprinted_steps: list[StepMetrics] = []

    def add(self, metrics: StepMetrics) -> None:
        self._unprinted_steps.append(metrics)
        seconds = sum(m.seconds for m in self._unprinted_steps)
        if metrics.step % self._log_every == 0 or metrics.step == self._steps or seconds >= LONGEST_SILENCE:
            print_line(self._line())
            self._unprinted_steps = []

    def _line(self) -> str:
        recent_steps = self._unprinted_steps
        seconds = max(sum(m.seconds for m in recent_steps), 1e-9)
        last_step = recent_steps[-1]
        fields = [f"step {last_step.step}/{self._steps}", f"loss {fmean([m.loss for m in recent_steps]):.4f}"]
        accuracies = [m.pair_accuracy for m in recent_steps if m.pair_accuracy is not None]
        if accuracies:
            fields.append(f"pair accuracy {fmean(accuracies):.3f}")
        mlm_losses = [t.mlm_loss for m in recent_steps for t in m.tasks.values() if t.mlm_weight > 0]
        if mlm_losses:
            fields.append(f"MLM {fmean(mlm_losses):.3f}")
        fields.append(f"{sum(m.tokens for m in recent_steps) / seconds:,.0f} tokens/s")
        fields.append(f"waited for batches {waited_share(recent_steps):.1%}")
        fields.append(f"{duration((self._steps - last_step.step) * seconds / len(recent_steps))} left")
        return f"[{self._title}] " + ", ".join(fields)
