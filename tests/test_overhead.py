"""Core-seconds of runs that can be drawn on paper: in scripts, free though a job was ready, free as none was."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from overhead import Script, main, measure


def parts(scripts: list[Script], cores: int, ended: float) -> tuple[float, float, float]:
    """(in scripts, overhead, no job ready) of a run that began at 0."""
    found = measure(scripts, cores, 0.0, ended)
    return found.in_scripts, found.overhead, found.total - found.in_scripts - found.overhead


def test_one_job_alone() -> None:
    """Two seconds before it and one after it are overhead on both cores; beside it no job is ready."""
    assert parts([Script(2, 12)], 2, 13) == (10, 6, 10)


def test_a_job_that_waits_for_another_is_not_ready() -> None:
    """The second could begin at 5, begins at 6."""
    assert parts([Script(0, 5), Script(6, 10, after=(0,))], 2, 10) == (9, 1, 10)


def test_a_job_that_nothing_holds_back_is_overhead_while_it_waits() -> None:
    assert parts([Script(0, 5), Script(3, 5)], 2, 5) == (7, 3, 0)


def test_a_job_of_two_threads_takes_two_cores_and_fits_only_there() -> None:
    """While one core is busy, the job of two is not held back by Snakemake."""
    assert parts([Script(0, 4), Script(4, 6, threads=2)], 2, 6) == (8, 0, 4)
    assert parts([Script(0, 4), Script(5, 6, threads=2)], 2, 6) == (6, 2, 4)


def test_threads_beyond_the_cores_take_all_of_them() -> None:
    assert parts([Script(0, 4, threads=9)], 2, 4) == (8, 0, 0)


def test_the_parts_are_the_whole() -> None:
    scripts = [Script(1, 3), Script(1.5, 2.5), Script(4, 7, 2, (0, 1)), Script(7.25, 8, 1, (2,))]
    found = measure(scripts, 3, 0, 9)
    assert found.total == 27
    assert found.in_scripts == pytest.approx(2 + 1 + 6 + 0.75)
    # all cores before 1 and after 8; 1 to 1.5 one waits; 3 to 4 the job of two; 7 to 7.25 the last
    assert found.overhead == pytest.approx(3 + 3 + 0.5 + 2 + 0.25)


BEGAN = datetime(2026, 11, 20, 12, 0, 0)


def sidecar(
    folder: Path, name: str, started: float, wall: float, inputs: list[str], threads: int = 1
) -> None:
    path = folder / f"results/{name}.meta.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    cost = {"started": BEGAN.timestamp() + started, "wall_seconds": wall, "asked": {"threads": threads}}
    made = {f"results/{name}": "ab"}
    path.write_text(
        json.dumps({"stage": name, "inputs": dict.fromkeys(inputs, "cd"), "outputs": made, "cost": cost})
    )


def test_a_run_is_read_from_its_sidecars_and_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sidecar(tmp_path, "documents", 2, 10, ["data/a.jsonl"])
    sidecar(tmp_path, "tokens", 13, 4, ["results/documents"])
    sidecar(tmp_path, "earlier", -100, 50, [])  # of the run before
    runs = ((-20, "2026-11-20T115700.000000"), (20, "2026-11-20T120000.000000"))
    within, dry = (5, "2026-11-20T120001.000000"), (90, "2026-11-20T120129.000000")
    for seconds, name in (*runs, within, dry):
        log = tmp_path / f".snakemake/log/{name}.snakemake.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        os.utime(log, (BEGAN.timestamp() + seconds,) * 2)
    assert main(["--cores", "2", "--directory", str(tmp_path)]) == 0
    displayed = capsys.readouterr().out.split("\n")
    assert displayed[0] == "2 jobs, 20 s on 2 cores: 40 core-seconds"
    # 2 s before, 3 s after, on two cores; 1 s between on the one core that the second job wants
    assert [line.split()[:2] for line in displayed[1:4]] == [
        ["14", "35.0%"],
        ["11", "27.5%"],
        ["15", "37.5%"],
    ]


def test_what_cannot_be_measured_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--directory", str(tmp_path)]) == 1
    assert "there is no log of Snakemake's" in capsys.readouterr().err
    log = tmp_path / "other.snakemake.log"
    log.touch()
    assert main(["--directory", str(tmp_path), "--log", str(log)]) == 1
    assert "its name is no time" in capsys.readouterr().err
    log = log.rename(tmp_path / "2026-11-20T120000.000000.snakemake.log")
    assert main(["--directory", str(tmp_path), "--log", str(log)]) == 1
    assert "no job of this run has a sidecar" in capsys.readouterr().err
