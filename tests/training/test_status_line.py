"""Status lines of trainings: what they say, and how often; and the log that has one line for each step."""

import json
from pathlib import Path

import pytest

from irpretrain.training.metrics import MetricsLog, StatusLine, StepMetrics


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


def test_a_resumed_log_goes_on_behind_the_lines_that_it_keeps(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "log")
    for step in (1, 2, 3):
        log.append({"step": step, "run": 1})
    resumed = MetricsLog(tmp_path / "log")
    resumed.truncate(2)
    resumed.append({"step": 3, "run": 2})
    records = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(record["step"], record["run"]) for record in records] == [(1, 1), (2, 1), (3, 2)]
    assert resumed.holds(3, resumed.digest)
    assert not resumed.holds(3, log.digest)
