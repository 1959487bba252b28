"""Masking against its specification; every option against plain Python: `test_plain_batches.py`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.errors import InputError
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import Batch, BatchBuilder
from irpretrain.training.masking import Masker
from plain_groups import Group, StoreSpan, columns

WIDTH = 64
LONG, SHORT = StoreSpan(0), StoreSpan(1)


@pytest.fixture
def tokenizer(tiny_encoder: Path) -> WordPieceTokenizer:
    return load_tokenizer(tiny_encoder)


@pytest.fixture
def builder(make_store: Callable[..., Path], tokenizer: WordPieceTokenizer) -> BatchBuilder:
    """Of a document of 40 words of one piece, LONG, and one of ten words of two pieces, SHORT."""
    documents = {"long": " ".join(f"word{number:02d}" for number in range(40)), "short": "ab " * 10}
    return BatchBuilder(TokenStore.open([make_store(documents)]), tokenizer, WIDTH, 10)


@pytest.fixture
def batch_of(builder: BatchBuilder) -> Callable[..., Batch]:
    """Return a function that makes a batch of documents, each beside a query of two pieces."""
    return lambda *documents: builder.build(columns(Group(("word78 word79",), documents)))


def masker(tokenizer: WordPieceTokenizer, seed: int = 1, **options: Any) -> Masker:
    return Masker(MaskingConfig(**options), tokenizer, seed, WIDTH)


def test_proportions_in_a_large_sample(tokenizer: WordPieceTokenizer, batch_of: Callable[..., Batch]) -> None:
    batch = batch_of(*[LONG] * 500)
    chosen = masked = changed = 0
    position = np.zeros(WIDTH)
    for step in range(40):
        masked_batch = masker(tokenizer).apply(batch, step)
        chosen += masked_batch.is_selected.sum()
        now = masked_batch.input_ids[masked_batch.is_selected]
        masked += (now == tokenizer.mask_token_id).sum()
        changed += ((now != tokenizer.mask_token_id) & (now != masked_batch.labels)).sum()
        position[: batch.input_ids.shape[1]] += masked_batch.is_selected.sum(axis=0)
    total = 500 * 40 * 40
    assert chosen == total * 0.15  # exactly 6 of 40 in each sequence
    # Standard deviations: 0.0012 (mask), 0.0009 (random); 1 in 100 random pieces is the original one.
    assert abs(masked / chosen - 0.8) < 0.006
    assert abs(changed / chosen - 0.1 * 99 / 100) < 0.005
    expected = 500 * 40 * 0.15
    assert np.abs(position[4:44] / expected - 1).max() < 0.1  # 5.6 standard deviations
    assert not position[:4].any()
    assert not position[44:].any()


def test_a_vocabulary_without_a_mask_masks_nothing(tokenizer: WordPieceTokenizer) -> None:
    tokenizer.mask_token_id = None
    with pytest.raises(InputError, match="the vocabulary has no mask token"):
        masker(tokenizer)


def test_the_anchors_share_is_retained_on_average_even_of_one_word(
    tokenizer: WordPieceTokenizer, builder: BatchBuilder
) -> None:
    anchors = [(3, 4)] * 200 + [(2, 5)] * 200
    batch = builder.build(columns(Group((StoreSpan(0, 0, 9),), [SHORT] * 400, anchors)))
    one, three = 0, 0
    for step in range(20):
        masked = masker(tokenizer, scope="sequence", anchor_ratio=0.5).apply(batch, step)
        chosen = masked.is_selected & batch.anchor_mask
        one, three = one + int(chosen[:200].sum()), three + int(chosen[200:].sum())
        assert set(chosen[200:].sum(axis=1).tolist()) == {1, 2}
    assert abs(one / 4000 - 0.5) < 0.04  # standard deviation 0.008
    assert abs(three / 4000 - 1.5) < 0.04


def test_without_an_anchor_ratio_anchors_are_as_any_other(
    tokenizer: WordPieceTokenizer, builder: BatchBuilder
) -> None:
    batch = builder.build(columns(Group((StoreSpan(0, 0, 10),), [SHORT] * 300, [(0, 10)] * 300)))
    chosen = masker(tokenizer, scope="sequence").apply(batch, 0).is_selected
    assert (chosen.sum(axis=1) == 5).all()  # of 30
    assert abs(chosen[batch.anchor_mask].mean() - 5 / 30) < 0.03
