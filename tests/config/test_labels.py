"""Models are called what they are."""

from __future__ import annotations

from pathlib import Path

from irpretrain.config import load_config
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
    assert encoder_labels(config, ["own", "theirs"]) == "BERT-base, first 6 layers"
    assert control_model(config, ["theirs", "prop", "control"]) == "control"
