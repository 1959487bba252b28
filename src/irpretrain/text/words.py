"""Words of a text: what they are for language models, where they stand, how many there are.

English: a word is a longest run of Unicode letters and digits (`alphanumeric`: `str.isalnum`), or of letters alone
(`letters`: `str.isalpha`), of the lower-cased text; "don't" is "don" and "t". PROP (section 4.4.2) lower-cases and does
not stem; `letters` is what its released code counts.

Other languages: combining marks and joiners belong to the letter before them, and a run of Chinese, Japanese or Korean
letters gives overlapping pairs of neighbours, as Lucene's CJKAnalyzer cuts it: 北京大学 is 北京, 京大, 大学. A single
letter is a word. The words of a text in order, joined by spaces, are cut into themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irpretrain.text.languages import ENGLISH, language

if TYPE_CHECKING:
    import regex


_RUN = re.compile(r"[^\W_]+")

# How texts are cut: `alphanumeric` or `letters`, behind a language and a colon where it is not English.
WordKind = str


def word_kind(words: str, language: str) -> WordKind:
    """Return the kind of words of a language; `words` is alphanumeric or letters."""
    return words if language == ENGLISH else f"{language}:{words}"


def language_of(kind: WordKind) -> str:
    """Return the language of a kind of words; that of Lucene's own words is English."""
    return kind.rpartition(":")[0] or ENGLISH


def find_words(text: str, kind: WordKind) -> list[str]:
    return word_finder(kind)(text)


@cache
def word_finder(kind: WordKind) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into words."""
    if language_of(kind) != ENGLISH:
        return lambda text: word_spans(text, kind).words
    is_word_character = str.isalnum if kind == "alphanumeric" else str.isalpha
    # ASCII separators are blanked byte by byte, several times as fast as a regular expression; only the rest is
    # searched.
    table = bytes(code if code > 127 or is_word_character(chr(code)) else ord(" ") for code in range(256))
    split_piece = _RUN.findall if kind == "alphanumeric" else _letters

    def find(text: str) -> list[str]:
        lower = text.lower()
        pieces = (
            lower.encode("utf-8", "surrogatepass").translate(table).decode("utf-8", "surrogatepass").split()
        )
        if lower.isascii():
            return pieces
        words: list[str] = []
        for piece in pieces:
            if piece.isascii():
                words.append(piece)
            else:
                words += split_piece(piece)
        return words

    return find


def _letters(piece: str) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in piece).split()


# Characters of Chinese, Japanese and Korean, with the sign of a long vowel.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u30FC\uFF70]"

# What belongs to the letter before it: combining marks, joiners, and voicing marks of half the usual width.
ATTACHED = r"\p{M}\u200C\u200D\uFF9E\uFF9F"
_WORD_CLASSES = {"alphanumeric": r"[\p{L}\p{N}]", "letters": r"\p{L}"}


class MarkedWords(NamedTuple):
    """Patterns of the words of all languages but English."""

    # A run of letters; its group `unspaced` is a run of Chinese, Japanese or Korean letters.
    word: regex.Pattern[str]
    letter: regex.Pattern[str]  # a letter of such a run with its marks

    def spans(self, lower: str) -> list[tuple[int, int]]:
        """Return start and end of each word of a lower-cased text, in order of their starts."""
        spans: list[tuple[int, int]] = []
        for match in self.word.finditer(lower):
            if match["unspaced"] is None:
                spans.append(match.span())
                continue
            letters = [letter.span() for letter in self.letter.finditer(lower, *match.span())]
            pairs = [(start, end) for (start, _), (_, end) in pairwise(letters)]
            spans += pairs or letters
        return spans


@cache
def marked_words(kind: WordKind) -> MarkedWords:
    import regex  # takes 20 ms, and English needs none

    word_class = _WORD_CLASSES[kind.rpartition(":")[2]]
    letter = rf"[{UNSPACED}&&{word_class}][{ATTACHED}]*+"
    spaced_word = rf"[{word_class}--[{UNSPACED}{ATTACHED}]][[{word_class}{ATTACHED}]--{UNSPACED}]*+"
    return MarkedWords(
        regex.compile(rf"(?V1)(?P<unspaced>(?:{letter})++)|{spaced_word}"), regex.compile(rf"(?V1){letter}")
    )


def unspaced_word(kind: WordKind) -> Callable[[str], bool]:
    """Return the predicate whether a word of another language is of Chinese, Japanese or Korean letters."""
    pattern = marked_words(kind).word

    def is_unspaced(word: str) -> bool:
        match = pattern.match(word)
        return match is not None and match["unspaced"] is not None

    return is_unspaced


# Where the words of a text stand: the words of `irpretrain.text.words`, each with its characters.
#
# The words are those of the lower-cased text, the characters those of the text as it is written, for an encoder that
# reads it so. They differ where lower-casing makes two characters of one (İ). Words of Chinese, Japanese and Korean
# overlap: each begins one letter after the one before and ends one letter later, so neither starts nor ends ever
# fall.


class WordSpans(NamedTuple):
    words: list[str]  # lower-cased
    # starts, ends: int32 [words]; first character of each word in the text as written, and the one after its
    # last.
    starts: np.ndarray
    ends: np.ndarray


def word_spans(text: str, kind: WordKind) -> WordSpans:
    """Return the words of `text` as `find_words` does, with their positions."""
    lower = text.lower()
    if language_of(kind) != ENGLISH:
        spans = marked_words(kind).spans(lower)
    else:
        spans = [match.span() for match in _RUN.finditer(lower)]
    if kind == "letters":
        spans = [letter_span for span in spans for letter_span in _letter_spans(lower, *span)]
    words = [lower[start:end] for start, end in spans]
    bounds = np.array(spans, np.int32).reshape(-1, 2)
    if len(lower) != len(text):
        original_position = np.repeat(np.arange(len(text), dtype=np.int32), [len(c.lower()) for c in text])
        return WordSpans(words, original_position[bounds[:, 0]], original_position[bounds[:, 1] - 1] + 1)
    return WordSpans(words, bounds[:, 0], bounds[:, 1])


def _letter_spans(lower: str, start: int, end: int) -> list[tuple[int, int]]:
    if lower[start:end].isalpha():  # most words: twice as fast
        return [(start, end)]
    blanked = "".join(c if c.isalpha() else " " for c in lower[start:end])
    return [(start + match.start(), start + match.end()) for match in _SPACED.finditer(blanked)]


# Lengths of texts in words between white space, for options that count words, and where these words stand.
#
# Chinese and Japanese leave no white space between words: there each of their letters counts as a word, and so does
# each run of other characters; punctuation belongs to the word before it.


_SPACED = re.compile(r"\S+")


def spaced_words(text: str, language_name: str) -> list[tuple[int, int]]:
    """Return start and end of each such word of a text, in characters."""
    pattern = _unspaced() if language(language_name).unspaced else _SPACED
    return [match.span() for match in pattern.finditer(text)]


def count_spaced(text: str, language_name: str) -> int:
    if language(language_name).unspaced:
        return len(spaced_words(text, language_name))
    return len(text.split())


@cache
def _unspaced() -> Any:
    import regex  # takes 20 ms, and most languages need none

    letter = rf"[{UNSPACED}&&[\p{{L}}\p{{N}}]]"
    return regex.compile(rf"(?V1){letter}[{ATTACHED}]*+[^\w\s]*+|(?:(?!{letter})\S)++")
