"""Snippets: the window with most of a query's words, by hand; and that nothing is lost or added."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from irpretrain.report.weighted_words import Passage, PassageWord, best_window, snippet


def passage(text: str, rest: str = ".") -> Passage:
    """Words in capitals are the query's; each is a term of its own."""
    words = [
        PassageWord(" " if place else "", word, (word.lower(),), word.isupper())
        for place, word in enumerate(text.split())
    ]
    return Passage(tuple(words), rest)


def shown(text: str, words: int, rest: str = ".") -> str:
    """The snippet with the query's words in brackets."""
    return "".join(
        f"[{piece.text}]" if piece.asked else piece.text for piece in snippet(passage(text, rest), words)
    )


def test_a_short_text_is_shown_whole() -> None:
    assert shown("the FOX runs", 5) == "the [FOX] runs."
    assert shown("", 5, "...") == "..."


def test_the_window_with_most_different_words_of_the_query() -> None:
    text = "FOX FOX FOX a b c d e f g FOX DOG h i j k l m"
    # Three foxes are one word of the query; fox and dog are two, and a window begins a quarter before one.
    assert shown(text, 4) == "… g [FOX] [DOG] h …"
    assert shown("FOX FOX a b c d e DOG f g h i", 4) == "[FOX] [FOX] a b …", (
        "of equal ones the one with most of them"
    )
    assert shown("a b c d FOX e f g h FOX i j", 4) == "… d [FOX] e f …", "of equal ones the first"


def test_without_words_of_the_query_the_text_begins() -> None:
    assert shown("a b c d e f", 3) == "a b c …"


def test_a_window_at_the_end_is_full() -> None:
    assert shown("a b c d e f FOX", 4) == "… d e f [FOX]."


@given(
    st.lists(st.tuples(st.text("ab\n ,", max_size=3), st.sampled_from(["x", "Y"])), max_size=30),
    st.integers(5, 12),
)
def test_a_snippet_is_a_part_of_the_text(parts: list[tuple[str, str]], size: int) -> None:
    words = [PassageWord(before, word, (word,), word == "Y") for before, word in parts]
    whole = Passage(tuple(words), "!")
    pieces = snippet(whole, size)
    text = " ".join("".join(piece.text for piece in pieces).replace("…", " ").split())
    full = " ".join(("".join(before + word for before, word in parts) + "!").split())
    assert text in full
    start = best_window(words, size)
    assert sum(piece.asked for piece in pieces) <= sum(word.asked for word in words[start : start + size])
    assert len(words[start : start + size]) == min(size, len(words))
