"""Words: the fast cut against the definition, character by character; where they stand; lists of stop words."""

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation import resources
from irpretrain.foundation.errors import SetupError
from irpretrain.foundation.resources import resources_directory
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.words import find_words, word_spans


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
        ("a\x00b\x1fc\x7fd", list("abcd"), list("abcd")),
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


TEXTS = st.text(alphabet=st.one_of(st.sampled_from("abZ09 _-.'²½Ⅷİßσς東京é\u0301\u200d\n"), st.characters()))


@given(TEXTS, st.sampled_from(["alphanumeric", "letters"]))
def test_a_word_stands_where_its_characters_are(text: str, kind: str) -> None:
    found = word_spans(text, kind)
    assert found.words == find_words(text, kind)
    for word, start, end in zip(*found, strict=True):
        assert word in text[start:end].lower()
    assert (found.starts[1:] >= found.ends[:-1]).all() or "İ" in text
    assert (found.ends > found.starts).all()


@pytest.mark.parametrize(
    ("text", "kind", "positions"),
    [
        ("Don't stop", "alphanumeric", [("don", 0, 3), ("t", 4, 5), ("stop", 6, 10)]),
        ("", "alphanumeric", []),
        # Each İ is an i and a combining dot, which separates.
        ("İİ b", "alphanumeric", [("i", 0, 1), ("i", 1, 2), ("b", 3, 4)]),
        ("a1bc 2", "letters", [("a", 0, 1), ("bc", 2, 4)]),
    ],
)
def test_positions_by_hand(text: str, kind: str, positions: list[tuple[str, int, int]]) -> None:
    found = word_spans(text, kind)
    assert [(word, int(a), int(b)) for word, a, b in zip(*found, strict=True)] == positions


def test_the_lists_have_their_published_sizes() -> None:
    assert load_stop_words("none") == frozenset()
    inquery = load_stop_words("inquery")
    assert len(inquery) == 418 - 1 + 2  # "doesn't" is cut into "doesn" and "t"
    assert {"doesn", "t"} <= inquery
    both = load_stop_words("nltk+inquery")
    assert inquery < both
    assert {"the", "whereupon", "shan"} <= both


def test_cutting_contractions_adds_no_word_that_nltk_does_not_list() -> None:
    listed = (resources_directory() / "stopwords" / "nltk.txt").read_text().split()
    contractions = [entry for entry in listed if "'" in entry]
    assert contractions
    assert {piece for entry in contractions for piece in find_words(entry, "letters")} <= set(listed)
    assert not any("'" in word for word in load_stop_words("nltk+inquery"))


def test_lists_are_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the" in load_stop_words("inquery")


def test_a_missing_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "resources_directory", lambda: tmp_path)
    with pytest.raises(SetupError, match=r"inquery\.txt"):
        load_stop_words("inquery")
