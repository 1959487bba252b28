"""Every way in which queries of one data set have a part in results on another is listed, and refused by name."""

from __future__ import annotations

import pytest

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.consistency import query_uses
from irpretrain.foundation.errors import ConfigError


@pytest.fixture
def given() -> dict:
    return base_config()


def test_the_default_uses_queries_of_other_data_sets(given: dict) -> None:
    uses = {(use.key, use.dataset, use.tested_dataset) for use in query_uses(parse_config(given))}
    assert {
        ("datasets.squad.train_on", "squad-train", "squad"),
        ("predictors.simple.dataset", "squad-questions", "squad"),
        ("first_stages.tf-bm25.tuned_on", "squad-held-out", "squad-first-stages"),
        ("term_weights.deepct.dataset", "squad-fit", "squad"),
        ("term_weights.deepct-query.dataset", "squad-fit", "squad-first-stages"),
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


@pytest.mark.parametrize("named", ["select_on", "training_candidates"])
def test_a_first_stage_that_was_tuned_on_the_tested_queries_is_found_wherever_it_is_named(
    given: dict, named: str
) -> None:
    given["first_stages"]["tuned"] = {"label": "Tuned", "tuned_on": "squad"}
    experiment = {"dataset": "squad", "models": ["prop-rop"], "regimes": ["full"]}
    given["experiments"] = {"tested": experiment}
    if named == "select_on":
        given["models"]["prop-rop"]["select_on"] = {"dataset": "squad-held-out", "candidates": "tuned"}
    else:
        runs = {"squad": {"format": "trec", "path": "x.run"}}
        given["first_stages"]["others"] = {"label": "Others", "runs": runs, "training_candidates": "tuned"}
        experiment["candidates"] = "others"
    with pytest.raises(
        ConfigError, match=r"first_stages\.tuned\.tuned_on: experiments\.tested tests on squad; "
    ):
        parse_config(given)
    given["first_stages"]["tuned"]["tuned_on"] = "squad-held-out"
    uses = query_uses(parse_config(given))
    assert ("first_stages.tuned.tuned_on", "squad-held-out") in [(use.key, use.dataset) for use in uses]


def test_fields_of_the_same_topics_that_train_on_their_own_folds_are_no_use(given: dict) -> None:
    """DeepCT-Query on titles, descriptions and narratives."""
    for field in ("title", "description"):
        queries = {"format": "trec", "path": "topics.txt", "options": {"fields": [field]}}
        given["datasets"][field] = {**given["datasets"]["squad-train"], "label": field, "queries": queries}
        given["term_weights"][field] = {"label": field, "kind": "queries", "dataset": field}
        given["first_stages"][field] = {"label": field, "model": "indri", "query_weights": field}
        given["experiments"][field] = {"dataset": field, "first_stages": [field]}
    fields = {
        use for use in query_uses(parse_config(given)) if use.tested_dataset in ("title", "description")
    }
    assert not fields
    given["first_stages"]["title"]["query_weights"] = "description"
    uses = [
        (use.key, use.dataset) for use in query_uses(parse_config(given)) if use.tested_dataset == "title"
    ]
    assert uses == [("term_weights.description.dataset", "description")]
