"""Where the weights of steps in the middle of a pre-training lie. Imports no torch."""

from __future__ import annotations

from pathlib import Path

SNAPSHOTS = "snapshots"
"""Folder inside a pre-trained model's directory that holds them."""


def snapshot_name(step: int) -> str:
    """Return the name of the directory of the weights after `step` steps."""
    return f"step-{step:06d}"


def snapshot(model: str | Path, step: int, last: int) -> Path:
    """Return the directory of the weights after `step` steps of a model that is trained for `last` steps."""
    return Path(model) if step == last else Path(model) / SNAPSHOTS / snapshot_name(step)
