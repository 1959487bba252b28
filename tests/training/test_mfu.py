"""The share of a GPU's peak in status lines: the table of rates, when the share is shown, and its value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from tiny_training import training_options

from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.resources import resources_directory
from irpretrain.models.arithmetic import EncoderSize, EncoderWork
from irpretrain.training import fast_paths, trainer
from irpretrain.training.group_task import group_work
from irpretrain.training.metrics import StatusLine, StepMetrics
from irpretrain.training.trainer import Trainer, peak_rate

GPU = torch.device("cuda", 0)


@pytest.fixture
def gpu_called(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setattr(fast_paths, "_logged", set())
    return lambda name: monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)


def test_every_rate_has_a_source_and_every_device_one_entry() -> None:
    entries = yaml.safe_load((resources_directory() / "gpu_rates.yaml").read_text(encoding="utf-8"))
    names = [name for entry in entries for name in entry["names"]]
    assert len(names) == len(set(names)) == len(trainer.gpu_rates())
    for entry in entries:
        assert set(entry) <= {"names", "bf16", "fp16", "fp32", "source"}
        assert entry["source"].startswith("NVIDIA ")
        assert 0 < entry["fp32"] < entry["fp16"]
        assert entry.get("bf16", entry["fp16"]) == entry["fp16"]


@pytest.mark.parametrize(
    ("name", "precision", "rate"),
    [
        ("NVIDIA H200", "bf16", 989.5e12),
        ("NVIDIA A100-SXM4-80GB", "bf16", 312e12),
        ("Tesla T4", "fp16", 65e12),
        ("NVIDIA GeForce RTX 3090", "fp32", 35.6e12),
    ],
)
def test_rates_are_those_of_the_datasheets(
    gpu_called: Callable[[str], None], name: str, precision: str, rate: float
) -> None:
    gpu_called(name)
    assert peak_rate(GPU, ComputeConfig(precision=precision)) == rate


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "bf16"),
        ("NVIDIA GeForce RTX 3090 Ti", "fp16"),
        ("Tesla T4", "bf16"),
    ],
)
def test_what_the_table_lacks_is_reported_once(
    gpu_called: Callable[[str], None], capfd: pytest.CaptureFixture[str], name: str, precision: str
) -> None:
    gpu_called(name)
    for _ in range(2):
        assert peak_rate(GPU, ComputeConfig(precision=precision)) is None
    displayed = capfd.readouterr().err
    assert displayed == f"no MFU is shown: resources/gpu_rates.yaml has no rate of {name!r} in {precision}\n"


def test_a_cpu_has_no_share(capfd: pytest.CaptureFixture[str]) -> None:
    assert peak_rate(torch.device("cpu"), ComputeConfig()) is None
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("peak", "operations", "displayed"),
    [
        (1e12, 25 * 10**10, "300 tokens/s, MFU 12.5%, waited for batches 25.0%, 0 s left"),
        (None, 10**11, "300 tokens/s, waited for batches 25.0%, 0 s left"),
        (1e12, 0, "300 tokens/s, waited for batches 25.0%, 0 s left"),
    ],
)
def test_the_line_of_two_steps(
    capfd: pytest.CaptureFixture[str], peak: float | None, operations: int, displayed: str
) -> None:
    """300 tokens and so many operations in one second, then as many of the one and none of the other in the next."""
    status = StatusLine("t", 2, 2, peak)
    status.add(StepMetrics(1, 0.5, tokens=300, seconds=1.0, operations=operations, waited=0.5))
    status.add(StepMetrics(2, 0.5, tokens=300, seconds=1.0))
    assert capfd.readouterr().err.strip() == f"[t] step 2/2, loss 0.5000, {displayed}"


def test_slow_steps_are_reported_more_often(capfd: pytest.CaptureFixture[str]) -> None:
    status = StatusLine("t", 100, 50)
    for step in range(1, 11):
        status.add(StepMetrics(step, 0.5, tokens=300, seconds=4.0))
    displayed = [line.partition(",")[0] for line in capfd.readouterr().err.splitlines()]
    assert displayed == ["[t] step 3/100", "[t] step 6/100", "[t] step 9/100"]


def test_trainings_count_their_operations(
    run_pretraining: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the accumulation; with MLM more than without, by what the MLM head and the positions it reads take."""
    counted: list[StepMetrics] = []
    original = Trainer.step

    def keep(self: Trainer, *given: object) -> StepMetrics:
        counted.append(original(self, *given))
        return counted[-1]

    monkeypatch.setattr(Trainer, "step", keep)
    for parts, weight in ((1, 0.0), (2, 0.0), (1, 1.0)):
        task = TaskConfig(objective="rop", mlm_weight=weight)
        options = training_options(accumulation=parts, steps=1)
        run_pretraining(f"parts-{parts}-{weight}", options, task=task)
    alone, split, both = (one.operations for one in counted)
    assert 0 < alone == split < both


def test_the_work_of_a_step_on_groups() -> None:
    from types import SimpleNamespace

    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    chosen = np.array([[0, 1, 1, 0], [0, 1, 0, 0]], dtype=bool)
    batch = SimpleNamespace(input_ids=mask, attention_mask=mask)
    masked = SimpleNamespace(chosen=chosen, labels=np.arange(3))

    def of(*given: object) -> tuple[list[int], list[int], tuple[int, ...]]:
        work: EncoderWork = group_work(*given)  # type: ignore[arg-type]
        passes = (work.pooled, work.predicted, work.encoder, work.score, work.mlm)
        return work.lengths.tolist(), work.read.tolist(), passes

    assert of(batch, None, True, True) == ([4, 2], [1, 1], (2, 0, 3, 3, 2))
    assert of(batch, masked, True, True) == ([4, 2], [3, 2], (2, 3, 3, 3, 3))
    assert of(batch, masked, True, False) == ([4, 2], [3, 2], (2, 3, 3, 3, 2))
    assert of(batch, masked, False, True) == ([4, 2], [3, 2], (2, 3, 3, 1, 3))
    assert of(batch, masked, False, False) == ([4, 2], [3, 2], (2, 3, 1, 1, 2))
    assert EncoderSize(1, 2, 2, 2).operations(group_work(batch, None, True, True)) > 0  # type: ignore[arg-type]
