"""Encoders of several families with random weights and tokenizers of their own, for `configs/encoders.yaml`.

No package carries the weights of these families, so all are made alike: as many layers, units and heads, and a
vocabulary learnt from SQuAD's training paragraphs by the family's kind of tokenizer. The trainers of
WordPiece and Unigram number entries that are equally frequent by chance, so a second call gives other numbers to some.

    python benchmarks/random_encoders.py runs/encoders/random
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoConfig, AutoModelForMaskedLM

import irpretrain

ENTRIES = 8000
SIZES = {
    "hidden_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "max_position_embeddings": 322,  # RoBERTa counts them from 2
}


def word_pieces() -> tuple[Tokenizer, Callable[..., Any]]:
    """BERT's kind: pieces within a word begin with ##."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer


def byte_level() -> tuple[Tokenizer, Callable[..., Any]]:
    """RoBERTa's kind: pairs of bytes, a space being part of the word behind it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, partial(trainers.BpeTrainer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def unigrams() -> tuple[Tokenizer, Callable[..., Any]]:
    """SentencePiece's kind: the likeliest cut, ▁ being a word's beginning."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, partial(trainers.UnigramTrainer, unk_token="[UNK]")


TYPED = "$B:1 [SEP]:1"
"""A second text whose tokens have a type of their own."""
FAMILIES: dict[str, tuple[Callable[[], tuple[Tokenizer, Callable[..., Any]]], str, dict[str, Any]]] = {
    "bert": (word_pieces, TYPED, {}),
    "electra": (word_pieces, TYPED, {"embedding_size": 64}),
    "roberta": (byte_level, "[SEP] $B [SEP]", {"type_vocab_size": 1}),
    "xlm-roberta": (unigrams, "[SEP] $B [SEP]", {"type_vocab_size": 1}),
    "modernbert": (byte_level, "$B [SEP]", {"local_attention": 64, "global_attn_every_n_layers": 2}),
}
"""Family → its kind of tokenizer, how a second text follows the first, and its configuration beside the sizes."""

SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
"""In this order, so that the padding's number is 0 in all families."""


def write_encoder(directory: Path, family: str) -> None:
    """Write an encoder with its MLM head and its tokenizer to a new folder."""
    kind, second, options = FAMILIES[family]
    tokenizer, trainer = kind()
    special = [AddedToken(name, special=True) for name in SPECIAL]
    learn = trainer(vocab_size=ENTRIES, special_tokens=special, show_progress=False)
    paragraphs = irpretrain.read_documents("embedded:squad-train", "squad")
    tokenizer.train_from_iterator((document.body for document in paragraphs), learn)
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair=f"[CLS] $A [SEP] {second}", special_tokens=ends
    )
    ids = {f"{name}_token_id": SPECIAL.index(f"[{name.upper()}]") for name in ("pad", "cls", "sep")}
    sizes = {**SIZES, **options, **ids, "vocab_size": tokenizer.get_vocab_size()}
    config = AutoConfig.for_model(
        family, **sizes, bos_token_id=ids["cls_token_id"], eos_token_id=ids["sep_token_id"]
    )
    torch.manual_seed(1)
    directory.mkdir(parents=True)
    AutoModelForMaskedLM.from_config(config).save_pretrained(directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    names = ["input_ids", *(["token_type_ids"] if second == TYPED else []), "attention_mask"]
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": names}
    described |= {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")}
    (directory / "tokenizer_config.json").write_text(json.dumps(described), encoding="utf-8")


def main() -> None:
    """Write an encoder of each family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a new folder; each family is a folder in it")
    folder = parser.parse_args().folder
    if folder.exists():
        parser.error(f"{folder} is there already; delete it, or name another")
    for family in FAMILIES:
        write_encoder(folder / family, family)
        print(f"{folder / family}: {SIZES['num_hidden_layers']} layers of {SIZES['hidden_size']} units")


if __name__ == "__main__":
    main()
