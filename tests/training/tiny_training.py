"""Options of a training that takes a fraction of a second, and how it is broken off and looked at."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.training.trainer import Trainer


def training_options(**changes: Any) -> PretrainingConfig:
    """A few steps of a tiny model; nested sections are replaced whole."""
    given = {
        "steps": 6,
        "batch_groups": 4,
        "held_out_share": 0,
        "max_length": 24,
        "query_length": 4,
        "loss": "hinge",
        "head": "mlp",
        "optimiser": {"learning_rate": 1e-3},
        "compute": {"device": "cpu", "checkpoint_minutes": 0},
    }
    return PretrainingConfig(**{**given, **changes})


class Stop(Exception):
    """Stands for a crash."""


@contextmanager
def crash_at(monkeypatch: pytest.MonkeyPatch, step: int) -> Iterator[None]:
    """Let a training inside crash when it is about to do this step, counted from 0, and expect that."""
    original = Trainer.begin

    def fail_at(self: Trainer, number: int, *rest: Any) -> Any:
        if number == step:
            raise Stop
        return original(self, number, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "begin", fail_at)
        with pytest.raises(Stop):
            yield


def after_step(monkeypatch: pytest.MonkeyPatch, step: int, change: Callable[[Trainer[Any]], object]) -> None:
    """Let trainings change their trainer when they have begun this step, counted from 0."""
    original = Trainer.begin

    def begin(self: Trainer[Any], number: int, *rest: Any) -> Any:
        begun_step = original(self, number, *rest)
        if number == step:
            change(self)
        return begun_step

    monkeypatch.setattr(Trainer, "begin", begin)


def break_weights(trainer: Trainer[Any]) -> None:
    torch.nn.init.constant_(next(trainer.model.parameters()), torch.nan)


def lines(folder: Path) -> list[dict[str, Any]]:
    """The metrics of a training, a record a step."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def without_time(folder: Path) -> list[dict[str, Any]]:
    """The metrics without what differs from run to run."""
    return [{k: v for k, v in line.items() if "second" not in k} for line in lines(folder)]
