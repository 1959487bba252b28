"""Trainings that wait for their batches, or whose batches cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_training import training_options

from irpretrain.foundation.errors import InputError
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.metrics import StatusLine, StepMetrics

Run = Callable[..., Path]


def test_a_fault_in_a_batch_ends_the_training_with_its_message(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build, calls = BatchBuilder.build, []

    def broken(self: BatchBuilder, groups: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise InputError("store", "it cannot be read", remedy="Make it anew.")
        return build(self, groups)

    monkeypatch.setattr(BatchBuilder, "build", broken)
    with pytest.raises(InputError, match="it cannot be read"):
        run_pretraining("run", training_options())
    metrics = next((tmp_path / "run" / "checkpoints").glob("*/metrics.jsonl")).read_text()
    assert metrics.count("\n") == 3
    assert not (tmp_path / "run" / "model").exists()


def test_the_line_of_two_steps(capfd: pytest.CaptureFixture[str]) -> None:
    status = StatusLine("t", 2, 2)
    status.add(StepMetrics(1, 0.5, tokens=300, seconds=1.0, waited_seconds=0.5))
    status.add(StepMetrics(2, 0.5, tokens=300, seconds=1.0))
    line = "[t] step 2/2, loss 0.5000, 300 tokens/s, waited for batches 25.0%, 0 s left"
    assert capfd.readouterr().err.strip() == line


def test_slow_steps_are_reported_more_often(capfd: pytest.CaptureFixture[str]) -> None:
    status = StatusLine("t", 100, 50)
    for step in range(1, 11):
        status.add(StepMetrics(step, 0.5, tokens=300, seconds=4.0))
    displayed = [line.partition(",")[0] for line in capfd.readouterr().err.splitlines()]
    assert displayed == ["[t] step 3/100", "[t] step 6/100", "[t] step 9/100"]
