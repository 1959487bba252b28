"""Where the weights of intermediate pre-training steps lie. Imports no torch."""

from __future__ import annotations

from pathlib import Path

# Folder inside a pre-trained model's directory that holds them.
SNAPSHOTS = "snapshots"


def snapshot_name(step: int) -> str:
    return f"step-{step:06d}"


def snapshot(model: str | Path, step: int, last: int) -> Path:
    """Return the directory of the weights after `step` steps of a model that is trained for `last` steps."""
    return Path(model) if step == last else Path(model) / SNAPSHOTS / snapshot_name(step)
