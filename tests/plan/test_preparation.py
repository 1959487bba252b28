"""What is planned where files of the catalogue are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from irpretrain.config.yaml_files import read_yaml
from irpretrain.errors import ConfigError
from irpretrain.plan.preparation import Prepared, prepare

ROOT = Path(__file__).resolve().parents[2]
ABSENT = "data/msmarco/msmarco-docs.tsv.gz"


def prepared(stand_ins: Any = None, needs_data: bool = True, skip_absent: bool = True) -> Prepared:
    given = read_yaml(ROOT / "tests" / "base.yaml")
    given["corpora"]["absent"] = {"format": "tsv", "path": ABSENT}
    given["datasets"]["absent"] = {**given["datasets"]["squad"], "corpus": "absent"}
    given["experiments"]["absent"] = {"dataset": "absent", "first_stages": ["bm25"]}
    given["skip_absent"] = skip_absent
    return prepare(given, "given", ROOT / "resources" / "embedded.yaml", needs_data, stand_ins)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_missing_files_are_refused_where_data_are_needed():
    with pytest.raises(ConfigError, match=ABSENT):
        prepared(skip_absent=False)


def test_a_run_leaves_out_what_needs_missing_files():
    run = prepared()
    assert (list(run.missing.values()), run.as_if_there) == ([[ABSENT]], False)
    assert "absent" not in run.config.experiments
    assert "absent" in run.config.absent


def test_a_dry_run_plans_it_with_stand_ins(tmp_path):
    plan = prepared(stand_ins=lambda: str(tmp_path / "stand-ins"))
    assert plan.as_if_there
    assert "absent" in plan.config.experiments
    assert Path(plan.config.corpora["absent"].path).is_relative_to(tmp_path / "stand-ins")
