"""Jobs that dead runs of a folder left in the queue are cancelled, and nobody else's."""

import os
from pathlib import Path

import pytest

from irpretrain.foundation.errors import SetupError
from irpretrain.workflow.cancel import cancel_jobs, main, run_ids

QUEUE = """#!/bin/sh
cat "{folder}/queue"
"""
CANCEL = """#!/bin/sh
echo "$@" >> "{folder}/cancelled"
{then}
"""
EMPTY_QUEUE = ': > "{folder}/queue"'


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with stand-ins for squeue and scancel: the queue is a file, and cancelling empties it."""
    programs(tmp_path, EMPTY_QUEUE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


def programs(folder: Path, then: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    for name, text in (("squeue", QUEUE), ("scancel", CANCEL)):
        path = folder / "bin" / name
        path.write_text(text.replace("{then}", then).replace("{folder}", str(folder)))
        path.chmod(0o755)


def log(folder: Path, name: str, *ids: str) -> None:
    path = folder / ".snakemake" / "log" / f"{name}.snakemake.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"host: a\nSLURM run ID: {one}\nBuilding DAG\n" for one in ids))


def test_run_ids_of_all_runs_of_a_folder(tmp_path: Path) -> None:
    assert run_ids(tmp_path) == []
    log(tmp_path, "1", "irpretrain_a")
    log(tmp_path, "2")
    log(tmp_path, "3", "irpretrain_b", "irpretrain_a")
    assert run_ids(tmp_path) == ["irpretrain_a", "irpretrain_b"]


def test_jobs_of_this_folder_are_cancelled_and_no_others(
    slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(slurm, "1", "irpretrain_a")
    (slurm / "queue").write_text("11|irpretrain_a\n12|irpretrain_other\n13|irpretrain_a\n14|a|b\n")
    assert cancel_jobs(slurm) == 2
    assert (slurm / "cancelled").read_text() == "11 13\n"
    assert "Cancelling 2 Slurm jobs of a run that is dead: 11 13" in capsys.readouterr().err


def test_nothing_is_requested_where_nothing_ran_on_slurm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cancel_jobs(tmp_path) == 0
    log(tmp_path, "1", "irpretrain_a")
    with pytest.raises(SetupError, match="squeue was not found"):
        cancel_jobs(tmp_path)


def test_jobs_that_will_not_end_are_reported(slurm: Path) -> None:
    programs(slurm, ":")
    log(slurm, "1", "irpretrain_a")
    (slurm / "queue").write_text("11|irpretrain_a\n")
    with pytest.raises(SetupError, match="Slurm jobs 11 were cancelled but still run"):
        cancel_jobs(slurm, wait=0)


def test_the_command_takes_snakemake_s_arguments(slurm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = slurm / "elsewhere"
    log(folder, "1", "irpretrain_a")
    (slurm / "queue").write_text("11|irpretrain_a\n")
    assert main(["--configfile", "a.yaml", "--directory", str(folder), "prop"]) == 0
    assert (slurm / "cancelled").read_text() == "11\n"
    (slurm / "bin" / "squeue").write_text("#!/bin/sh\necho 'no controller' >&2\nexit 1\n")
    assert main(["--directory", str(folder)]) == 1
    assert "squeue failed: no controller" in capsys.readouterr().err
