"""Where the project's data files lie: stop lists, names of wikis, and others that no code holds."""

from pathlib import Path
from typing import Any

import yaml

from irpretrain.errors import SetupError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has it
_PACKAGE = Path(__file__).resolve().parent


def resources_directory() -> Path:
    """Return the project's `resources/`, or the copy that an installed package carries (`irpretrain/data`)."""
    project = _project()
    return project / "resources" if project else _PACKAGE / "data"


def project_directory() -> Path:
    """Return the folder of the workflow (Snakefile, config.yaml, rules).

    Raises:
        SetupError: the package is installed without the workflow.
    """
    if project := _project():
        return project
    raise SetupError(
        "The workflow is not part of the installed package.\n  Clone the repository and run this in its folder."
    )


def _project() -> Path | None:
    folder = _PACKAGE.parents[1]
    return folder if (folder / "Snakefile").is_file() else None


def parse_yaml(text: str) -> Any:
    """Return what YAML of the project's own holds, which every start of the workflow reads; raise `yaml.YAMLError`."""
    return yaml.load(text, _LOADER)
