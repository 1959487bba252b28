"""Data sets whose judgements follow from answers: they are tested on, and teach and choose nothing."""

from __future__ import annotations

import pytest

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.foundation.errors import ConfigError

ZERO_SHOT = {"dataset": "entity-questions", "models": ["control"], "regimes": ["zero-shot"]}


@pytest.fixture
def given():
    """The default with an experiment on EntityQuestions, which the catalogue describes."""
    found = base_config()
    found["experiments"]["asked"] = dict(ZERO_SHOT)
    return found


def test_it_is_tested_zero_shot(given):
    config = parse_config(given)
    assert config.datasets["entity-questions"].by_answers
    assert not config.datasets["squad"].by_answers


def test_nothing_is_fine_tuned_on_it(given):
    given["experiments"]["asked"]["regimes"] = ["zero-shot", "few-shot-10"]
    with pytest.raises(ConfigError, match=r"experiments\.asked\.regimes: entity-questions judges by answers"):
        parse_config(given)


def test_models_trained_on_other_questions_can_be_tested_on_it(given):
    given["experiments"]["asked"]["regimes"] = ["full"]
    given["datasets"]["entity-questions"] = {"train_on": "squad-train"}
    parse_config(given)


@pytest.mark.parametrize(
    ("section", "name", "change"),
    [
        ("models", "prop", {"select_on": {"dataset": "entity-questions"}, "training": {"snapshots": [100]}}),
        ("first_stages", "tf-bm25", {"tuned_on": "entity-questions"}),
        ("term_weights", "deepct", {"dataset": "entity-questions"}),
        ("predictors", "simple", {"dataset": "entity-questions"}),
    ],
)
def test_nothing_learns_from_it_or_is_chosen_by_it(given, section, name, change):
    given[section][name].update(change)
    key = "select_on.dataset" if section == "models" else next(iter(change))
    with pytest.raises(ConfigError, match=rf"{section}\.{name}\.{key}: entity-questions judges by answers"):
        parse_config(given)
