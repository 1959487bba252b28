"""Models are called what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from base_config import base_config
from base_config import message as refusal
from irpretrain.config import load_config, parse_config
from irpretrain.config.experiments import ModelConfig
from irpretrain.config.labels import control_model, encoder_labels, model_label
from irpretrain.config.text import EncoderConfig

ROOT = Path(__file__).resolve().parents[2]


def test_a_re_ranker_given_by_its_path_is_no_untrained_encoder():
    config = load_config(ROOT / "tests/base.yaml")
    given = ModelConfig(label="theirs", cross_encoder="models/theirs")
    config = config.model_copy(update={"models": {"theirs": given, **config.models}})
    assert model_label(config, "theirs") == "theirs (not trained here)"
    assert model_label(config, "control").endswith("fresh score head)")
    own = ModelConfig(label="BERT", encoder=EncoderConfig(path="bert", label="BERT-base", layers=6))
    config = config.model_copy(update={"models": {"own": own, **config.models}})
    assert model_label(config, "own") == "BERT (BERT-base, first 6 layers, fresh score head)"
    assert control_model(config, ["own", "control"]) == "control", "that of section `encoder`"
    kept = own.model_copy(update={"training": {"head": "kept"}})
    renamed = config.model_copy(update={"models": {**config.models, "own": kept}})
    assert model_label(renamed, "own") == "BERT (pre-trained elsewhere)"
    assert encoder_labels(config, ["own", "theirs"]) == "BERT-base, first 6 layers"
    assert control_model(config, ["theirs", "prop", "control"]) == "control"


def of_labels(first: str, second: str) -> dict[str, Any]:
    given = base_config()
    given["first_stages"] |= {
        "one": {"label": first, "candidates": "bm25", "model": "ql-jm"},
        "two": {"label": second, "candidates": "bm25", "model": "ql"},
    }
    given["experiments"] = {
        "only": {
            "dataset": "squad",
            "first_stages": ["one", "two"],
            "models": ["prop"],
            "regimes": ["zero-shot"],
        }
    }
    return given


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("BM25", "QL, smoothed"), "bm25 and one have one label, 'BM25', so the table of squad"),
        (("the same", " the  same"), "one and two have one label, 'the same'"),
        (("", "other"), "first_stages.one.label: is blank"),
        (("one", " \u200b "), "first_stages.two.label: is blank"),
    ],
)
def test_rows_that_could_not_be_told_apart_are_refused(labels, message):
    given = of_labels(*labels)
    assert message in refusal(given)


def test_rows_of_two_data_sets_may_have_one_label():
    given = of_labels("mine", "other")
    given["first_stages"]["three"] = {"label": "mine", "candidates": "bm25"}
    parse_config(given)


@pytest.mark.parametrize("section", ["models", "datasets"])
def test_a_label_that_is_null_is_the_key(section):
    given = base_config()
    name = next(iter(given[section]))
    given[section][name]["label"] = None
    assert getattr(parse_config(given), section)[name].label == name


def test_blank_labels_of_every_section_are_refused():
    for section in ("models", "datasets", "predictors"):
        given = base_config()
        name = next(iter(given[section]))
        given[section][name]["label"] = " "
        assert f"{section}.{name}.label: is blank" in refusal(given)
