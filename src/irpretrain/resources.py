"""Where the project's data files lie: stop lists, names of wikis, and others that no code holds."""

from pathlib import Path
from typing import Any

import yaml

from irpretrain.errors import SetupError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has it
_PACKAGE = Path(__file__).resolve().parent


def resources_directory() -> Path:
    """Return the project's `resources/`, or the copy that an installed package carries (`irpretrain/data`)."""
    project = _project(_PACKAGE)
    return project / "resources" if project else _PACKAGE / "data"


def project_directory(package: Path = _PACKAGE) -> Path:
    """Return the folder of the workflow (Snakefile, config.yaml, rules).

    Args:
        package: where Python finds the library.

    Raises:
        SetupError: it is not in a clone.
    """
    if project := _project(package):
        return project
    raise SetupError(
        f"The workflow runs with the library of its clone, but Python finds irpretrain in {package}.\n"
        "  Make an environment in the clone: python3 envs/install.py FOLDER\n"
        "  In one that has the packages, install the clone: python -m pip install --no-deps --editable ."
    )


def _project(package: Path) -> Path | None:
    folder = package.parents[1]
    return folder if (folder / "Snakefile").is_file() else None


def parse_yaml(text: str) -> Any:
    """Return what YAML of the project's own holds, which every start of the workflow reads; raise `yaml.YAMLError`."""
    return yaml.load(text, _LOADER)
