"""Models are called what they are."""

from __future__ import annotations

from pathlib import Path

from irpretrain.config import load_config
from irpretrain.config.experiments import ModelConfig
from irpretrain.report.naming import control_model, model_label

ROOT = Path(__file__).resolve().parents[2]


def test_a_re_ranker_given_by_its_path_is_no_untrained_encoder():
    config = load_config(ROOT / "tests/base.yaml")
    given = ModelConfig(label="theirs", cross_encoder="models/theirs")
    config = config.model_copy(update={"models": {"theirs": given, **config.models}})
    assert model_label(config, "theirs") == "theirs (not trained here)"
    assert model_label(config, "untrained").endswith("fresh score head)")
    assert control_model(config, ["theirs", "prop", "untrained"]) == "untrained"
