"""Where the project's data files lie: stop lists, names of wikis, and others that no code holds."""

from functools import cache
from pathlib import Path
from typing import Any

from irpretrain.foundation.errors import SetupError

_PACKAGE = Path(__file__).resolve().parents[1]

# Contents of the resources that this process has read by `read_resource`.
resources_read: dict[str, bytes] = {}


def resources_directory() -> Path:
    """Return the project's `resources/`, or the copy that an installed package carries (`irpretrain/data`)."""
    project = _project(_PACKAGE)
    return project / "resources" if project else _PACKAGE / "data"


def read_resource(name: str) -> str:
    """Return the text of a resource that results depend on: its content counts as code (see `code_digest`).

    Raises:
        SetupError: there is no such file.
    """
    path = resources_directory() / name
    try:
        resources_read[name] = path.read_bytes()
    except FileNotFoundError:
        raise SetupError(f"{path}: there is no such file; restore it from the repository") from None
    return resources_read[name].decode("utf-8")


def project_directory(package: Path = _PACKAGE) -> Path:
    """Return the folder of the workflow (Snakefile, config.yaml, rules); SetupError if `package` is not in a clone."""
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
    import yaml

    loader = _resource_loader()
    return yaml.load(text, loader)


@cache
def _resource_loader() -> Any:
    import yaml

    from irpretrain.foundation.yaml_scalars import read_core_scalars

    class ResourceLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads own files: ten times as fast as Python's where PyYAML has libyaml."""

    return read_core_scalars(ResourceLoader)


@cache
def gpu_rates() -> dict[str, dict[str, float]]:
    """Return device name → precision → 10¹² floating-point operations per second."""
    entries = parse_yaml((resources_directory() / "gpu_rates.yaml").read_text(encoding="utf-8"))
    precisions = ("bf16", "fp16", "fp32")
    return {
        name: {precision: float(entry[precision]) for precision in precisions if precision in entry}
        for entry in entries
        for name in entry["names"]
    }
