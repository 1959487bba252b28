"""Blocks of words of a document: whole words, equally many, drawn equally often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from irpretrain.objectives.word_blocks import WordBlocks
from irpretrain.text.token_store import TokenStore

# Word pieces:     0-2 3 4-5 6 7-9 10 11 (a full stop is unknown, and a word)
TEXT = "cab d ef g hij a."


@pytest.fixture
def blocks(make_store: Callable[..., Path]) -> WordBlocks:
    """Documents 0 to 2: none, the text, one word; in two shards, whose rows are in another order."""
    stores = [make_store({"d1": TEXT}, "one"), make_store({"d2": "abc", "d0": ""}, "two")]
    return WordBlocks(TokenStore.open(stores), np.array([2, 0, 1]))


def drawn(blocks: WordBlocks, number: int, words: int) -> Counter[tuple[int, int]]:
    rng = np.random.default_rng(1)
    return Counter(blocks.draw(rng, number, words) for _ in range(600))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (1, [(0, 3), (3, 4), (4, 6), (6, 7), (7, 10), (10, 11), (11, 12)]),
        (2, [(0, 4), (4, 7), (7, 11)]),  # the full stop is left over
        (3, [(0, 6), (6, 11)]),
        (7, [(0, 12)]),
        (9, [(0, 12)]),
    ],
)
def test_every_whole_block_is_drawn_equally_often(
    blocks: WordBlocks, words: int, expected: list[tuple[int, int]]
) -> None:
    found = drawn(blocks, 1, words)
    assert sorted(found) == expected
    assert len(expected) == 1 or stats.chisquare(list(found.values())).pvalue > 1e-4


def test_short_and_empty_documents_are_taken_whole(blocks: WordBlocks) -> None:
    assert set(drawn(blocks, 2, 4)) == {(0, 3)}
    assert set(drawn(blocks, 0, 4)) == {(0, 0)}


def test_what_the_store_cut_off_is_in_no_block(make_store: Callable[..., Path]) -> None:
    store = TokenStore.open([make_store({"d1": TEXT}, max_word_pieces=8)])
    found = drawn(WordBlocks(store, np.array([0])), 0, 5)
    assert set(found) == {(0, 8)}  # the last word has lost two of its pieces
