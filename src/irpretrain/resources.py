"""Where the project's data files lie: stop lists, names of wikis, and others that no code holds."""

from __future__ import annotations

from pathlib import Path


def resources_directory() -> Path:
    """Return `resources/` of the source tree that this package was installed from."""
    return Path(__file__).resolve().parents[2] / "resources"
