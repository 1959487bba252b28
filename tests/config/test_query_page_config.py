"""Pages of queries in the configuration: names that lead nowhere, and which pages belong to a run."""

from __future__ import annotations

from typing import Any

import pytest

from base_config import base_config, message
from irpretrain.config import parse_config
from irpretrain.config.usage import active_query_pages, wanted_models
from irpretrain.errors import ConfigError


@pytest.fixture
def given() -> dict[str, Any]:
    """The default with PROP's zero-shot experiment alone."""
    content = base_config()
    experiments = {"zero-shot": content["experiments"]["zero-shot"]}
    return {**content, "report": {"papers": ["prop"]}, "experiments": experiments}


def page(left: Any = "bm25", right: Any = "prop", **options: Any) -> dict[str, Any]:
    sides = {
        side: {"model": shown} if isinstance(shown, str) else shown
        for side, shown in (("left", left), ("right", right))
    }
    return {"dataset": "squad", **sides, **options}


def test_the_default_has_a_page_that_belongs_to_its_run(given):
    assert list(active_query_pages(parse_config(given))) == ["squad"]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ({"a": page("ql"), "b": page("untrained")}, ["a", "b"]),
        ({"a": page("tf-bm25")}, []),
        ({"a": page(right="php")}, []),
        ({"a": page(right={"model": "prop", "regime": "full"})}, []),
        ({"a": page(right={"model": "prop", "seed": 2})}, []),
        ({"a": page(candidates="ql")}, []),
        ({"a": page(dataset="squad-train")}, []),
    ],
)
def test_a_page_belongs_to_a_run_where_experiments_make_both_rankings(given, pages, expected):
    given["query_pages"] = pages
    assert list(active_query_pages(parse_config(given))) == expected


def test_no_page_belongs_to_a_run_of_other_papers(given):
    given["report"] = {"papers": ["php"]}
    given["experiments"]["other"] = {
        "papers": ["php"], "dataset": "squad", "models": ["untrained"], "regimes": ["zero-shot"]
    }  # fmt: skip
    assert active_query_pages(parse_config(given)) == {}


def test_a_page_needs_its_models(given):
    given["query_pages"] = {"a": page(right="php")}
    assert {"php", "php-shp", "php-hp-only"} <= set(wanted_models(parse_config(given)))


def test_names_that_lead_nowhere_are_refused(given):
    given["query_pages"] = {
        "one": page("bm26", "prob", dataset="squat", candidates="bm"),
        "two": page({"model": "ql", "regime": "full"}),
        "three": page("bm25", "ql", attributions={}),
        "four": page("bm25", {"model": "prop", "regime": "full"}, attributions={}),
    }
    text = message(given)
    for expected in (
        "query_pages.one.dataset: 'squat' is not in datasets; did you mean squad?",
        "query_pages.one.candidates: 'bm' is not in first_stages",
        "query_pages.one.left.model: 'bm26' is not in first_stages and models; did you mean bm25?",
        "query_pages.one.right.model: 'prob' is not in first_stages and models; did you mean prop?",
        "query_pages.two.left.regime: ql is a first stage, which is not trained; leave regime out",
        "query_pages.three.attributions: the scores of bm25 and ql cannot be taken apart",
        "query_pages.four.attributions: the scores of bm25 and prop cannot be taken apart",
    ):
        assert expected in text


def test_a_ranker_without_pre_training_is_shown_fine_tuned_only(given):
    given["models"]["knrm"] = {"label": "KNRM", "neural": {"type": "knrm", "collection": "questions"}}
    given["query_pages"] = {"a": page(right="knrm")}
    with pytest.raises(
        ConfigError, match=r"query_pages\.a\.right\.regime: knrm is a ranker without pre-training"
    ):
        parse_config(given)
    given["query_pages"] = {"a": page(right={"model": "knrm", "regime": "full"})}
    assert parse_config(given).query_pages["a"].right.regime == "full"
