"""Every way in which queries of one data set have a part in results on another is listed, and refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from irpretrain.config import parse_config
from irpretrain.config.query_uses import query_uses
from irpretrain.errors import ConfigError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def given() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def test_the_default_uses_queries_of_other_data_sets(given: dict) -> None:
    uses = {(use.key, use.dataset, use.tested) for use in query_uses(parse_config(given))}
    assert {
        ("datasets.squad.train_on", "squad-train", "squad"),
        ("predictors.simple.dataset", "squad-questions", "squad"),
        ("first_stages.tf-bm25.tuned_on", "squad-held-out", "squad-first-stages"),
        ("first_stages.deepct-bm25.index", "squad-fit", "squad"),
        ("first_stages.bow-deepct.query_weights", "squad-fit", "squad-first-stages"),
    } <= uses
    assert not {use for use in uses if "oracle" in use[0]}


def test_a_model_carries_the_uses_of_those_it_starts_from(given: dict) -> None:
    given["models"]["prop-rop"]["select_on"] = {"dataset": "squad-train"}
    given["models"]["prop-further"]["start"] = "prop-rop"
    given["experiments"] = {
        "further": {"dataset": "squad", "models": ["prop-further"], "regimes": ["zero-shot"]}
    }
    uses = query_uses(parse_config(given))
    assert [(use.key, use.dataset) for use in uses] == [("models.prop-rop.select_on.dataset", "squad-train")]


def test_test_queries_under_another_name_are_refused(given: dict) -> None:
    given["datasets"]["squad-copy"] = {**given["datasets"]["squad"], "label": "copy", "train_on": None}
    given["datasets"]["squad"]["train_on"] = "squad-copy"
    with pytest.raises(
        ConfigError, match=r"train_on: .* has its queries from embedded:squad-dev too; .* not train"
    ):
        parse_config(given)


def test_tuning_on_a_sample_of_the_tested_file_is_refused(given: dict) -> None:
    given["datasets"]["squad-held-out"]["queries"] = dict(given["datasets"]["squad"]["queries"])
    with pytest.raises(ConfigError, match=r"first_stages\.tf-bm25\.tuned_on: .* must not choose parameters"):
        parse_config(given)
