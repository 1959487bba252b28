from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.text.passages import sentences


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
