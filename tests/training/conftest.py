"""Small trainings that the tests of the loop share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_training import training_options

from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.training.pretrain import pretrain


@pytest.fixture
def separable(make_store: Callable[..., Path], make_groups: Callable[..., Path]) -> tuple[Path, Path]:
    """Token store and ROP groups in which the preferred query's words occur in the document and the other's do not."""
    draw = np.random.default_rng(3)
    documents, pairs = {}, []
    for number in range(60):
        inside, outside = np.split(draw.permutation(80)[:16], [12])
        documents[f"d{number}"] = " ".join(f"word{i:02d}" for i in inside)
        for _ in range(3):
            good, bad = draw.choice(inside, 2), draw.choice(outside, 2)
            pairs.append((f"d{number}", *(" ".join(f"word{i:02d}" for i in q) for q in (good, bad))))
    return make_store(documents), make_groups(pairs)


@pytest.fixture
def pretraining_arguments(
    tmp_path: Path, tiny_encoder: Path, separable: tuple[Path, Path]
) -> Callable[..., dict[str, Any]]:
    """Return a function that gives the arguments of pre-training the tiny model in a folder of its own."""

    def arguments(name: str, options: PretrainingConfig | None = None, **changes: Any) -> dict[str, Any]:
        store, groups = separable
        task = changes.pop("task", TaskConfig(objective="rop"))
        folder = tmp_path / name
        return {
            "encoder": tiny_encoder,
            "start": None,
            "groups": [groups],
            "tokens": [store],
            "tasks": [task],
            "options": options or training_options(),
            "encoder_options": EncoderConfig(path="tiny", label="tiny"),
            "seed": 1,
            "output": folder / "model",
            "metrics": folder / "metrics.jsonl",
            "probe": folder / "probe.csv",
            "checkpoints": folder / "checkpoints",
            **changes,
        }

    return arguments


@pytest.fixture
def run_pretraining(
    tmp_path: Path, pretraining_arguments: Callable[..., dict[str, Any]]
) -> Callable[..., Path]:
    """Return a function that pre-trains the tiny model in a folder of its own and returns that folder."""

    def run(name: str, options: PretrainingConfig | None = None, **changes: Any) -> Path:
        pretrain(**pretraining_arguments(name, options, **changes))
        return tmp_path / name

    return run
