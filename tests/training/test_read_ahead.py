"""Batches that are read ahead: the same ones, no others, and no thread is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_training import Stop, crash_at, lines, training_options, without_time

from irpretrain.config.compute import TrainingComputeConfig
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.errors import InputError, TrainingError
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.provenance import sha256
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.metrics import StatusLine, StepMetrics
from irpretrain.training.read_ahead import read_ahead
from patience import PATIENCE

Run = Callable[..., Path]
AHEAD = {"device": "cpu", "prefetch": "on", "checkpoint_minutes": 0}


def threads() -> list[str]:
    """The threads that read."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("read ahead")]


def test_batches_are_read_in_their_order_and_none_beyond_the_last() -> None:
    read: list[tuple[int, bool]] = []

    def batch(step: int) -> str:
        read.append((step, threading.current_thread() is threading.main_thread()))
        return f"batch {step}"

    with read_ahead(batch, range(5, 9), 2) as take:
        taken = [take(step) for step in range(5, 9)]
        with pytest.raises(ValueError, match="batch of step 9 is asked for"):
            take(9)
    assert taken == ["batch 5", "batch 6", "batch 7", "batch 8"]
    assert read == [(step, False) for step in range(5, 9)]
    assert not threads()


def test_no_more_are_read_than_may_wait() -> None:
    """Of six, one is taken and two wait, then the training fails; the thread ends at once."""
    read: list[int] = []
    done = threading.Semaphore(0)

    def batch(step: int) -> None:
        read.append(step)
        done.release()

    def train() -> None:
        with read_ahead(batch, range(6), 2) as take:
            take(0)
            assert all(done.acquire(timeout=PATIENCE) for _ in range(3))
            assert not done.acquire(timeout=0.1), "a fourth is read"
            assert read == [0, 1, 2]
            raise Stop

    with pytest.raises(Stop):
        train()
    assert read == [0, 1, 2]
    assert not threads()


def test_another_batch_than_the_next_is_refused() -> None:
    with pytest.raises(ValueError, match="step 1 is asked for, the next is that of 0"):
        with read_ahead(str, range(3)) as take:
            take(1)


def test_a_fault_in_reading_is_raised_at_its_step() -> None:
    def batch(step: int) -> int:
        if step == 2:
            raise InputError("groups.parquet", "it is broken", remedy="Make it anew.")
        return step

    taken = []
    with pytest.raises(InputError, match="it is broken"), read_ahead(batch, range(9)) as take:
        taken += [take(step) for step in range(9)]
    assert not taken
    with read_ahead(batch, range(9)) as take:
        assert [take(0), take(1)] == [0, 1]
        with pytest.raises(InputError, match="it is broken"):
            take(2)
    assert not threads()


TASKS = [
    TaskConfig(objective="rop", weight=2, mlm_weight=0),
    TaskConfig(objective="rop", weight=1, mlm_weight=0.5, query_length=3),
]
TRAININGS: dict[str, tuple[dict[str, Any], int]] = {
    "dropout and micro-batches": ({"dropout": 0.2, "accumulation": 3, "snapshots": [2, 6]}, 1),
    "two tasks": ({"dropout": 0.1}, 2),
    "taking turns": ({"mixing": "alternate", "steps": 8}, 2),
}


def trained(run: Run, name: str, changes: dict[str, Any], tasks: int, groups: Path, **compute: Any) -> Path:
    options = training_options(
        **{**changes, "compute": {"device": "cpu", "checkpoint_minutes": 0, **compute}}
    )
    return run(name, options, tasks=TASKS[-tasks:], groups=[groups] * tasks)


@pytest.mark.parametrize("kind", TRAININGS)
def test_a_training_is_the_same_to_the_last_bit(
    run_pretraining: Run, separable: tuple[Path, Path], kind: str
) -> None:
    first, second = (
        trained(run_pretraining, prefetch, *TRAININGS[kind], separable[1], prefetch=prefetch)
        for prefetch in ("on", "off")
    )
    assert sha256(first / "model") == sha256(second / "model")
    assert without_time(first) == without_time(second)
    assert all(0 <= line["waited_seconds"] <= line["seconds"] for line in (*lines(first), *lines(second)))
    assert not threads()


