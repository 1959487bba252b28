"""Make the project's virtual environment from requirements.lock. Needs only Python 3.11+ and a package index.

Called by `make`, each time: an environment that fits is left as it is. By hand: `python3 envs/install.py .venv`, then
`python3 envs/install.py .venv develop` for tests and linters (`make develop`), `python3 envs/install.py .venv slurm`
for what Slurm clusters need besides, in `.venv/slurm` (`make slurm`). A torch of the interpreter that calls this (a GPU
machine's own build) is kept and seen through from the environment; otherwise torch comes from envs/torch.lock.

Whether an environment fits depends on contents: the locks, the dependencies of pyproject.toml and the version of
Python, which stand in its file `.installed`. One that was moved or does not start is made anew. Only what this script
made is replaced, never what a link leads to or what a process uses, and the environment that was there comes back where
its successor cannot be made. Of two calls at once for one folder, the second waits.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
TORCH_LOCK = ROOT / "envs" / "torch.lock"
DEVELOP_LOCK = ROOT / "envs" / "develop.lock"
SLURM_LOCK = ROOT / "envs" / "slurm.lock"
HASHED = ["--no-deps", "--require-hashes", "--requirement"]
"""How pip installs any lock but torch's."""
COMPILE = ROOT / "envs" / "compile.py"
OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 13)
"""Newer ones have no wheels of some pinned packages."""
OLDEST_TORCH = (2, 11)
MARK, DEVELOP_MARK, OURS = ".installed", ".develop", ".made-by-irpretrain"
BEFORE = ".before"
"""Ends the name of an environment that is being replaced."""
TEXT: dict[str, str] = {"encoding": "utf-8", "errors": "surrogateescape"}
"""A mark may be torn, and a path may hold any bytes."""


def main(target: Path) -> None:
    """Make the environment at `target`, unless the one that is there fits."""
    check_python()
    install(target, [LOCK, TORCH_LOCK], make_all)


def add_develop(environment: Path) -> None:
    """Install into `environment` what tests and linters need, unless it is there."""
    check_is_there(environment)
    environment, mark = Path(os.path.abspath(environment)), fitting_mark([DEVELOP_LOCK])
    with one_message(environment):
        if read(environment / DEVELOP_MARK) == mark:
            return
        with locked(environment):
            if read(environment / DEVELOP_MARK) != mark:  # another make may have installed it
                install_develop(environment)
                (environment / DEVELOP_MARK).write_text(mark)


def install_develop(environment: Path) -> None:
    """Install the packages of envs/develop.lock.

    Meanwhile the environment does not fit: a killed pip may leave half a package, and then all is made anew.
    """
    mark = read(environment / MARK)
    (environment / MARK).write_text(f"{mark}and half of what developers need\n")
    try:
        run_pip(environment, [*HASHED, str(DEVELOP_LOCK)], "what tests and linters need")
    except SystemExit:  # pip fetches and checks every package before it installs the first
        (environment / MARK).write_text(mark)
        raise
    (environment / MARK).write_text(mark)


def add_slurm(environment: Path) -> None:
    """Make `environment`/slurm: all that `environment` has, and Snakemake's executor for Slurm.

    A place of its own, because Snakemake imports every executor that it finds, in the process of every job.
    """
    check_is_there(environment)
    install(environment / "slurm", [LOCK, SLURM_LOCK], lambda target: make_slurm(environment, target))


def check_is_there(environment: Path) -> None:
    """End with a message where there is no environment to add to."""
    if not (environment / "bin" / "python").exists():
        sys.exit(f"{environment} is no environment yet; call make first")


def install(target: Path, locks: list[Path], make: Callable[[Path], None]) -> None:
    """Make the folder `target`, unless it fits; the environment that was there comes back on a failure."""
    target, mark = Path(os.path.abspath(target)), fitting_mark(locks)
    with one_message(target):
        is_right = fits(target, mark)
        if is_right and not is_ours(with_ending(target, BEFORE)):
            return
        if not is_right:
            refuse_link(target)
            if is_ours(target.parent):  # what Slurm needs lies within an environment
                refuse_link(target.parent)
        use_base_python(target)
        with locked(target):
            if not fits(target, mark):  # another make may have made it
                check_replaceable(target)
                replace(target, mark, make)
            remove(with_ending(target, BEFORE))


