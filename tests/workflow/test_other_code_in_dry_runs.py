"""Runs of the real Snakefile end with which results were made by other code, with or without anything to do."""

import json
from pathlib import Path

import pytest
from tiny import run_workflow

pytestmark = pytest.mark.workflow


LINE = "1 result was made by other code: pretrain (1). `make redo` makes it again."
FOLDS = "results/datasets/tiny/folds.json"


def test_runs_with_and_without_anything_to_do_end_with_the_results_of_other_code(project: Path) -> None:
    run_workflow(project, FOLDS)
    model = project / "results/models/old"
    model.mkdir(parents=True)
    record = {
        "stage": "pretrain",
        "outputs": {"results/models/old": ""},
        "code": {"training/ranking_tasks.py": "0123"},
    }
    Path(f"{model}.meta.json").write_text(json.dumps(record))
    planned = run_workflow(project, "--dry-run")
    assert LINE in (planned.stdout + planned.stderr).splitlines()
    done = run_workflow(project, FOLDS)
    assert "Nothing to make: what was asked for is there." in done.stderr.splitlines()
    assert LINE in done.stdout.splitlines()
