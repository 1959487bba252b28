"""A text cut at its words, for pages that show something of each."""

from collections.abc import Sequence
from itertools import pairwise


def cut_words(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, str]], str]:
    """Return the words at some spans, each after the characters before it, and the characters after the last; of
    overlapping ones each ends where the next one starts."""
    words, previous_end = list[tuple[str, str]](), 0
    for (start, end), (next_start, _) in pairwise([*spans, (len(text), 0)]):
        words.append((text[previous_end:start], text[start : min(end, next_start)]))
        previous_end = min(end, next_start)
    return words, text[previous_end:]
