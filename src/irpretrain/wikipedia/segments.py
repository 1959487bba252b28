"""Segments of a body: pieces of so many words, in which PHP places anchors (section 3.1; it gives no length).

Segments are cut over the whole body, headings included, whatever the sections: segment 0 begins with the lead section
and reaches beyond a lead that is shorter; what of it lies in the lead is the first segment.
"""

import numpy as np

from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.words import spaced_words

# What a column of 16 bits can count; the last of so many takes all the rest.
MOST_SEGMENTS = 32_767
# Which characters are white space; the last is U+3000.
_BLANK = np.array([chr(number).isspace() for number in range(0x3002)])


def segments(body: str, words_per_segment: int, language_name: str = ENGLISH) -> list[tuple[int, int]]:
    """Return the segments of `body` as (start, end) in characters, from first to last word; never none.

    A word is a run of characters other than white space, in Chinese and Japanese a letter (`text.words`). A rest of
    fewer than half as many words as a segment joins the one before. A body without words is one segment, the whole of
    it. Between segments lies only white space.
    """
    if words_per_segment < 1:
        raise ValueError(f"{words_per_segment} words a segment")
    starts, ends = _letters(body, language_name) if language(language_name).unspaced else _words(body)
    if not len(starts):
        return [(0, len(body))]
    count = (len(starts) + words_per_segment // 2) // words_per_segment
    count = min(max(count, 1), MOST_SEGMENTS)
    firsts = np.arange(0, count * words_per_segment, words_per_segment)
    lasts = [*(firsts[1:] - 1), len(starts) - 1]
    return list(zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True))


def _letters(text: str, language_name: str) -> tuple[np.ndarray, np.ndarray]:
    spans = np.array(spaced_words(text, language_name), np.int64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _words(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where words begin and end, in characters. Arrays take a fifth of the time of a regular expression."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    blank = np.ones(len(characters) + 2, np.bool_)
    blank[1:-1] = _BLANK[np.minimum(characters, len(_BLANK) - 1)]
    return np.flatnonzero(blank[:-1] & ~blank[1:]), np.flatnonzero(~blank[:-1] & blank[1:])
