"""Sentences of a text, by rules: for objectives that take a sentence as query or as an anchor's surroundings.

No sentence goes beyond its line. One ends at a full stop, `!`, `?` or `…`, to which closing quotes and brackets belong,
before white space that no lower-case letter follows, unless the full stop ends an abbreviation or an initial; marks of
Chinese and Japanese end one anywhere.
"""

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*")
_LAST_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_LINE = re.compile(r"[^\n]+")
_NOT_SPACE = re.compile(r"\S")

_ABBREVIATIONS = """
al approx bros ca capt cf co col corp dept dr ed eds est etc fig figs gen gov hon inc jr lt ltd maj mr mrs ms mt no nos
op pp prof pt rep rev sen sgt sr st vol vols vs
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""Words after which a full stop ends no sentence; nor does it after a single letter, or letters with stops (e.g.)."""

Characters = tuple[int, int]
"""Start and end (exclusive) of a piece of a text, in characters."""


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Characters]:
    """Return the sentences of text[start:end] in order, as characters of `text`, without white space around them."""
    spans = []
    for line in _LINE.finditer(text, start, len(text) if end is None else end):
        first = line.start()
        for last in [*_ends(text, line.start(), line.end()), line.end()]:
            if stripped := strip(text, first, last):
                spans.append(stripped)
            first = last
    return spans


def strip(text: str, start: int, end: int) -> Characters | None:
    """Return the characters of text[start:end] without white space at either end, None where nothing is left."""
    first = _NOT_SPACE.search(text, start, end)
    if first is None:
        return None
    return first.start(), start + len(text[start:end].rstrip())


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    for mark in _END.finditer(text, start, end):
        following = _NOT_SPACE.search(text, mark.end(), end)
        if text[mark.start()] in "。！？" or not (
            following is None or following[0].islower() or _abbreviated(text, start, mark)
        ):
            yield mark.end()


def _abbreviated(text: str, start: int, mark: re.Match[str]) -> bool:
    if mark[0] != ".":
        return False
    # Looking back a bounded way: words are short, lines need not be.
    word = _LAST_WORD.search(text[max(start, mark.start() - 20) : mark.start()])
    return word is not None and (len(word[0]) == 1 or "." in word[0] or word[0].lower() in ABBREVIATIONS)
