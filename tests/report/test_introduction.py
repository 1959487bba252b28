"""The report says what models were made from; what the papers are comes after a fold."""

from __future__ import annotations

from small_run import PROP_YAML

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.report.drawing import training_remark
from irpretrain.report.remarks import background


def test_it_says_what_models_were_trained_on(config: Config) -> None:
    remark = training_remark(config, ["control", "prop"])
    corpora = "enwiki-excerpt + squad-train-passages"
    assert remark == f"Pre-trained on {corpora}; encoder MiniLM-L6-H384, first 4 layers."
    assert (
        training_remark(config, ["control"])
        == "Encoder MiniLM-L6-H384, first 4 layers, not pre-trained further."
    )


def test_the_background_tells_what_is_compared() -> None:
    first, paper = background([load_published(PROP_YAML)])
    assert "cross-encoder" in first
    assert paper.startswith("PROP draws pairs of word sets")
