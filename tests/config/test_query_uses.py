"""Every way in which queries of one data set have a part in results on another is listed, and refused by name."""

import pytest

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.consistency import query_uses


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
