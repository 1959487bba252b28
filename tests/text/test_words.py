"""Words: the fast cut against the definition, character by character."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.text.words import find_words


def by_definition(text: str, kind: str) -> list[str]:
    belongs = str.isalnum if kind == "alphanumeric" else str.isalpha
    return ["".join(run) for word, run in groupby(text.lower(), belongs) if word]


@pytest.mark.parametrize(
    ("text", "alphanumeric", "letters"),
    [
        ("The 2nd Cat_sat.", ["the", "2nd", "cat", "sat"], ["the", "nd", "cat", "sat"]),
        ("don't", ["don", "t"], ["don", "t"]),
        ("Müller's café", ["müller", "s", "café"], ["müller", "s", "café"]),
        ("x² Ⅷ ½", ["x²", "ⅷ", "½"], ["x"]),
        ("日本語 Ελλάς", ["日本語", "ελλάς"], ["日本語", "ελλάς"]),
        ("", [], []),
        ("... 123 !", ["123"], []),
    ],
)
def test_words_of_known_texts(text: str, alphanumeric: list[str], letters: list[str]) -> None:
    assert find_words(text, "alphanumeric") == alphanumeric
    assert find_words(text, "letters") == letters


@given(
    st.text() | st.text(st.sampled_from("aZ09 _-'.é²Ⅷİß\u0301\u00a0\u2028\u001c中")),
    st.sampled_from(["alphanumeric", "letters"]),
)
def test_words_are_the_runs_of_the_definition(text: str, kind: str) -> None:
    assert find_words(text, kind) == by_definition(text, kind)  # type: ignore[arg-type]
