"""Words with their places: the words of find_words, each where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.text.words import find_words, word_spans

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("abZ09 _-.'²½Ⅷİßσς東京é\u0301\u200d\n"), st.characters()))


@given(TEXTS, st.sampled_from(["alphanumeric", "letters"]))
def test_the_words_are_those_of_find_words(text, kind):
    assert word_spans(text, kind).words == find_words(text, kind)


@given(TEXTS, st.sampled_from(["alphanumeric", "letters"]))
def test_a_word_stands_where_its_characters_are(text, kind):
    found = word_spans(text, kind)
    for word, start, end in zip(*found, strict=True):
        assert word in text[start:end].lower()
    assert (found.starts[1:] >= found.ends[:-1]).all() or "İ" in text
    assert (found.ends > found.starts).all()


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("Don't stop", [("don", 0, 3), ("t", 4, 5), ("stop", 6, 10)]),
        ("", []),
        (
            "İİ b",
            [("i", 0, 1), ("i", 1, 2), ("b", 3, 4)],
        ),  # each İ is an i and a combining dot, which separates
    ],
)
def test_positions_by_hand(text, positions):
    found = word_spans(text, "alphanumeric")
    assert [(word, int(a), int(b)) for word, a, b in zip(*found, strict=True)] == positions
