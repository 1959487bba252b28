"""Weights of a given model are all read and finite, or the model is refused: extra ones, missing ones, NaN."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from irpretrain.foundation.errors import InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_files import JSON_FILES, check_reranker_files
from irpretrain.models.reranker import load_reranker
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.text.word_pieces import TOKENIZER_JSON, load_tokenizer
from tiny_models import write_bert, write_encoder

DISTANCES = "encoder.layer.0.attention.self.distance_embedding.weight"
QUANTISED = "encoder.layer.1.output.dense.weight"


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies a model's folder with other weights or another config.json."""

    def change(source: Path, weights: Callable[[dict[str, Tensor]], object] = len, **options: Any) -> Path:
        folder = tmp_path / "changed"
        shutil.copytree(source, folder)
        described = json.loads((folder / "config.json").read_text()) | options
        (folder / "config.json").write_text(json.dumps(described))
        tensors = load_file(folder / "model.safetensors")
        weights(tensors)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return folder

    return change


OF_ENCODERS = [CrossEncoderModel.from_encoder, TermWeightRegressor.from_encoder]
DAMAGES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "layer": (
        len,
        {"num_hidden_layers": 1},
        "holds 16 weights that the model of its config.json does not read",
    ),
    "distances": (lambda w: w.update({DISTANCES: torch.zeros(127, 8)}), {}, f"such as {DISTANCES}"),
    "relative": (
        len,
        {"position_embedding_type": "relative_key"},
        "position_embedding_type relative_key, which",
    ),
    "one-nan": (lambda w: w[QUANTISED][5, 7].fill_(torch.nan), {}, f"{QUANTISED} hold NaN or infinity"),
    "one-infinity": (lambda w: w[QUANTISED][5, 7].fill_(-torch.inf), {}, f"{QUANTISED} hold NaN or infinity"),
    "missing": (lambda w: w.pop("encoder.layer.1.output.dense.bias"), {}, "1 parameters are missing"),
    "quantised": (
        lambda w: w.update({QUANTISED: w[QUANTISED].mul(100).to(torch.int8)}),
        {},
        f"the weights {QUANTISED} are of type I8",
    ),
    "zeros": (
        lambda w: w[QUANTISED].zero_(),
        {},
        f"model.safetensors: the weights .*{QUANTISED} are all 0: the file may be torn",
    ),
    "norm": (lambda w: w["embeddings.LayerNorm.weight"].zero_(), {}, "embeddings.LayerNorm.weight are all 0"),
}


@pytest.mark.parametrize("load", OF_ENCODERS)
@pytest.mark.parametrize(("damage", "options", "message"), DAMAGES.values(), ids=DAMAGES)
def test_an_encoder_whose_weights_are_not_those_of_its_configuration(
    load: Any, damage: Any, options: dict[str, Any], message: str, tiny_encoder: Path, changed: Any
) -> None:
    folder = changed(tiny_encoder, damage, **options)
    with pytest.raises(InputError, match=message):
        load(folder)


@pytest.mark.parametrize("load", [load_reranker, CrossEncoderModel.load])
@pytest.mark.parametrize("extra", ["bert.encoder.layer.2.output.dense.bias", "classifier.extra.weight"])
def test_a_cross_encoder_with_extra_weights(load: Any, extra: str, tmp_path: Path, changed: Any) -> None:
    folder = changed(write_bert(tmp_path / "model", labels=1), lambda w: w.update({extra: torch.zeros(3)}))
    with pytest.raises(InputError, match=f"such as {extra}"):
        load(folder)


def test_a_regressor_with_extra_weights(tiny_encoder: Path, tmp_path: Path, changed: Any) -> None:
    TermWeightRegressor.from_encoder(tiny_encoder).save(tmp_path / "model")
    with pytest.raises(InputError, match="holds 16 weights"):
        TermWeightRegressor.load(changed(tmp_path / "model", num_hidden_layers=1))


def test_what_encoders_may_hold_beside_their_layers(tiny_encoder: Path, changed: Any) -> None:
    """Heads of other tasks, the pooler, and numbers of positions that older versions saved."""
    names = ["cls.predictions.bias", "cls.seq_relationship.weight", "qa_outputs.weight", "lm_head.bias"]
    extra = {name: torch.zeros(3) for name in names} | {"embeddings.position_ids": torch.arange(64)[None]}
    folder = changed(tiny_encoder, lambda weights: weights.update(extra))
    for load in OF_ENCODERS:
        load(folder)


def test_an_encoder_with_one_token_type(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "encoder", type_vocab_size=1)
    with pytest.raises(InputError, match="its type_vocab_size is 1"):
        CrossEncoderModel.from_encoder(folder)
    TermWeightRegressor.from_encoder(folder)  # which reads one text


def test_weights_that_sound_models_have_as_zeros(tiny_encoder: Path, changed: Any) -> None:
    def zero(weights: dict[str, Tensor]) -> None:
        weights["embeddings.token_type_embeddings.weight"].zero_()  # of RoBERTa
        weights["embeddings.word_embeddings.weight"][0].zero_()  # of padding
        weights["encoder.layer.0.output.dense.bias"].zero_()

    folder = changed(tiny_encoder, zero)
    for load in OF_ENCODERS:
        load(folder)


def test_every_other_file_of_weights_that_is_torn(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert", labels=1)
    CrossEncoderModel.load(folder).save(tmp_path / "model")
    path = tmp_path / "model/mlm_head.safetensors"
    save_file({name: torch.zeros_like(tensor) for name, tensor in load_file(path).items()}, path)
    with pytest.raises(InputError, match=r"mlm_head\.safetensors: the weights .* are all 0"):
        CrossEncoderModel.load(tmp_path / "model")


@pytest.mark.parametrize("name", JSON_FILES)
def test_a_key_that_occurs_twice(name: str, tmp_path: Path) -> None:
    """Libraries take the last value, so that the same texts would get other scores."""
    folder = write_bert(tmp_path / "bert", labels=1)
    (folder / name).write_text('{"cls_token": "[CLS]", "cls_token": "[SEP]"}')
    of_file = load_tokenizer if name in TOKENIZER_JSON else CrossEncoderModel.load
    for load in (load_reranker, check_reranker_files, of_file):
        with pytest.raises(InputError, match=f"{name}: .* has the key 'cls_token' twice"):
            load(folder)


def test_a_special_token_that_is_null(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert", labels=1)
    described = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "mask")}
    (folder / "special_tokens_map.json").write_text(json.dumps({**described, "cls_token": None}))
    with pytest.raises(InputError, match=r"marks texts by .* as its token 'None'"):
        load_reranker(folder)
