"""Data that are absent: left out at the papers' scale, listed, and found in the project."""

from functools import partial

import pytest
from tiny import ROOT, copy_project, run_project, run_workflow

from irpretrain.foundation.atomic import read_csv

pytestmark = pytest.mark.workflow


@pytest.mark.deep
def test_without_any_data_all_cells_say_what_is_missing(tmp_path):
    done = run_project(ROOT, tmp_path, overlays=[ROOT / "configs/paper.yaml"])
    _, missing = done.stdout.split("Left out was what needs these files, which are not there:\n")
    for name, path in {"robust04": "disks45", "bert-base-uncased": "bert-base-uncased"}.items():
        assert f"  {name} " in missing
        assert path in missing
    assert "make run ARGS=datasets says where each belongs" in missing
    tables = (tmp_path / "results/tables").glob("*_table*[0-9].csv")
    cells = [cell for path in tables for cell in read_csv(path)]
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


def test_the_list_of_data_sets_is_of_those_that_the_overlay_reads(tmp_path):
    (tmp_path / "tiny.yaml").write_text(ROBUST04)
    done = run_workflow(tmp_path, "datasets")
    displayed = done.stdout + done.stderr
    assert "gunzip -r -S .z data/robust04/disks45" in " ".join(displayed.split())
    assert "wikipedia" not in displayed
    assert "The configuration reads these. All: " in displayed
    assert "wikipedia" in (tmp_path / "results/datasets.txt").read_text()


def test_data_of_the_project_are_found_from_every_directory(tmp_path):
    project, folder = copy_project(tmp_path / "project"), tmp_path / "runs/robust04"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(ROBUST04)
    run = partial(run_project, project, folder, "--dry-run", overlays=[folder / "mine.yaml"])
    for path in FILES:
        (project / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "data" / path).write_text("")
    planned = run("results/corpora/robust04/documents-0.parquet")
    assert "Not there" not in planned.stdout + planned.stderr
    (folder / "data/robust04").mkdir(parents=True)
    # The working directory has something of it, and so comes first.
    (folder / "data" / FILES[1]).write_text("")
    refused = run(expect=1)
    assert "    data/robust04/disks45\n" in refused.stdout + refused.stderr
