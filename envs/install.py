"""Make the project's virtual environment from requirements.lock. Needs only Python 3.11+ and a package index.

Called by `make`; by hand: `python3 envs/install.py .venv`, and `python3 envs/install.py .venv slurm` for what Slurm
clusters need besides, in `.venv/slurm` (`make slurm`). A torch of the interpreter that calls this (a GPU
machine's own build) is kept and seen through from the environment; otherwise torch comes from the lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
COMPILE = ROOT / "envs" / "compile.py"
SLURM_LOCK = ROOT / "envs" / "slurm.lock"
OLDEST_PYTHON = (3, 11)
OLDEST_TORCH = (2, 6)


def main(target: Path) -> None:
    """Create or complete the environment at `target`, and mark it as installed at the very end."""
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"IR-Pretrain needs Python 3.11 or newer; this is {found}. Try: make run PYTHON=python3.12")
    own_torch = existing_torch()
    print(f"Setting up {target} (once; 2 to 6 GB, one to five minutes)", flush=True)
    if own_torch:
        print(f"Keeping the torch {own_torch} of {sys.executable}", flush=True)
    make_environment(target, bool(own_torch))
    pip = [
        str(target / "bin" / "python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-compile",  # Python compiles what it imports, a tenth of all that is there
        "--quiet",  # once only: a second one would hide that the package index does not answer
    ]
    pins = read_pins(LOCK)
    torch = next(pin for pin in pins if pin.startswith("torch=="))
    rest = [pin for pin in pins if pin != torch]
    # --ignore-installed: pins win over what system site-packages happen to hold
    run([*pip, "--no-deps", *(["--ignore-installed"] if own_torch else []), *rest], "the pinned packages")
    run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], "irpretrain itself")
    # Beside torch, which takes longer.
    compiler = subprocess.Popen([str(target / "bin" / "python"), str(COMPILE)])
    if not own_torch:
        # Some packages are wanted without what they ask for: see the lock's head.
        run([*pip, "--no-warn-conflicts", "--constraint", str(LOCK), torch], "torch")
    if compiler.wait():
        print(
            "  what draws and ranks could not be compiled: see above. The first run will do it.", flush=True
        )
    (target / ".installed").write_text(LOCK.read_text())


def read_pins(lock: Path) -> list[str]:
    """The lines of a lock file that are no comments."""
    return [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]


def add_slurm(environment: Path) -> None:
    """Make `environment`/slurm: all that `environment` has, and Snakemake's executor for Slurm.

    A place of its own, because Snakemake imports every executor that it finds, in the process of every job.
    """
    target = environment / "slurm"
    python = environment / "bin" / "python"
    if not python.exists():
        sys.exit(f"{environment} is no environment yet; call make first")
    seen = "include-system-site-packages = true" in (environment / "pyvenv.cfg").read_text()
    venv.EnvBuilder(clear=True, symlinks=True, system_site_packages=seen).create(target)
    below = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages = target / below
    # The environment's own .pth files are followed too: irpretrain is installed by one.
    line = f"import site; site.addsitedir({str((environment / below).resolve())!r})\n"
    (packages / "environment.pth").write_text(line)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([*pip, "--no-deps", "--target", str(packages), *read_pins(SLURM_LOCK)], "the executor for Slurm")
    command = target / "bin" / "snakemake"
    command.write_text(
        f"#!{target.resolve() / 'bin' / 'python'}\nimport sys\n\nfrom snakemake.cli import main\n\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    (target / ".installed").write_text(SLURM_LOCK.read_text())


def make_environment(target: Path, sees_system_packages: bool) -> None:
    """Make an empty environment with pip, in place of what is there."""
    try:
        venv.EnvBuilder(with_pip=True, clear=True, system_site_packages=sees_system_packages).create(target)
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
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    version = found.stdout.strip() if found.returncode == 0 else ""
    if not version:
        return ""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return version if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST_TORCH else ""


def run(command: list[str], what: str) -> None:
    """Run pip; on failure say what could not be installed and stop without a traceback."""
    print(f"  installing {what}", flush=True)
    if subprocess.run(command).returncode:
        sys.exit(
            f"\nCould not install {what}: pip's message is above. Check the package index and the disk's free space, "
            "then call make again; it starts the set-up afresh."
        )


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv")
    if sys.argv[2:] == ["slurm"]:
        add_slurm(place)
    else:
        main(place)
