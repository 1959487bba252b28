"""Rankers without pre-training, passages, and recipes of fine-tuning in the configuration."""

from typing import Any

import pytest

from base_config import base_config
from irpretrain.config import Config, parse_config
from irpretrain.config.base import deep_merge
from irpretrain.config.papers import read_recipe, recipe_names
from irpretrain.config.run import Run

RECIPES = {name: read_recipe(name) or {} for name in recipe_names()}


@pytest.fixture
def given() -> dict[str, Any]:
    """The default with a ranker and an experiment that fine-tunes it."""
    config = base_config()
    config["collections"]["searched"] = ["squad-train", "squad-dev"]
    config["models"]["knrm"] = {"label": "KNRM", "neural": {"type": "knrm", "collection": "searched"}}
    config["experiments"]["rankers"] = {"dataset": "squad", "models": ["knrm"], "regimes": ["full"]}
    return config


def test_it_is_valid(given: dict[str, Any]) -> None:
    config: Config = parse_config(given)
    assert config.models["knrm"].neural is not None
    assert {"squad-train", "squad-dev"} <= set(config.used_names("corpora"))


def test_a_model_s_own_keys_are_laid_over_the_recipe_s(given: dict[str, Any]) -> None:
    given["models"]["knrm"]["finetuning"] = {"learning_rates": [0.01], "optimiser": {"warmup": 0.5}}
    config: Config = parse_config(given)
    own = config.finetuning_of("knrm")
    assert (own.learning_rates, own.optimiser.warmup) == ([0.01], 0.5)
    assert own.batch_sizes == config.finetuning.batch_sizes
    assert own.optimiser.weight_decay == config.finetuning.optimiser.weight_decay
    assert config.finetuning_of("prop") == config.finetuning


def test_a_fine_tuned_model_reads_at_test_what_it_read_in_training(given: dict[str, Any]) -> None:
    given["finetuning"] |= {"max_length": 200, "query_length": 40}
    given["models"]["prop"]["finetuning"] = {"max_length": 256}
    config: Config = parse_config(given)
    lengths = {
        (name, regime): (found.max_length, found.query_length)
        for name in ("prop", "control")
        for regime in ("zero-shot", "full", "few-shot-10")
        if (found := config.reranking_of(name, regime))
    }
    common = (config.reranking.max_length, config.reranking.query_length)
    assert lengths[("prop", "zero-shot")] == lengths[("control", "zero-shot")] == common
    assert lengths[("prop", "full")] == lengths[("prop", "few-shot-10")] == (256, 40)
    assert lengths[("control", "full")] == (200, 40)


def test_a_fine_tuning_ranks_as_it_is_computed(given: dict[str, Any]) -> None:
    """Its job has the threads and GPUs of `finetuning`, and ranks for validation and test."""
    given["finetuning"]["compute"] = {"threads": 1, "device": "cpu", "precision": "bf16"}
    given["reranking"]["compute"] = {"threads": 8, "gpus": 1}
    config: Config = parse_config(given)
    assert config.reranking_of("prop").compute == config.reranking.compute
    assert config.reranking_of("prop", "full").compute == config.finetuning.compute
    zero_shot, full = (Run(config, "squad", "bm25", "prop", regime).facts for regime in ("zero-shot", "full"))
    assert zero_shot.reranking == ("compute.precision fp32",)
    assert full.reranking == ()
    assert "compute.precision bf16" in full.recipe


def test_a_model_s_own_passages_take_the_location_of_reranking_s(given: dict[str, Any]) -> None:
    given["models"]["maxp"] = {"label": "BERT-maxP", "passages": {"words": 50, "stride": 25}}
    config: Config = parse_config(given)
    assert config.reranking_of("prop") == config.reranking
    own = config.reranking_of("maxp")
    assert own.passages is not None
    assert (own.passages.words, own.passages.stride, own.max_length) == (50, 25, config.reranking.max_length)
    given["reranking"]["passages"] = {"words": 90}
    both: Config = parse_config(given)
    assert [both.reranking_of(name).passages.words for name in ("prop", "maxp")] == [90, 50]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_fills_what_is_left_out_and_a_key_given_wins(given: dict[str, Any], recipe: str) -> None:
    given["finetuning"] = {"recipe": recipe, "learning_rates": [3e-5], "optimiser": {"weight_decay": 0.2}}
    given["reranking"] = {}
    config: Config = parse_config(given)
    expected = {**RECIPES[recipe]["finetuning"], "learning_rates": [3e-5]}
    expected.pop("optimiser", None)
    found = config.finetuning.model_dump()
    assert {key: found[key] for key in expected} == expected
    assert config.finetuning.optimiser.weight_decay == 0.2
    read = config.reranking.model_dump()
    assert {key: read[key] for key in RECIPES[recipe]["reranking"]} == RECIPES[recipe]["reranking"]


def test_the_recipes_say_what_the_papers_say() -> None:
    assert RECIPES["prop"]["finetuning"]["batch_sizes"] == [16, 32]
    assert RECIPES["prop"]["finetuning"]["learning_rates"] == [1e-5, 2e-5]
    ares = RECIPES["ares"]["finetuning"]
    assert ares["batch_sizes"] == ares["few_shot_batch_sizes"] == [40 * 8 // 2]
    assert RECIPES["prop"]["finetuning"]["few_shot_queries"] == "first"
    assert (RECIPES["ares"]["finetuning"]["epochs"], RECIPES["ares"]["finetuning"]["loss"]) == (20, "hinge")
    php = RECIPES["php"]["finetuning"]
    assert (php["batch_sizes"], php["epochs"], php["learning_rates"]) == ([32], 1, [1e-5])
    # Section 4.3.3 excepts no regime, and Figure 4 goes to 64,000 queries.
    assert php["few_shot_batch_sizes"] == [32]
    assert php["optimiser"] == {"warmup": 0.01, "weight_decay": 0.1}
    assert all(recipe["finetuning"]["max_length"] == 512 for recipe in RECIPES.values())
    assert RECIPES["wikiformer"]["finetuning"]["query_length"] == 30  # and 480 of the document


def test_null_takes_back_what_an_earlier_file_gave(given: dict[str, Any]) -> None:
    """config.yaml gives a rate and lengths of its own, which would win over a recipe's."""
    retained: Config = parse_config(deep_merge(given, {"finetuning": {"recipe": "php"}}))
    assert retained.finetuning.learning_rates == [1e-4]
    back = {"finetuning": {"recipe": "php", "learning_rates": None, "max_length": None}}
    config: Config = parse_config(deep_merge(given, back))
    assert (config.finetuning.learning_rates, config.finetuning.max_length) == ([1e-5], 512)
