"""Options and targets of a weighting small enough for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import TERM_TARGETS

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


def write_targets(path: Path, texts: Mapping[str, tuple[str, Sequence[float]]]) -> Path:
    """Write a table of targets, of {identifier: (text, targets)}."""
    shared = {"part": 0, "sample": 0, "judged": 1}
    rows = [
        {**shared, "position": position, "document_id": name, "text": text, "targets": targets}
        for position, (name, (text, targets)) in enumerate(texts.items())
    ]
    TERM_TARGETS.write(path, rows)
    return path
