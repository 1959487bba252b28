"""The run of the tiny project that many tests look at or go on from, made once for all processes of the tests."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import SlurmCluster
from slurm_runs import TARGETS, Request, requests, slurm_project
from tiny import copy_run, make_project, readme_command, run_command, run_workflow

SEEN = Path(__file__).parent / "seen_imports"
Made = tuple[Path, subprocess.CompletedProcess[str]]
"""A project, and what the command that made it printed."""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The tiny project after `make run`, uninterrupted, on one core with one shard.

    The process that asks first makes it; all look at it at once: a test that runs more than a dry run in it does so in
    `copied`.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, printed = base / "finished", base / "finished.json"
    with open(base / "finished.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            if folder.exists():
                pytest.fail("the run of the tiny project has failed in another test, which tells why")
            folder.mkdir()
            done = _make_finished(folder)
            printed.write_text(json.dumps({"stdout": done.stdout, "stderr": done.stderr}))
    return folder, subprocess.CompletedProcess([], 0, **json.loads(printed.read_text()))


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SlurmCluster]:
    """A running Slurm, of one node unless the module's `NODES` and `SLOW` say otherwise."""
    nodes, slow = getattr(request.module, "NODES", 1), getattr(request.module, "SLOW", ())
    made = SlurmCluster(tmp_path_factory.mktemp("slurm"), nodes, slow)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Request]]:
    """The targets made on this machine without Slurm, and what their jobs would ask for."""
    folder = tmp_path_factory.mktemp("local")
    slurm_project(folder)
    requested = requests(folder)
    run_workflow(folder, *TARGETS)
    return folder, requested


@pytest.fixture
def project(made_data: Path, tmp_path: Path) -> Path:
    """The tiny project before any run, whose data a test may spoil."""
    shutil.copytree(made_data, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="session")
def made_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_project(folder)
    return folder


@pytest.fixture
def copied(finished: Made, tmp_path: Path) -> Path:
    """A copy of `finished`, in which nothing is made again."""
    return copy_run(finished[0], tmp_path)


def _make_finished(folder: Path) -> subprocess.CompletedProcess[str]:
    make_project(folder)
    (folder / "imports").mkdir()
    seen = {
        "SEEN_IMPORTS": str(folder / "imports"),
        "PYTHONPATH": os.pathsep.join([str(SEEN), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    return run_command(readme_command("make run", folder, cores=1), more=seen)
