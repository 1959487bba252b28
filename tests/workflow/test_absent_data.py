"""The papers' scale is run without any of its data: it says what is missing, and finishes the rest."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tiny import ROOT, environment

pytestmark = pytest.mark.workflow


def test_without_any_data_all_cells_say_what_is_missing(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
    command += ["--directory", str(tmp_path), "--configfile", str(ROOT / "configs/paper.yaml")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    _, missing = done.stdout.split("Left out was what needs these files, which are not there:\n")
    for name, path in {"robust04": "disks45", "bert-base-uncased": "bert-base-uncased"}.items():
        assert f"  {name} " in missing
        assert path in missing
    assert "snakemake --cores 1 datasets says where each belongs" in missing
    with open(tmp_path / "results/verdicts.csv", encoding="utf-8", newline="") as file:
        verdicts = list(csv.DictReader(file))
    assert {row["verdict"] for row in verdicts} == {"not run"}
    assert {row["paper"] for row in verdicts} == {"prop", "ares", "wikiformer", "php", "deepct"}
    assert any("data/robust04/disks45 and" in row["reason"] for row in verdicts)
    assert (tmp_path / "results/report.html").stat().st_size < 5_000_000
    assert (tmp_path / "results/per_query.parquet").exists()
