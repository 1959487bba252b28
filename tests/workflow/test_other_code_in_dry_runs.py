"""Runs of the real Snakefile end with which results were made by other code, with or without anything to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny import run_workflow

pytestmark = pytest.mark.workflow


LINE = "1 result was made by other code: pretrain (1). `make redo` makes it again."
FOLDS = "results/datasets/tiny/folds.json"


def write_result_of_other_code(project: Path) -> None:
    model = project / "results/models/old"
    model.mkdir(parents=True)
    record = {
        "stage": "pretrain",
        "outputs": {"results/models/old": ""},
        "code": {"training/ranking_tasks.py": "0123"},
    }
    Path(f"{model}.meta.json").write_text(json.dumps(record))


def test_a_dry_run_ends_with_the_results_of_other_code(project: Path) -> None:
    write_result_of_other_code(project)
    done = run_workflow(project, "--dry-run")
    assert LINE in (done.stdout + done.stderr).splitlines()


def test_a_run_with_nothing_to_do_ends_with_the_results_of_other_code(project: Path) -> None:
    run_workflow(project, FOLDS)
    write_result_of_other_code(project)
    done = run_workflow(project, FOLDS)
    assert "Nothing to make: what was asked for is there." in done.stderr.splitlines()
    assert LINE in done.stdout.splitlines()
