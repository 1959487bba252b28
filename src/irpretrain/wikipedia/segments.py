"""Segments of a body: pieces of so many words, in which PHP places anchors (section 3.1; it gives no length).

Segments are cut over the whole body, headings included, whatever the sections: segment 0 begins with the lead section
and reaches beyond a lead that is shorter; what of it lies in the lead is the first segment by default
(`graph.first_segment`).
"""

from __future__ import annotations

import re

WORD = re.compile(r"\S+")
MOST_SEGMENTS = 32_767
"""What a column of 16 bits can count; the last of so many takes all the rest."""


def segments(body: str, words_per_segment: int) -> list[tuple[int, int]]:
    """Return the segments of `body` as (start, end) in characters, from first to last word; never none.

    A word is a run of characters other than white space. A rest of fewer than half as many words as a segment joins
    the one before. A body without words is one segment, the whole of it. Between segments lies only white space.
    """
    if words_per_segment < 1:
        raise ValueError(f"{words_per_segment} words a segment")
    words = [match.span() for match in WORD.finditer(body)]
    if not words:
        return [(0, len(body))]
    count = (len(words) + words_per_segment // 2) // words_per_segment
    count = min(max(count, 1), MOST_SEGMENTS)
    firsts = range(0, count * words_per_segment, words_per_segment)
    lasts = [*(first - 1 for first in firsts[1:]), len(words) - 1]
    return [(words[first][0], words[last][1]) for first, last in zip(firsts, lasts, strict=True)]