@pytest.mark.parametrize("step", range(1, 8))
def test_a_training_that_was_broken_off_goes_on_as_if_nothing_had_been_read(
    run_pretraining: Run, separable: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    given = ({"mixing": "alternate", "steps": 8, "dropout": 0.2}, 2, separable[1])
    whole = trained(run_pretraining, "whole", *given)
    with crash_at(monkeypatch, step), pytest.raises(Stop):
        trained(run_pretraining, "broken", *given, prefetch="on")
    assert not threads()
    resumed = trained(run_pretraining, "broken", *given, prefetch="on")
    assert sha256(resumed / "model") == sha256(whole / "model")
    assert without_time(resumed) == without_time(whole)


def test_reading_ahead_is_no_other_job(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with crash_at(monkeypatch, 5), pytest.raises(Stop):
        run_pretraining("run", training_options(compute=AHEAD))
    run_pretraining("run", training_options())
    assert "resumes after 5" in capfd.readouterr().err


@pytest.mark.parametrize("prefetch", ["on", "off"])
def test_a_fault_in_a_batch_ends_the_training_with_its_message(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prefetch: str
) -> None:
    build, calls = BatchBuilder.build, []

    def broken(self: BatchBuilder, groups: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise InputError("store", "it cannot be read", remedy="Make it anew.")
        return build(self, groups)

    monkeypatch.setattr(BatchBuilder, "build", broken)
    with pytest.raises(InputError, match="it cannot be read"):
        run_pretraining("run", training_options(compute={"device": "cpu", "prefetch": prefetch}))
    metrics = next((tmp_path / "run" / "checkpoints").glob("*/metrics.jsonl")).read_text()
    assert metrics.count("\n") == 3
    assert not (tmp_path / "run" / "model").exists()
    assert not threads()


def test_a_fault_in_a_step_ends_the_thread(run_pretraining: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: CrossEncoder, input_ids: Any, *given: Any, **named: Any) -> Any:
        scores = self.classifier.classifier.weight.sum() * float("nan") * input_ids.sum(1)
        return scores, None

    monkeypatch.setattr(CrossEncoder, "forward", forward)
    with pytest.raises(TrainingError, match="the loss of rop is not a finite number at step 1"):
        run_pretraining("nan", training_options(compute=AHEAD))
    assert not threads()


def test_auto_reads_ahead_for_a_gpu_alone() -> None:
    asked = {name: TrainingComputeConfig(prefetch=name) for name in ("auto", "on", "off")}  # type: ignore[arg-type]
    assert [asked["auto"].reads_ahead(device) for device in ("cuda", "cpu")] == [True, False]
    assert asked["on"].reads_ahead("cpu")
    assert not asked["off"].reads_ahead("cuda")


def waited(steps: list[float]) -> None:
    status = StatusLine("tiny", len(steps), 2)
    for number, share in enumerate(steps, 1):
        status.add(StepMetrics(number, 0.5, tokens=1, seconds=2.0, waited=2 * share))


def test_a_training_that_starves_says_so_once(capfd: pytest.CaptureFixture[str]) -> None:
    waited([1.0, 0.1, 0.2, 0.1, 0.5, 0.5])
    shown = capfd.readouterr().err.splitlines()
    [said] = [line for line in shown if line.startswith("SLOW")]
    assert said.startswith("SLOW: tiny waits for its batches in 15% of the time; set compute.prefetch: on")
    assert "waited for batches 55.0%" in shown[0]


def test_the_first_batch_and_a_little_waiting_are_no_starving(capfd: pytest.CaptureFixture[str]) -> None:
    waited([1.0, 0.1, 0.0, 0.15])
    assert "SLOW" not in capfd.readouterr().err


def test_options_of_a_training_are_read() -> None:
    assert PretrainingConfig(**training_options(compute=AHEAD).model_dump()).compute.prefetch == "on"
