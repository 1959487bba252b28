"""`make resume` takes over a run that was killed, and none that is alive, with the real Snakemake."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
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


def make(goal: str, arguments: str) -> list[str]:
    own = (f"VENV={ENVIRONMENT}", "CORES=1", f"ARGS={arguments}")
    return ["make", "--assume-old", "environment", *own, goal]


@contextmanager
def started(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run of the Snakefile above, and kill it at the end if it is still there."""
    deadline = time.monotonic() + PATIENCE
    with subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as run:
        try:
            while not (folder / "begun").exists():
                assert run.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "form",
    [
        "all {options}",
        "{options}",
        "slow all {options}",
        "{options} -- all",
        "all.txt {options} --quiet rules",
    ],
)
def test_a_killed_run_is_resumed_with_its_own_arguments(tmp_path, form):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    folder = shlex.quote(str(tmp_path))
    arguments = form.format(options=f"--snakefile {folder}/Snakefile --directory {folder}")
    with started(make("run", arguments), tmp_path) as run:
        os.killpg(run.pid, signal.SIGKILL)
    assert list(tmp_path.glob(".snakemake/locks/*"))
    (tmp_path / "second").touch()
    refused = subprocess.run(make("run", arguments), cwd=ROOT, capture_output=True, text=True)
    assert "the same command with `make resume` for `make run`" in refused.stdout + refused.stderr
    resumed = subprocess.run(make("resume", arguments), cwd=ROOT, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (tmp_path / "slow.txt").exists()
    assert (tmp_path / "all.txt").exists() is ("all" in form)


def test_a_run_that_is_alive_is_not_taken_over(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    folder = shlex.quote(str(tmp_path))
    arguments = f"--snakefile {folder}/Snakefile --directory {folder}"
    with started(make("run", arguments), tmp_path) as run:
        live = live_processes(tmp_path)
        assert len(live) == 1
        assert run.poll() is None
        refused, resumed = (
            subprocess.run(make(goal, arguments), cwd=ROOT, capture_output=True, text=True)
            for goal in ("run", "resume")
        )
        assert (refused.returncode, resumed.returncode) == (2, 2)
        assert f"{tmp_path}: another run works in this folder, process {live[0]}." in (
            refused.stdout + refused.stderr
        )
        assert f"ERROR: {tmp_path}: a run is alive here, process {live[0]}." in resumed.stderr
        assert list(tmp_path.glob(".snakemake/locks/*")), "the lock is the live run's"
    assert live_processes(tmp_path) == []


def test_results_of_a_run_that_is_alive_are_not_removed(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    folder = shlex.quote(str(tmp_path))
    result = tmp_path / "results/scores.csv"
    result.parent.mkdir()
    result.touch()
    clean = ["make", "-f", f"{ROOT}/Makefile", f"VENV={ENVIRONMENT}", "clean"]
    variables = {**os.environ, "PYTHONPATH": f"{ROOT}/src"}
    with started(make("run", f"--snakefile {folder}/Snakefile --directory {folder}"), tmp_path):
        refused = subprocess.run(clean, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert f"ERROR: {tmp_path}: a run is alive here" in refused.stderr
        assert (refused.returncode, result.exists()) == (2, True)
    for command in (clean, [*clean, "VENV=absent"]):
        result.parent.mkdir(exist_ok=True)
        result.touch()
        assert subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True).returncode == 0
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
