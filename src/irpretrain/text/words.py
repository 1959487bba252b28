"""Words of a text, as language models count them.

In English a word is a longest run of Unicode letters and digits (`alphanumeric`: `str.isalnum`), or of letters alone
(`letters`: `str.isalpha`), of the lower-cased text. Everything else separates, so "don't" is "don" and "t", and a
letter written with a separate combining mark is cut there. The paper on PROP (section 4.4.2) lower-cases and does not
stem; `letters` is what its released code counts.

In every other language combining marks and joiners belong to the letter before them, and a run of Chinese, Japanese or
Korean letters gives overlapping pairs of neighbours, as Lucene's CJKAnalyzer cuts it: 北京大学 is 北京, 京大, 大学. A
letter that stands alone is a word. The words of a text in order, joined by spaces, are cut into themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import compress, count, pairwise
from operator import not_
from typing import TYPE_CHECKING, NamedTuple

from irpretrain.text.languages import ENGLISH

if TYPE_CHECKING:
    import regex

WordKind = str
"""How texts are cut: `alphanumeric` or `letters`, behind a language and a colon where it is not English."""


def word_kind(words: str, language: str) -> WordKind:
    """Return the kind of words of a language; `words` is alphanumeric or letters."""
    return words if language == ENGLISH else f"{language}:{words}"


def language_of(kind: WordKind) -> str:
    """Return the language of a kind of words; that of Lucene's own words is English."""
    return kind.rpartition(":")[0] or ENGLISH


def find_words(text: str, kind: WordKind) -> list[str]:
    """Return the words of `text` in order, lower-cased."""
    return word_finder(kind)(text)


@cache
def word_finder(kind: WordKind) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into words.

    ASCII separators are blanked byte by byte, which is several times as fast as a regular expression; only what
    holds other characters is looked at again.
    """
    if language_of(kind) != ENGLISH:
        return _finder_of_marked_words(kind)
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

UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u30FC\uFF70]"
"""Characters of Chinese, Japanese and Korean, with the sign of a long vowel."""
ATTACHED = r"\p{M}\u200C\u200D\uFF9E\uFF9F"
"""What belongs to the letter before it: combining marks, joiners, and voicing marks of half the usual width."""
_OF_WORDS = {"alphanumeric": r"[\p{L}\p{N}]", "letters": r"\p{L}"}


class MarkedWords(NamedTuple):
    """Patterns of the words of all languages but English.

    Attributes:
        word: a run of letters; its group `unspaced` is a run of Chinese, Japanese or Korean letters.
        letter: a letter of such a run with its marks.
    """

    word: regex.Pattern[str]
    letter: regex.Pattern[str]

    def places(self, lower: str) -> list[tuple[int, int]]:
        """Return start and end of each word of a lower-cased text, in order of their starts."""
        places: list[tuple[int, int]] = []
        for match in self.word.finditer(lower):
            if match["unspaced"] is None:
                places.append(match.span())
                continue
            letters = [letter.span() for letter in self.letter.finditer(lower, *match.span())]
            pairs = [(start, end) for (start, _), (_, end) in pairwise(letters)]
            places += pairs or letters
        return places


@cache
def marked_words(kind: WordKind) -> MarkedWords:
    """Return the patterns of a kind that is not English's."""
    import regex  # takes 20 ms, and English needs none

    base = _OF_WORDS[kind.rpartition(":")[2]]
    letter = rf"[{UNSPACED}&&{base}][{ATTACHED}]*+"
    spaced = rf"[{base}--[{UNSPACED}{ATTACHED}]][[{base}{ATTACHED}]--{UNSPACED}]*+"
    return MarkedWords(
        regex.compile(rf"(?V1)(?P<unspaced>(?:{letter})++)|{spaced}"), regex.compile(rf"(?V1){letter}")
    )


def unspaced_word(kind: WordKind) -> Callable[[str], bool]:
    """Return the function that says whether a word of a kind that is not English's is of Chinese, Japanese or Korean
    letters."""
    pattern = marked_words(kind).word

    def is_unspaced(word: str) -> bool:
        match = pattern.match(word)
        return match is not None and match["unspaced"] is not None

    return is_unspaced


def _finder_of_marked_words(kind: WordKind) -> Callable[[str], list[str]]:
    places = marked_words(kind).places

    def find(text: str) -> list[str]:
        lower = text.lower()
        return [lower[start:end] for start, end in places(lower)]

    return find
