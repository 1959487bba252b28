"""Where the project's data files lie: stop lists, names of wikis, and others that no code holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has it


def resources_directory() -> Path:
    """Return `resources/` of the source tree that this package was installed from."""
    return Path(__file__).resolve().parents[2] / "resources"


def parse_yaml(text: str) -> Any:
    """Return what YAML of the project's own holds, which every start of the workflow reads; raise `yaml.YAMLError`."""
    return yaml.load(text, _LOADER)