@contextmanager
def one_message(target: Path) -> Iterator[None]:
    """End with a message where a file of an environment cannot be read or written."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        sys.exit(f"{target} cannot be set up: {reason}. Mend that, or name another folder (make VENV=...).")


def refuse_link(target: Path) -> None:
    """End with a message where an environment that does not fit is a link: others may use what it leads to."""
    if target.is_symlink():
        sys.exit(
            f"{target} is a link to {os.readlink(target)}, whose environment does not fit this version. What a "
            f"link leads to is not replaced: remove the link (rm {target}), or name another folder (make VENV=...)."
        )


def fits(target: Path, mark: str) -> bool:
    """Whether an environment holds what this version needs, lies where it was made, and can be started.

    The programs of an environment name its Python by a full path: in a copy they start the one that was copied.
    """
    if read(target / MARK) != mark:
        return False
    made_at = read(target / OURS).strip()
    if made_at and not (os.path.exists(made_at) and os.path.samefile(made_at, target)):
        return False
    return is_run_by(target) or starts(target)


def is_run_by(target: Path) -> bool:
    """Whether this process's Python is an environment's own."""
    return os.path.realpath(sys.prefix) == os.path.realpath(target)


def starts(target: Path) -> bool:
    """Whether an environment's Python starts: not where the one that it was made from is gone."""
    try:
        return not subprocess.run([str(target / "bin" / "python"), "-c", ""], capture_output=True).returncode
    except OSError:
        return False


def is_ours(folder: Path) -> bool:
    """Whether this script made a folder; earlier versions wrote the second mark alone, into a whole environment."""
    made_before = read(folder / MARK).startswith("Python ") and (folder / "pyvenv.cfg").exists()
    return (folder / OURS).exists() or made_before


def check_replaceable(target: Path) -> None:
    """End with a message where a folder is not an environment of ours, or a process uses it."""
    refuse_link(with_ending(target, BEFORE))
    for folder in (target, with_ending(target, BEFORE)):
        empty = not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir()))
        if not empty and not is_ours(folder):
            sys.exit(
                f"{folder} was not made by IR-Pretrain, so it is not replaced. Move it away, or name another folder "
                "(make VENV=...)."
            )
        users = processes_in(folder)
        if users:
            sys.exit(
                f"{folder} does not fit this version, and is in use by process {', '.join(users)}. Wait until it ends, "
                "then call make again; or name another folder (make VENV=...)."
            )


def replace(target: Path, mark: str, make: Callable[[Path], None]) -> None:
    """Make an environment in place of the one that is there."""
    before = with_ending(target, BEFORE)
    old_mark = read(target / MARK)
    if old_mark:
        same_python = old_mark.partition(",")[0] == mark.partition(",")[0]
        reason = "it was moved or does not start" if old_mark == mark else "this version needs other packages"
        print(f"Replacing {target}: {reason if same_python else 'it has another Python'}", flush=True)
        remove(before)
        target.rename(before)
    else:  # what a killed set-up left: `before` is the last whole one
        remove(target)
    try:
        target.mkdir(exist_ok=True)
        (target / OURS).write_text(f"{target}\n", **TEXT)
        make(target)
        (target / MARK).write_text(mark)
    except BaseException:
        remove(target)
        if before.exists():
            before.rename(target)
        raise


def remove(folder: Path) -> None:
    """Remove a folder that this script made. What says so goes last: the removal may be killed."""
    if folder.is_symlink() or not is_ours(folder):
        return
    (folder / OURS).touch()
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != OURS:
            entry.unlink()
    shutil.rmtree(folder)


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Wait until no other make sets up the same folder. A killed one leaves its lock file, which then locks nothing.

    A lock file is empty. A file of that name with content is a user's, such as the lock of a package manager.
    """
    path = with_ending(target, ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "rb") as lock:
            with suppress(OSError):  # a file system without locks
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    print(f"Another make is setting up {target}: waiting for it", flush=True)
                    fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever had the lock has removed its file, and a third one may have made another.
            if is_file_at(path, lock.fileno()):
                try:
                    yield
                finally:
                    if not path.stat().st_size:
                        path.unlink()
                return


def is_file_at(path: Path, number: int) -> bool:
    """Whether the open file of that number is the one that a path names now."""
    try:
        return os.path.samestat(os.fstat(number), os.stat(path))
    except FileNotFoundError:
        return False


def use_base_python(target: Path) -> None:
    """Go on in the Python that made an environment, where this is the environment's own: it may be replaced."""
    base = getattr(sys, "_base_executable", sys.executable)
    if is_run_by(target) and base != sys.executable and os.path.exists(base):
        os.execv(base, [base, *sys.argv])


def with_ending(target: Path, ending: str) -> Path:
    """Return the path of what lies beside a folder and has its name with an ending."""
    return target.parent / (target.name + ending)


