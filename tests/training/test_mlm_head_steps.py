"""The first steps of a fresh MLM head: the MLM loss trains the head alone, and nothing else knows of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_training import crash_at, training_options, without_time

from irpretrain.config.pretraining import TaskConfig
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel

Run = Callable[..., Path]
Weights = dict[str, torch.Tensor]

MLM_ONLY = TaskConfig(objective="rop", weight=0)


def weights(folder: Path) -> tuple[Weights, Weights]:
    """Encoder and score head; MLM head."""
    return load_file(folder / "model.safetensors"), load_file(folder / "mlm_head.safetensors")


def equal(one: Weights, other: Weights) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(tensor, other[name]) for name, tensor in one.items()
    )


def test_mlm_alone_trains_the_head_alone_until_the_boundary(run_pretraining: Run, tiny_encoder: Path) -> None:
    options = training_options(mlm_head_steps=3, snapshots=[1, 3, 4])
    folder = run_pretraining("mlm", options, task=MLM_ONLY)
    CrossEncoderModel.from_encoder(tiny_encoder, "mlp", seed=1).save(folder / "fresh")
    fresh, first, third, fourth = (
        weights(path) for path in (folder / "fresh", *sorted((folder / "model" / "snapshots").iterdir()))
    )
    assert equal(fresh[0], first[0])
    assert equal(fresh[0], third[0])
    assert not equal(fresh[1], first[1])
    assert not equal(first[1], third[1])
    name = "bert.embeddings.word_embeddings.weight"
    assert not torch.equal(third[0][name], fourth[0][name])


@pytest.mark.parametrize("step", [2, 3, 4, 5])
@pytest.mark.parametrize("corrected", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_resume_across_the_boundary_is_exact(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, step: int, corrected: bool
) -> None:
    """Before the boundary Adam has no moments of an encoder that only the MLM loss trains."""
    optimiser = {"learning_rate": 1e-3, "bias_correction": corrected}
    options = training_options(mlm_head_steps=3, dropout=0.2, optimiser=optimiser)
    for task in (TaskConfig(objective="rop"), MLM_ONLY):
        whole = run_pretraining(f"whole-{task.weight}", options, task=task)
        name = f"broken-{task.weight}"
        with crash_at(monkeypatch, step):
            run_pretraining(name, options, task=task)
        resumed = run_pretraining(name, options, task=task)
        assert sha256(resumed / "model") == sha256(whole / "model")
        assert without_time(resumed) == without_time(whole)
