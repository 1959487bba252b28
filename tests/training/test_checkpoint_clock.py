"""When a job saves: after five seconds, then when twice as much time has passed, and at most so many minutes apart."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from irpretrain.training import checkpoints
from irpretrain.training.checkpoints import CheckpointClock


def savings(monkeypatch, minutes, step_seconds, save_seconds, until):
    """At which seconds a job saves whose steps and savings take so long."""
    now = [1000.0]
    monkeypatch.setattr(checkpoints, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clock, times = CheckpointClock(minutes), []
    while now[0] < 1000 + until:
        now[0] += step_seconds
        if clock.due():
            times.append(now[0] - 1000)
            now[0] += save_seconds
            clock.saved()
    return times


@pytest.mark.parametrize(
    ("minutes", "step_seconds", "save_seconds", "expected"),
    [
        (10, 1, 0, [5, 10, 20, 40, 80, 160, 320, 640, 1240, 1840]),
        (1, 1, 0, [5, 10, 20, 40, 80, *range(140, 2000, 60)]),
        (10, 300, 0, [300, 600, 1200, 1800]),
        (10, 1, 30, [5, 70, 200, 460, 980, 1610]),
        (0, 500, 0, [500, 1000, 1500, 2000]),
        (0.05, 1, 0, [*range(3, 1990, 3)]),
    ],
)
def test_times_by_hand(monkeypatch, minutes, step_seconds, save_seconds, expected):
    assert savings(monkeypatch, minutes, step_seconds, save_seconds, 1990) == expected
