"""Options of a training that takes a fraction of a second."""

from __future__ import annotations

from typing import Any

from irpretrain.config.training import PretrainingConfig


def training_options(**changes: Any) -> PretrainingConfig:
    """A few steps of a tiny model; nested sections are replaced whole."""
    given = {
        "steps": 6,
        "batch_groups": 4,
        "max_length": 24,
        "query_length": 4,
        "loss": "hinge",
        "head": "mlp",
        "checkpoint_every": 2,
        "optimiser": {"learning_rate": 1e-3},
        "compute": {"device": "cpu"},
    }
    return PretrainingConfig(**{**given, **changes})
