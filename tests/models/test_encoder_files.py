"""A wrong encoder is refused by its files alone, with what is wrong and what to give instead."""

import json
import os
import re
import shutil

import pytest

from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.errors import InputError, IRPretrainError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_files import (
    card_languages,
    check_encoder_files,
    check_reranker_files,
    model_directory,
)
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.text.pair_tokenizer import load_tokenizer as load_hub_tokenizer
from irpretrain.text.word_pieces import load_tokenizer
from tiny_models import write_family

OPTIONS = EncoderConfig(path="x", label="x")


def fault(folder, lengths=None, **options):
    with pytest.raises(IRPretrainError) as caught:
        check_encoder_files(folder, OPTIONS.model_copy(update=options), lengths or {})
    return str(caught.value)


@pytest.fixture
def folder(tiny_encoder, tmp_path):
    return shutil.copytree(tiny_encoder, tmp_path / "encoder")


@pytest.mark.parametrize(
    ("front_matter", "languages"),
    [
        ("language: no", ["no"]),
        ("language: [de, fr]", ["de", "fr"]),
        ("date: 2020-13-45\nlanguage: de", ["de"]),
        ("x: !!bool x\nlanguage: de", []),
        ("- a", []),
        ("x: " + "[" * 3000, []),
    ],
)
def test_whatever_a_card_holds_its_languages_are_read_or_none(tmp_path, front_matter, languages):
    (tmp_path / "README.md").write_text(f"---\n{front_matter}\n---\n# A model\n")
    assert card_languages(tmp_path) == languages


def test_a_sound_encoder_passes(folder):
    size = load_tokenizer(folder).size
    options = OPTIONS.model_copy(update={"vocabulary_size": size, "layers": 2})
    check_encoder_files(folder, options, {"pretraining.max_length": 64})


def test_what_is_no_encoder(folder, tmp_path):
    assert "there is no such folder" in fault(tmp_path / "absent")
    assert "this is a file" in fault(folder / "config.json")
    assert "there is no config.json" in fault(tmp_path)


@pytest.mark.parametrize("removed", [("model.safetensors",), ("tokenizer.json", "vocab.txt")])
def test_missing_files_are_named(folder, removed):
    for name in removed:
        (folder / name).unlink()
    text = fault(folder)
    assert f"there is no {removed[0]}" in text
    assert "Give the Hugging Face directory of an encoder" in text


def test_a_broken_configuration(folder):
    (folder / "config.json").write_text("{")
    assert "this is not JSON" in fault(folder)


ODD_VALUES = [
    ("num_attention_heads", -1, "-1, not a whole number from 1"),
    ("num_attention_heads", 5, None),
    ("num_attention_heads", True, "true, not a whole number from 1"),
    ("num_hidden_layers", 0, "0, not a whole number from 1"),
    ("hidden_size", "wide", '"wide", not a whole number from 1'),
    ("intermediate_size", 6.5, "6.5, not a whole number from 1"),
    ("hidden_dropout_prob", 1.5, "1.5, not a number from 0 to 1"),
    ("hidden_dropout_prob", "x", '"x", not a number from 0 to 1'),
    ("attention_probs_dropout_prob", float("nan"), "NaN, not a number from 0 to 1"),
    ("classifier_dropout", float("nan"), "NaN, not a number from 0 to 1"),
    ("initializer_range", -0.5, "-0.5, not a number from 0"),
    ("layer_norm_eps", float("inf"), "Infinity, not a finite number"),
    ("temperature", float("nan"), "NaN, not a finite number"),
    ("architectures", 3, "3, not a list"),
]


@pytest.mark.parametrize(("key", "value", "reason"), ODD_VALUES)
def test_an_odd_value_is_named_before_any_job(folder, key, value, reason):
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**described, key: value}))
    expected = f"{key} is {reason}" if reason else "hidden_size is 32, which 5 attention heads cannot share"
    for check in (check_reranker_files, TermWeightRegressor.load):
        with pytest.raises(InputError, match=re.escape(expected)):
            check(folder)
    assert expected in fault(folder)


def test_values_that_only_a_network_notices(tmp_path):
    folder = write_family(tmp_path / "deberta", "deberta-v3", pooler_hidden_act="gelu")
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**described, "pooler_hidden_act": "swim"}))
    with pytest.raises(InputError, match="the model cannot be loaded: 'swim'"):
        CrossEncoderModel.from_encoder(folder)


def test_sizes_that_the_encoder_does_not_have(folder):
    size = load_tokenizer(folder).size
    assert f"has {size} entries, expected 30,522" in fault(folder, vocabulary_size=30522)
    assert "encoder.layers: 3 layers asked for" in fault(folder, layers=3)
    three = OPTIONS.model_copy(update={"layers": 3})
    with pytest.raises(IRPretrainError, match=r"models\.own\.encoder\.layers: 3 layers"):
        check_encoder_files(folder, three, {}, "models.own.encoder")
    text = fault(folder, {"pretraining.max_length": 64, "reranking.max_length": 65})
    assert "reranking.max_length: 65 is longer than the 64 positions" in text


def test_a_broken_tokenizer_file(folder):
    (folder / "tokenizer.json").write_text("[]")
    assert "this is not a tokenizer" in fault(folder, vocabulary_size=1)


@pytest.mark.parametrize("missing", ["tokenizer.json", "vocab.txt"])
def test_a_tokenizer_without_a_piece_for_unknown_words_is_refused(folder, missing):
    for name, written, changed in (
        ("tokenizer.json", '"[UNK]": 1,', '"[id]": 1,'),
        ("vocab.txt", "[UNK]", "[id]"),
    ):
        path = folder / name
        path.write_text(path.read_text().replace(written, changed))
    (folder / missing).unlink()
    named = "tokenizer.json" if missing != "tokenizer.json" else ""
    for load in (load_tokenizer, load_hub_tokenizer):
        with pytest.raises(InputError, match="Missing \\[UNK\\] token from the vocabulary") as caught:
            load(folder)
        assert caught.value.path == folder / named
        assert "whose unk_token is in its vocabulary" in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "vocab.txt"])
def test_a_pipe_in_place_of_a_models_file_is_refused_at_once(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert f"{folder / name}: this is a pipe or a device" in fault(folder)
    with pytest.raises(InputError, match="this is a pipe or a device"):
        model_directory(folder, "")
