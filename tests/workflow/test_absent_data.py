"""Data that are absent: refused where they are asked for, left out at the papers' scale, found in the project."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import ROOT, copy_project, environment

from warm_snakemake import run_snakemake

pytestmark = pytest.mark.workflow


@pytest.mark.deep
def test_without_any_data_all_cells_say_what_is_missing(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
    command += ["--directory", str(tmp_path), "--configfile", str(ROOT / "configs/paper.yaml")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    _, missing = done.stdout.split("Left out was what needs these files, which are not there:\n")
    for name, path in {"robust04": "disks45", "bert-base-uncased": "bert-base-uncased"}.items():
        assert f"  {name} " in missing
        assert path in missing
    assert "make run ARGS=datasets says where each belongs" in missing
    cells = []
    for path in (tmp_path / "results/tables").glob("*_table*[0-9].csv"):
        with open(path, encoding="utf-8", newline="") as file:
            cells += list(csv.DictReader(file))
    assert {cell["ours"] for cell in cells} == {""}
    assert {cell["table"].partition("_")[0] for cell in cells} == {
        "prop",
        "ares",
        "wikiformer",
        "php",
        "deepct",
    }
    assert any("data/robust04/disks45 and" in cell["note"] for cell in cells)
    assert (tmp_path / "results/report.html").stat().st_size < 5_000_000
    assert (tmp_path / "results/per_query.parquet").exists()


ROBUST04 = """inherit: definitions
experiments: {robust04: {dataset: robust04}}
"""
FILES = ("robust04/disks45/FT/FT911/FT911_1", "robust04/04.testset.gz", "robust04/qrels.robust2004.txt")


def snakemake(project: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.yaml").write_text(ROBUST04)
    words = ["--snakefile", str(project / "Snakefile"), "--cores", "2"]
    words += ["--directory", str(folder), "--configfile", str(folder / "mine.yaml"), *arguments]
    if project == ROOT:
        return run_snakemake(words, environment())
    command = [sys.executable, "-m", "snakemake", *words]
    own = {**environment(), "PYTHONPATH": str(project / "src")}
    return subprocess.run(command, env=own, capture_output=True, text=True)


def test_what_is_requested_for_is_not_left_out_silently(tmp_path):
    done = snakemake(ROOT, tmp_path)
    assert done.returncode == 1
    displayed = done.stdout + done.stderr
    assert "experiments.robust04: files that this needs are missing.\n" in displayed
    assert "  robust04, from https://trec.nist.gov/data/robust.html\n    data/robust04/disks45\n" in displayed
    assert f"Looked for in {tmp_path}/data and {ROOT}/data." in displayed
    assert "Traceback" not in displayed
    assert not (tmp_path / "results").exists()
    planned = snakemake(ROOT, tmp_path, "--dry-run", "--config", "skip_absent=true")
    assert planned.returncode == 0, planned.stderr[-4000:]
    assert "planned as if they were; a run leaves out what needs them" in planned.stdout + planned.stderr


def test_the_list_of_data_sets_is_of_those_that_the_overlay_reads(tmp_path):
    done = snakemake(ROOT, tmp_path, "--rerun-incomplete", "datasets")
    displayed = done.stdout + done.stderr
    assert done.returncode == 0, displayed[-4000:]
    assert "gunzip -r -S .z data/robust04/disks45" in " ".join(displayed.split())
    assert "wikipedia" not in displayed
    assert "The configuration reads these. All: " in displayed
    assert "wikipedia" in (tmp_path / "results/datasets.txt").read_text()


def test_data_of_the_project_are_found_from_every_directory(tmp_path):
    project, folder = copy_project(tmp_path / "project"), tmp_path / "runs/robust04"
    folder.mkdir(parents=True)
    for path in FILES:
        (project / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "data" / path).write_text("")
    done = snakemake(project, folder, "--dry-run", "results/corpora/robust04/documents-0.parquet")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "Not there" not in done.stdout + done.stderr
    (folder / "data/robust04").mkdir(parents=True)
    (folder / "data" / FILES[1]).write_text(
        ""
    )  # the working directory has something of it, and so comes first
    done = snakemake(project, folder, "--dry-run")
    assert done.returncode == 1
    assert "    data/robust04/disks45\n" in done.stdout + done.stderr
