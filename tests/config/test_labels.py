"""Models are called what they are."""

from pathlib import Path

import pytest

from base_config import base_config
from irpretrain.config import load_config, parse_config
from irpretrain.config.experiments import ModelConfig
from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.text import EncoderConfig

ROOT = Path(__file__).resolve().parents[2]


def test_a_re_ranker_given_by_its_path_is_no_untrained_encoder():
    config = load_config(ROOT / "tests/base.yaml")
    given = ModelConfig(label="theirs", cross_encoder="models/theirs")
    config = config.model_copy(update={"models": {"theirs": given, **config.models}})
    assert config.model_label("theirs") == "theirs (not trained here)"
    assert config.model_label("control").endswith("fresh score head)")
    own = ModelConfig(label="BERT", encoder=EncoderConfig(path="bert", label="BERT-base", layers=6))
    config = config.model_copy(update={"models": {"own": own, **config.models}})
    assert config.model_label("own") == "BERT (BERT-base, first 6 layers, fresh score head)"
    assert config.control_model(["own", "control"]) == "control", "that of section `encoder`"
    cut = ModelConfig(label="MaxP", passages=PassagesConfig(words=100))
    with_passages = config.model_copy(update={"models": {**config.models, "cut": cut}})
    assert with_passages.model_label("cut").endswith("fresh score head)")
    kept = own.model_copy(update={"training": {"head": "kept"}})
    renamed = config.model_copy(update={"models": {**config.models, "own": kept}})
    assert renamed.model_label("own") == "BERT (pre-trained elsewhere)"
    assert config.encoder_labels(["own", "theirs"]) == "BERT-base, first 6 layers"
    assert config.control_model(["theirs", "prop", "control"]) == "control"


@pytest.mark.parametrize("section", ["models", "datasets"])
def test_a_label_that_is_null_is_the_key(section):
    given = base_config()
    name = next(iter(given[section]))
    given[section][name]["label"] = None
    assert getattr(parse_config(given), section)[name].label == name
