"""Weightings of words as indexes that first stages name."""

import pytest

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.run import longest_sequences
from irpretrain.foundation.errors import ConfigError


@pytest.fixture
def given():
    """The default without DeepCT's own experiments."""
    return {**base_config(), "report": {"papers": ["prop"]}}


def test_what_a_first_stage_searches_is_used_only_where_an_experiment_shows_it(given):
    given["first_stages"] = {"roots": {"label": "DeepCT", "index": "deepct-root"}}
    assert parse_config(given).used_names("term_weights") == []
    given["experiments"]["stages"] = {"dataset": "squad", "models": [], "first_stages": ["roots"]}
    config = parse_config(given)
    assert config.used_names("term_weights") == ["deepct-root", "deepct"]
    assert "squad-fit" in config.used_names("datasets")
    assert longest_sequences(config, "encoder")["term_weights.deepct.max_length"] == 128


def test_a_model_that_is_not_fine_tuned_needs_no_positions_for_it(given):
    encoders = {"short": {"path": "short", "label": "short"}}
    given["models"]["short"] = {**given["models"]["prop"], "label": "short", "encoder": encoders["short"]}
    zero_shot = {"dataset": "squad", "models": ["short"], "regimes": ["zero-shot"]}
    given["experiments"]["short"] = zero_shot
    config = parse_config(given)
    key = config.encoder_key("short")
    assert set(longest_sequences(config, key)) == {"reranking.max_length", "pretraining.max_length"}
    given["experiments"]["short"] = {**zero_shot, "regimes": ["full"]}
    assert "finetuning.max_length" in longest_sequences(parse_config(given), key)


def test_what_no_experiment_uses_may_name_what_is_not_there(given):
    given["datasets"]["squad-fit"] = None
    given["first_stages"]["lost"] = {"label": "lost", "index": "no-such-index", "tuned_on": "no-such-queries"}
    taught = {"label": "lost", "collection": "no-such-texts", "dataset": "no-such-queries"}
    given["predictors"]["lost"], given["term_weights"]["lost"] = {**taught, "setting": "I"}, taught
    of_another_paper = {
        "dataset": "no-such-queries",
        "candidates": "lost",
        "models": ["lost"],
        "papers": ["php"],
    }
    given["experiments"]["lost"] = {**of_another_paper, "regimes": ["zero-shot"]}
    parse_config(given)
    given["experiments"]["stages"] = {"dataset": "squad", "first_stages": ["lost", "deepct-bm25"]}
    with pytest.raises(ConfigError) as error:
        parse_config(given)
    for fault in (
        "first_stages.lost.index: 'no-such-index'",
        "first_stages.lost.tuned_on: 'no-such-queries'",
        "term_weights.deepct.dataset: 'squad-fit'",
    ):
        assert fault in str(error.value)


def test_queries_are_weighed_by_models_of_their_other_folds_and_by_the_oracle(given):
    given["term_weights"]["oracle"]["dataset"] = "squad-fit"
    stages = ["bow-deepct", "oracle-bm25"]
    given["experiments"]["stages"] = {"dataset": "squad-fit", "first_stages": stages}
    assert set(parse_config(given).used_names("term_weights")) == {"deepct-query", "oracle"}


@pytest.mark.parametrize(
    ("used", "cut"),
    [
        ({"first_stages": ["deepct-bm25"]}, []),  # passages are weighed whatever the queries
        ({"first_stages": ["bow-deepct"]}, ["squad-fit"]),
        ({"models": ["prop"], "regimes": ["zero-shot"]}, []),
        ({"models": ["prop"], "regimes": ["full"]}, ["squad-train"]),
    ],
)
def test_queries_that_teach_models_or_weights_of_queries_are_cut_into_folds(given, used, cut):
    given["experiments"] = {"only": {"dataset": "squad", **used}}
    config = parse_config(given)
    assert [dataset for dataset in config.datasets if config.needs_folds(dataset)] == cut


def test_a_distribution_uses_its_weightings_where_the_report_shows_deepct(given):
    given["experiments"] = {"zero-shot": given["experiments"]["zero-shot"]}
    displayed = {"label": "x", "corpora": ["squad-held-out"], "weightings": ["tf", "deepct-root"]}
    given["weight_distributions"] = {"mine": displayed}
    assert parse_config(given).used_names("term_weights") == []
    given["report"] = {"papers": ["deepct"]}
    config = parse_config(given)
    assert config.used_names("term_weights") == ["deepct-root", "deepct"]
    assert {"squad-held-out", "squad-fit"} <= set(config.used_names("corpora"))
