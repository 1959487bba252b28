"""A wrong encoder is refused by its files alone, with what is wrong and what to give instead."""

import shutil
import subprocess
import sys

import pytest

from irpretrain.config.text import EncoderConfig
from irpretrain.errors import IRPretrainError
from irpretrain.models.encoder_files import check_encoder_files
from irpretrain.text.word_pieces import load_tokenizer

OPTIONS = EncoderConfig(path="x", label="x")


def fault(folder, lengths=None, **options):
    with pytest.raises(IRPretrainError) as caught:
        check_encoder_files(folder, OPTIONS.model_copy(update=options), lengths or {})
    return str(caught.value)


@pytest.fixture
def folder(tiny_encoder, tmp_path):
    return shutil.copytree(tiny_encoder, tmp_path / "encoder")


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


def test_the_check_needs_no_torch():
    code = "import sys, irpretrain.models.encoder_files; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
