"""Lengths of texts in words between white space, for options that count words, and where these words stand.

Chinese and Japanese leave no white space between words: there each of their letters counts as a word, and so does each
run of other characters; punctuation belongs to the word before it.
"""

import re
from functools import cache
from typing import Any

from irpretrain.text.languages import language
from irpretrain.text.words import ATTACHED, UNSPACED

_SPACED = re.compile(r"\S+")


def spaced_words(text: str, language_name: str) -> list[tuple[int, int]]:
    """Return start and end of each such word of a text, in characters."""
    pattern = _unspaced() if language(language_name).unspaced else _SPACED
    return [match.span() for match in pattern.finditer(text)]


def count_spaced(text: str, language_name: str) -> int:
    """Return the number of such words of a text."""
    if language(language_name).unspaced:
        return len(spaced_words(text, language_name))
    return len(text.split())


@cache
def _unspaced() -> Any:
    import regex  # takes 20 ms, and most languages need none

    letter = rf"[{UNSPACED}&&[\p{{L}}\p{{N}}]]"
    return regex.compile(rf"(?V1){letter}[{ATTACHED}]*+[^\w\s]*+|(?:(?!{letter})\S)++")
