"""The longer training of DeepCT is the default's but for its length and its arithmetic, and is tested fairly."""

from __future__ import annotations

import pytest
from overlay_layers import ROOT, flat, load

from irpretrain.config import Config


@pytest.fixture(scope="module")
def config() -> Config:
    return load(ROOT / "configs/deepct-long.yaml")


def test_only_length_rate_and_arithmetic_differ_from_the_default(config):
    ours, default = (
        flat(given.term_weights["deepct"].model_dump(exclude={"label"}))
        for given in (config, load(ROOT / "config.yaml"))
    )
    assert {key for key in ours if ours[key] != default[key]} <= {
        "training.steps",
        "training.optimiser.learning_rate",
        "training.compute.precision",
        "inference.compute.precision",
    }
    assert ours["training.steps"] > default["training.steps"]


def test_what_is_compared_is_tuned_on_the_same_held_out_articles(config):
    experiment = config.experiments["first-stages-deepct"]
    tuned = {config.first_stages[name].tuned_on for name in experiment.first_stages if name != "oracle-bm25"}
    assert tuned == {"squad-held-out"}
    fit, held_out = (config.corpora[name].options["articles"] for name in ("squad-train", "squad-held-out"))
    assert fit[1] <= held_out[0]
    assert config.datasets[experiment.dataset].sample_queries is None
