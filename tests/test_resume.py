"""`make resume` and `make redo` go on from what was killed, and leave what is alive, with the real Snakemake."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from irpretrain.workflow.live_runs import live_processes
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = Path(sys.executable).parent.parent
SNAKEFILE = """
rule slow:
    output: "slow.txt"
    shell: "touch begun; test -e second || sleep 600; touch {output}"

rule all:
    input: "slow.txt"
    output: "all.txt"
    shell: "touch {output}"
"""


def make(goal: str, folder: Path, form: str = "{options}") -> list[str]:
    """The command for the Snakefile in a folder; `form` says where Snakemake's options stand among its arguments."""
    name = shlex.quote(str(folder))
    arguments = form.format(options=f"--snakefile {name}/Snakefile --directory {name}")
    return [
        "make",
        "--assume-old",
        "environment",
        f"VENV={ENVIRONMENT}",
        "CORES=1",
        f"ARGS={arguments}",
        goal,
    ]


def printed(command: list[str], status: int = 0) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def started(
    command: list[str], has_come: Callable[[], bool] = lambda: False
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run, wait until it has come so far, and kill it at the end if it is still there."""
    deadline = time.monotonic() + PATIENCE
    with subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as run:
        try:
            while not has_come():
                assert run.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[Path]:
    """The folder of a run that works on its first job."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    with started(make("run", tmp_path), (tmp_path / "begun").exists):
        yield tmp_path


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was killed at its first job; another command is refused there."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "Snakefile").write_text(SNAKEFILE)
    with started(make("run", folder), (folder / "begun").exists):
        pass
    assert list(folder.glob(".snakemake/locks/*"))
    assert "`make resume` in place of `make run`" in printed(make("run", folder), status=2)
    (folder / "second").touch()
    return folder


@pytest.mark.parametrize(
    "form",
    [
        "all {options}",
        "{options}",
        *(
            pytest.param(form, marks=pytest.mark.deep)
            for form in ("slow all {options}", "{options} -- all", "all.txt {options} --quiet rules")
        ),
    ],
)
def test_a_killed_run_is_resumed_with_its_own_arguments(killed, tmp_path, form):
    folder = shutil.copytree(killed, tmp_path / "run")
    printed(make("resume", folder, form))
    assert (folder / "slow.txt").exists()
    assert (folder / "all.txt").exists() is ("all" in form)


def test_a_run_that_is_alive_is_not_taken_over(alive):
    [live] = live_processes(alive)
    assert f"{alive}: another run works in this folder, process {live}." in printed(make("run", alive), 2)
    assert f"ERROR: {alive}: a run is alive here, process {live}." in printed(make("resume", alive), 2)
    assert list(alive.glob(".snakemake/locks/*")), "the lock is the live run's"


def test_results_of_a_run_that_is_alive_are_not_removed(alive):
    result = alive / "results/scores.csv"
    result.parent.mkdir()
    result.touch()
    clean = ["make", "-f", f"{ROOT}/Makefile", f"VENV={ENVIRONMENT}", "clean"]
    variables = {**os.environ, "PYTHONPATH": f"{ROOT}/src"}
    refused = subprocess.run(clean, cwd=alive, env=variables, capture_output=True, text=True)
    assert f"ERROR: {alive}: a run is alive here" in refused.stderr
    assert (refused.returncode, result.exists()) == (2, True)


@pytest.mark.parametrize("environment", [ENVIRONMENT, "absent"])
def test_results_of_a_folder_without_a_run_are_removed(tmp_path, environment):
    result = tmp_path / "results/scores.csv"
    result.parent.mkdir()
    result.touch()
    clean = ["make", "-f", f"{ROOT}/Makefile", f"VENV={environment}", "clean"]
    subprocess.run(clean, cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{ROOT}/src"}, check=True)
    assert not result.exists()


class Process:
    """What psutil says of a process."""

    def __init__(self, pid: int, words: list[str], folder: Path, **variables: str) -> None:
        self.pid = pid
        self.cmdline, self.cwd, self.environ = (lambda: words), (lambda: str(folder)), (lambda: variables)


def test_what_counts_as_alive(tmp_path, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    run = tmp_path / "run"
    run.mkdir()
    processes = [
        Process(15, ["python", "-m", "snakemake"], run, SLURM_JOB_ID="7"),
        Process(11, ["python", "-m", "snakemake", "--cores", "2"], run),
        Process(12, ["python", f"{run}/.snakemake/scripts/tmpx.search.py"], run),
        Process(13, ["python", "/e/bin/snakemake"], tmp_path),
        Process(14, ["less", "results/report.html"], run),
        Process(17, ["tail", "-f", "snakemake"], run),
        Process(18, ["less", f"{run}/.snakemake/scripts/tmpx.search.py"], run),
        Process(19, ["python", "mine.py", "snakemake"], run),
        Process(20, ["python", "-c", "snakemake"], run),
        Process(21, ["python3.11", "-u", "-X", "dev", "/e/bin/snakemake", "--cores", "2"], run),
        Process(16, ["python", "-m", "snakemake"], tmp_path / "removed"),
        Process(os.getpid(), ["python", "-m", "snakemake"], run),
        Process(os.getppid(), ["python", "-m", "snakemake"], run),
    ]
    monkeypatch.setattr(psutil, "process_iter", lambda: processes)
    assert live_processes(run) == [11, 12, 21]
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert live_processes(run) == [11, 12, 15, 21]


REDONE_SNAKEFILE = """
rule all:
    default_target: True
    input: "results/third", "results/fresh"

rule first:
    output: "results/first"
    priority: 1
    script: "write.py"

rule second:
    input: "results/first"
    output: "results/second"
    script: "write.py"

rule third:
    input: "results/second"
    output: "results/third"
    script: "write.py"

rule fresh:
    output: "results/fresh"
    script: "write.py"
"""
SCRIPT = """
import time
from pathlib import Path
from irpretrain.foundation.stage import stage
with stage(snakemake):
    with open("runs", "a") as runs:
        runs.write(snakemake.rule + "\\n")
    while snakemake.rule == "second" and Path("wait").exists():
        time.sleep(0.05)
    Path(snakemake.output[0]).write_text("text")
"""


def runs(folder: Path) -> list[str]:
    """The rules that have begun since this was last asked."""
    names = (folder / "runs").read_text().split()
    (folder / "runs").write_text("")
    return names


@pytest.mark.deep
def test_a_killed_redo_is_resumed_and_redone(tmp_path):
    (tmp_path / "Snakefile").write_text(REDONE_SNAKEFILE)
    (tmp_path / "write.py").write_text(SCRIPT)
    printed(make("run", tmp_path))
    assert sorted(runs(tmp_path)) == ["first", "fresh", "second", "third"]
    assert "No result was made by other code." in printed(make("redo", tmp_path))
    for name in ("first", "second"):  # third is of the same code, but of files that are not
        path = tmp_path / f"results/{name}.meta.json"
        record = json.loads(path.read_text())
        record["code"]["foundation/errors.py"] = "0123"
        path.write_text(json.dumps(record))
    (tmp_path / "wait").touch()
    with started(make("redo", tmp_path), lambda: "second" in (tmp_path / "runs").read_text()):
        pass
    (tmp_path / "wait").unlink()
    assert runs(tmp_path) == ["first", "second"]
    assert (tmp_path / "results/third").exists(), "what was not reached yet is kept"
    assert "`make resume` in place of `make run`" in printed(make("redo", tmp_path), 2)
    printed(make("resume", tmp_path))
    assert runs(tmp_path) == [], "Snakemake takes the last file for up to date"
    redone = printed(make("redo", tmp_path))
    assert "A redo was broken off: it goes on with results/second." in redone
    assert runs(tmp_path) == ["second", "third"], "what was redone before the kill is not done again"
    assert "No result was made by other code." in printed(make("redo", tmp_path))
    assert {path.read_text() for path in (tmp_path / "results").glob("*[!n]")} == {"text"}
