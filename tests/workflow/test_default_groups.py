"""Every objective of the default finds ranking groups in its articles; a model cannot be trained on none."""

import json
from pathlib import Path

import pytest
from tiny import ROOT, run_project

from irpretrain.config import load_config
from irpretrain.workflow.plan.paths import GROUPS, sidecar

pytestmark = [pytest.mark.deep, pytest.mark.workflow]


def test_each_objective_on_articles_has_groups(tmp_path: Path) -> None:
    models = load_config(ROOT / "config.yaml").models.values()
    files = [
        GROUPS.format(collection="articles", tokenizer="", objective=task.objective)
        for model in models
        if model.collection == "articles"
        for task in model.tasks
    ]
    assert len(files) == 7, "four of Wikiformer and three of PHP"
    run_project(ROOT, tmp_path, *files)
    found = {file: json.loads((tmp_path / sidecar(file)).read_text())["counts"]["groups"] for file in files}
    assert all(found.values()), found
