"""Where the words of a text stand: the words of `irpretrain.text.words`, each with its characters.

The words are those of the lower-cased text, the characters those of the text as it is written, for an encoder that
reads it so. They differ where lower-casing makes two characters of one (İ). Words of Chinese, Japanese and Korean
overlap: each begins one letter after the one before and ends one letter later, so neither starts nor ends ever fall.
"""

import re
from typing import NamedTuple

import numpy as np

from irpretrain.text.languages import ENGLISH
from irpretrain.text.words import WordKind, language_of, marked_words

_RUN = re.compile(r"[^\W_]+")


class WordSpans(NamedTuple):
    """The words of a text, in order.

    Attributes:
        words: lower-cased.
        starts, ends: int32 [words]; first character of each word in the text as written, and the one after its last.
    """

    words: list[str]
    starts: np.ndarray
    ends: np.ndarray


def word_spans(text: str, kind: WordKind) -> WordSpans:
    """Return the words of `text` as `find_words` does, with their places."""
    lower = text.lower()
    if language_of(kind) != ENGLISH:
        places = marked_words(kind).places(lower)
    else:
        places = [match.span() for match in _RUN.finditer(lower)]
    if kind == "letters":
        places = [part for place in places for part in _letters(lower, *place)]
    words = [lower[start:end] for start, end in places]
    bounds = np.array(places, np.int32).reshape(-1, 2)
    if len(lower) != len(text):
        written = np.repeat(np.arange(len(text), dtype=np.int32), [len(c.lower()) for c in text])
        return WordSpans(words, written[bounds[:, 0]], written[bounds[:, 1] - 1] + 1)
    return WordSpans(words, bounds[:, 0], bounds[:, 1])


def _letters(lower: str, start: int, end: int) -> list[tuple[int, int]]:
    """The runs of letters within a run of letters and digits."""
    if lower[start:end].isalpha():
        return [(start, end)]
    spaced = "".join(c if c.isalpha() else " " for c in lower[start:end])
    return [(start + match.start(), start + match.end()) for match in re.finditer(r"\S+", spaced)]
