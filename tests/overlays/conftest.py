"""Tests of the shipped overlays."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bootstraps and randomisation tests take few draws: no test here looks at their values."""
    for name in ("RESAMPLES", "PERMUTATIONS"):
        monkeypatch.setattr(f"irpretrain.report.scores.{name}", 100)