def fitting_mark(locks: list[Path]) -> str:
    """Return what the mark of an environment holds that fits."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    dependencies = re.search(r"^dependencies = \[.*?^\]", project, re.MULTILINE | re.DOTALL)
    contents = [
        *(path.read_text(encoding="utf-8") for path in locks),
        dependencies[0] if dependencies else "",
    ]
    digest = hashlib.sha256("\n".join(contents).encode()).hexdigest()
    return f"Python {sys.version_info[0]}.{sys.version_info[1]}, contents {digest}\n"


def read(path: Path) -> str:
    """Return the text of a file; nothing where there is none."""
    try:
        return path.read_text(**TEXT)
    except OSError:
        return ""


def processes_in(folder: Path) -> list[str]:
    """Return the numbers of the processes that have files of a folder in memory; none where that is not known."""
    within = f"{folder.resolve()}/"
    return [process.name for process in Path("/proc").glob("[0-9]*") if within in read(process / "maps")]


def check_python() -> None:
    """End with a message where this Python cannot hold the pinned packages."""
    if not OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        this_version = ".".join(map(str, sys.version_info[:3]))
        span = " to ".join(".".join(map(str, version)) for version in (OLDEST_PYTHON, NEWEST_PYTHON))
        sys.exit(f"IR-Pretrain needs Python {span}; this is {this_version}. Try: make run PYTHON=python3.12")


def make_all(target: Path) -> None:
    """Make an environment with all pinned packages and irpretrain itself."""
    own_torch = existing_torch()
    print(f"Setting up {target} (once; 2 to 6 GB, one to five minutes)", flush=True)
    if own_torch:
        print(f"Keeping the torch {own_torch} of {sys.executable}", flush=True)
    make_environment(target, bool(own_torch))
    # --ignore-installed: pins win over what system site-packages happen to hold
    own_first = ["--ignore-installed"] if own_torch else []
    run_pip(target, [*own_first, *HASHED, str(LOCK)], "the pinned packages")
    run_pip(target, ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)], "irpretrain itself")
    # Beside torch, which takes longer.
    compiler = subprocess.Popen([str(target / "bin" / "python"), str(COMPILE)])
    if not own_torch:
        # Some packages are wanted without what they ask for: see the lock's head.
        run_pip(target, ["--no-warn-conflicts", "--requirement", str(TORCH_LOCK)], "torch")
    if compiler.wait():
        print(
            "  what draws and ranks could not be compiled: see above. The first run will do it.", flush=True
        )


def make_slurm(environment: Path, target: Path) -> None:
    """Make an environment that sees all of another one, with Snakemake's executor for Slurm."""
    sees_system_packages = "include-system-site-packages = true" in (environment / "pyvenv.cfg").read_text()
    venv.EnvBuilder(symlinks=True, system_site_packages=sees_system_packages).create(target)
    packages_path = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages = target / packages_path
    # The environment's own .pth files are followed too: irpretrain is installed by one.
    line = f"import site; site.addsitedir({str((environment / packages_path).resolve())!r})\n"
    (packages / "environment.pth").write_text(line)
    arguments = ["--target", str(packages), *HASHED, str(SLURM_LOCK)]
    run_pip(environment, arguments, "the executor for Slurm")
    command = target / "bin" / "snakemake"
    command.write_text(
        f"#!{target.resolve() / 'bin' / 'python'}\nimport sys\n\nfrom snakemake.cli import main\n\nsys.exit(main())\n"
    )
    command.chmod(0o755)


def make_environment(target: Path, sees_system_packages: bool) -> None:
    """Make an environment with pip and nothing else."""
    try:
        venv.EnvBuilder(with_pip=True, system_site_packages=sees_system_packages).create(target)
    except subprocess.CalledProcessError:
        sys.exit(
            f"{sys.executable} cannot make a virtual environment with pip. Install the rest of this Python (on Debian "
            "and Ubuntu the package python3-venv), or choose another: make run PYTHON=python3.12"
        )


def existing_torch() -> str:
    """Version of an accelerator build of torch in the calling interpreter, or an empty string.

    An environment sees through to a base interpreter's packages only, so another environment's torch is not kept.
    """
    if sys.prefix != sys.base_prefix:
        return ""
    probe = "import torch; print(torch.__version__ if torch.version.cuda or torch.version.hip else '')"
    probe_run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    version = probe_run.stdout.strip() if probe_run.returncode == 0 else ""
    if not version:
        return ""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return version if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST_TORCH else ""


def run_pip(environment: Path, arguments: list[str], what: str) -> None:
    """Install into an environment; on failure say what could not be installed and stop without a traceback."""
    pip = [
        str(environment / "bin" / "python"),
        "-I",  # the code of this checkout, which PYTHONPATH names, may not be installed yet
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-compile",  # Python compiles what it imports, a tenth of all that is there
        "--quiet",  # once only: a second one would hide that the package index does not answer
    ]
    print(f"  installing {what}", flush=True)
    if subprocess.run([*pip, *arguments]).returncode:
        sys.exit(
            f"\nCould not install {what}: pip's message is above. Check the package index and the disk's free space, "
            "then call make again; it starts the set-up afresh."
        )


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    position = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv")
    {"slurm": add_slurm, "develop": add_develop}.get("".join(sys.argv[2:]), main)(position)
