"""A model is scored with the word pieces and token types that it was trained with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from irpretrain.foundation.errors import InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.reranker import load_reranker
from irpretrain.text.word_pieces import load_tokenizer
from tiny_models import VOCABULARY, write_encoder

DESCRIBED = {"tokenizer_class": "BertTokenizer"}
PAIR = ("word01 cab", "word02 word03 bad")
RULES = [
    {"do_lower_case": False},
    {"strip_accents": False},
    {"tokenize_chinese_chars": False},
    {"tokenizer_class": "RobertaTokenizer"},
]


def describe(directory: Path, **changes: Any) -> Path:
    (directory / "tokenizer_config.json").write_text(json.dumps(DESCRIBED | changes))
    return directory


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rules_that_contradict_tokenizer_json_are_refused(tmp_path: Path, rule: dict[str, Any]) -> None:
    """Transformers follows tokenizer_config.json, the tokenizers library tokenizer.json."""
    model = tmp_path / "model"
    CrossEncoderModel.from_encoder(write_encoder(tmp_path / "encoder")).save(model)
    with pytest.raises(InputError, match=r"tokenizer\.json.*tokenizer_config\.json"):
        CrossEncoderModel.from_encoder(describe(tmp_path / "encoder", **rule))
    with pytest.raises(InputError, match=r"tokenizer\.json.*tokenizer_config\.json"):
        load_reranker(describe(model, **rule))


def test_added_tokens_are_saved_with_the_model(tmp_path: Path) -> None:
    encoder = write_encoder(tmp_path / "encoder", vocab_size=len(VOCABULARY) + 1)
    (encoder / "tokenizer.json").unlink()
    (encoder / "added_tokens.json").write_text(json.dumps({"newtoken": len(VOCABULARY)}))
    CrossEncoderModel.from_encoder(encoder).save(tmp_path / "model")
    before, after = (
        load_tokenizer(folder).encode(["word01 newtoken"])[0].tolist()
        for folder in (encoder, tmp_path / "model")
    )
    assert after == before
    assert after[-1] == len(VOCABULARY)


def test_token_types_are_those_of_the_tokenizer(tmp_path: Path) -> None:
    """Transformers gives a BERT whose tokenizer makes no token types the type 0 throughout."""
    encoder = write_encoder(tmp_path / "encoder", initializer_range=0.3)
    describe(encoder, model_input_names=["input_ids", "attention_mask"])
    model = CrossEncoderModel.from_encoder(encoder)
    model.save(tmp_path / "model")
    sequences = load_reranker(tmp_path / "model").tokenizer.join(
        [tuple(load_tokenizer(encoder).encode(list(PAIR)))]
    )
    called = AutoTokenizer.from_pretrained(encoder)(*PAIR, return_tensors="pt")
    with torch.inference_mode():
        ours, _ = model.eval()(*map(torch.from_numpy, sequences))
        theirs = model.classifier(**called).logits[:, 0]
        reranked = load_reranker(tmp_path / "model")(*map(torch.from_numpy, sequences))
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert torch.allclose(reranked, theirs, atol=1e-6)
