"""Options of a weighting small enough for tests."""

from __future__ import annotations

from typing import Any

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig

TEXT = TextConfig(words="alphanumeric", fields=["title", "body"], separator=" ")


def weighting(**changes: Any) -> TermWeightsConfig:
    """A small regressor's options."""
    given: dict[str, Any] = {
        "label": "tiny",
        "dataset": "tiny",
        "max_length": 12,
        "training": {
            "steps": 6,
            "batch_size": 4,
            "optimiser": {"learning_rate": 1e-3},
            "compute": {"device": "cpu", "checkpoint_minutes": 0},
        },
        "inference": {"batch_tokens": 64, "compute": {"device": "cpu", "checkpoint_minutes": 0}},
    }
    return TermWeightsConfig(**{**given, **changes})
