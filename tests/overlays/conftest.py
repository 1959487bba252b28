"""Tests of the shipped overlays."""

from functools import partial

import pytest

from irpretrain.evaluation.significance import bootstrap_interval, randomisation_test


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bootstraps and randomisation tests take few draws: no test here looks at their values."""
    bootstrap, randomisation = (
        partial(bootstrap_interval, resamples=100),
        partial(randomisation_test, permutations=100),
    )
    monkeypatch.setattr("irpretrain.report.scores.bootstrap_interval", bootstrap)
    monkeypatch.setattr("irpretrain.report.scores.randomisation_test", randomisation)
