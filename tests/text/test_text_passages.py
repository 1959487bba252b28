"""Sentences, and passages: every word is in one, none is in vain, and their scores make the document's."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.text.passages import passage_bounds, piece_bounds, sentences, text_passages


def options(**changes: Any) -> PassagesConfig:
    return PassagesConfig(**{"words": 4, "stride": 2, **changes})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (0, [(0, 0)]),
        (3, [(0, 3)]),
        (4, [(0, 4)]),
        (5, [(0, 4), (2, 5)]),
        (6, [(0, 4), (2, 6)]),
        (9, [(0, 4), (2, 6), (4, 8), (6, 9)]),
    ],
)
def test_passages_begin_every_stride_until_one_reaches_the_end(
    words: int, expected: list[tuple[int, int]]
) -> None:
    assert passage_bounds(words, options(), 99) == expected


@given(st.integers(0, 400), st.integers(1, 50), st.data())
def test_every_word_is_read_and_no_passage_lies_in_another(
    words: int, length: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, length))
    bounds = passage_bounds(words, PassagesConfig(words=length, stride=stride), words + 1)
    assert set().union(*(range(*bound) for bound in bounds)) == set(range(words))
    assert all(end - start <= length for start, end in bounds)
    assert all(first < later and end < after for (first, end), (later, after) in itertools.pairwise(bounds))


def test_of_many_passages_some_are_retained_the_first_and_the_last_among_them() -> None:
    whole = passage_bounds(21, options())
    assert len(whole) == 10
    assert passage_bounds(21, options(), 10) == whole
    assert passage_bounds(21, options(), 4) == [whole[position] for position in (0, 3, 6, 9)]
    assert passage_bounds(21, options(), 1) == whole[:1]
    # Evenly spaced: 0, 2.25, 4.5, 6.75 and 9, each rounded to the nearest, halves to the even one.
    assert passage_bounds(21, options(), 5) == [whole[position] for position in (0, 2, 4, 7, 9)]


def test_pieces_of_a_word_stay_together() -> None:
    """Words of 1, 3, 1, 1 and 2 pieces."""
    starts = np.array([1, 1, 0, 0, 1, 1, 1, 0], bool)
    assert piece_bounds(starts, options(words=2, stride=1)) == [(0, 4), (1, 5), (4, 6), (5, 8)]
    assert piece_bounds(starts[:0], options()) == [(0, 0)]
    assert piece_bounds(starts[2:], options(words=2, stride=2)) == [(0, 4), (4, 6)]


def test_texts_are_cut_at_white_space() -> None:
    assert text_passages(" one, two\nthree  four ", options(words=2, stride=1)) == [
        "one, two",
        "two\nthree",
        "three  four",
    ]
    assert text_passages(" \n", options()) == [""]


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One", ["One"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("It weighs 3.5 kg. Really...", ["It weighs 3.5 kg.", "Really..."]),
        ("a list\n\nof lines. And more", ["a list", "of lines.", "And more"]),
        ("Dr. Smith met J. R. Jones, e.g. Tom Jones.", ["Dr. Smith met J. R. Jones, e.g. Tom Jones."]),
        ("He came ... and went. Then", ["He came ... and went.", "Then"]),
        ("一。二！三", ["一。", "二！", "三"]),
        ("In 1990. 2000 was later.", ["In 1990.", "2000 was later."]),
    ],
)
def test_sentences_of_short_texts(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_only_the_given_characters_are_cut() -> None:
    text = "Zero. One. Two. Three."
    assert [text[a:b] for a, b in sentences(text, 6, 15)] == ["One.", "Two."]


@given(st.text(alphabet="ab .!?\n“”()A1é。", max_size=80))
def test_sentences_hold_every_character_that_is_no_white_space_once_and_in_order(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text.split())
    assert all(text[a:b] and text[a:b] == text[a:b].strip() and "\n" not in text[a:b] for a, b in found)
    assert found == sorted(found)
