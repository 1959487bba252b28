"""Words of a text, as language models count them.

A word is a longest run of Unicode letters and digits (`alphanumeric`: `str.isalnum`), or of letters alone
(`letters`: `str.isalpha`), of the lower-cased text. Everything else separates, so "don't" is "don" and "t",
and a letter written with a separate combining mark is cut there. The paper on PROP (section 4.4.2) lower-cases
and does not stem; `letters` is what its released code counts.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import compress, count
from operator import not_
from typing import Literal

WordKind = Literal["alphanumeric", "letters"]


def find_words(text: str, kind: WordKind) -> list[str]:
    """Return the words of `text` in order, lower-cased."""
    return word_finder(kind)(text)


@cache
def word_finder(kind: WordKind) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into words.

    ASCII separators are blanked byte by byte, which is several times as fast as a regular expression; only what
    holds other characters is looked at again.
    """
    belongs = str.isalnum if kind == "alphanumeric" else str.isalpha
    blanks = bytes(code if code > 127 or belongs(chr(code)) else ord(" ") for code in range(256))
    cut = re.compile(r"[^\W_]+").findall if kind == "alphanumeric" else _letters

    def find(text: str) -> list[str]:
        lower = text.lower()
        pieces = (
            lower.encode("utf-8", "surrogatepass").translate(blanks).decode("utf-8", "surrogatepass").split()
        )
        if lower.isascii():
            return pieces
        words: list[str] = []
        start = 0
        for place in compress(count(), map(not_, map(str.isascii, pieces))):
            words += pieces[start:place]
            words += cut(pieces[place])
            start = place + 1
        return words + pieces[start:]

    return find


def _letters(piece: str) -> list[str]:
    """Return the runs of letters; signs such as ² or Ⅷ, which regular expressions take for letters, separate too."""
    words: list[str] = _LETTERS_AND_NUMERALS.findall(piece)
    if all(map(str.isalpha, words)):
        return words
    spaced = ("".join(c if c.isalpha() else " " for c in word) for word in words)
    return [word for run in spaced for word in run.split()]


_LETTERS_AND_NUMERALS = re.compile(r"[^\W\d_]+")
