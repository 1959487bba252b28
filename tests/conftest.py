"""A tiny random BERT encoder and tiny token stores, shared by the tests that need a model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, GROUPS
from irpretrain.objectives.groups import Span, group

# Tests assert results, never times; in CI the same examples every time, elsewhere new ones each time.
settings.register_profile(
    "project", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")

WORDS = [f"word{number:02d}" for number in range(80)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*"abcdefghij", *(f"##{letter}" for letter in "abcdefghij")]
VOCABULARY = [*SPECIAL, *PIECES, *WORDS]
"""105 entries. A word of the letters a to j has a piece for each letter: "cab" is c ##a ##b."""


def write_tokenizer(directory: Path) -> None:
    """Write tokenizer.json, tokenizer_config.json and vocab.txt of the tiny vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIAL)
    ends = [("[CLS]", VOCABULARY.index("[CLS]")), ("[SEP]", VOCABULARY.index("[SEP]"))]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (directory / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))


def write_encoder(directory: Path, **changes: Any) -> Path:
    """Write a random BERT encoder: 2 layers of 32 units, no dropout, the tiny vocabulary."""
    import torch
    from transformers import BertConfig, BertModel

    options = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    state = torch.get_rng_state()
    torch.manual_seed(7)
    model = BertModel(BertConfig(**{**options, **changes}))
    torch.set_rng_state(state)
    model.save_pretrained(directory)
    write_tokenizer(directory)
    return directory


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the tiny encoder without dropout."""
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def make_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that writes a tiny encoder with other options."""
    return lambda **changes: write_encoder(tmp_path_factory.mktemp("encoder") / "tiny", **changes)


@pytest.fixture
def make_store(tmp_path: Path, tiny_encoder: Path) -> Callable[..., Path]:
    """Return a function that writes a token store of {document id: text}."""
    from irpretrain.text.store_tokens import write_token_store

    def make(documents: dict[str, str], name: str = "store", positions: bool = False, **options: Any) -> Path:
        rows = [
            {"document_id": key, "part": 0, "position": place, "title": "", "url": "", "body": body}
            for place, (key, body) in enumerate(documents.items())
        ]
        table = tmp_path / f"{name}.parquet"
        DOCUMENTS.write(table, rows)
        text = TextConfig(words="alphanumeric", **options)
        write_token_store(table, tiny_encoder, text, tmp_path / name, positions=positions)
        return tmp_path / name

    return make


@pytest.fixture
def make_groups(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes ROP groups of (document id, preferred query, other query)."""

    def make(pairs: Sequence[tuple[str, str, str]], name: str = "groups") -> Path:
        rows = [
            group((0, place), queries, [Span(document)]) for place, (document, *queries) in enumerate(pairs)
        ]
        path = tmp_path / f"{name}.parquet"
        GROUPS.write(path, rows)
        return path

    return make
