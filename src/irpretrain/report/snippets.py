"""The part of a document's text that a page shows for a query: the window with most of its words, these marked.

Words count as the query's when the index gives them a term of the query, so "values" counts for "value".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from irpretrain.report.weighted_words import Passage, PassageWord

GAP = "…"


class Piece(NamedTuple):
    """Some characters of a text, and whether they are a word of the query."""

    text: str
    asked: bool


def snippet(passage: Passage, words: int) -> list[Piece]:
    """Return the window of `words` words with most different terms of the query, of equal ones with most of its words,
    of equal ones the first; characters between its words as they are, line breaks as spaces."""
    start = best_window(passage.words, words)
    shown = passage.words[start : start + words]
    pieces = [Piece(f"{GAP} ", False)] if start else []
    for place, word in enumerate(shown):
        before = "" if place == 0 and start else word.before
        pieces += [Piece(before, False), Piece(word.text, word.asked)]
    pieces.append(Piece(passage.rest if start + words >= len(passage.words) else f" {GAP}", False))
    return joined(pieces)


def best_window(words: Sequence[PassageWord], size: int) -> int:
    """Return where the window begins. A window begins a quarter of its size before one of the query's words, or where
    the text does, so that words stand in their context."""
    last = max(0, len(words) - size)
    asked = [place for place, word in enumerate(words) if word.asked]
    starts = sorted({0, *(min(last, max(0, place - size // 4)) for place in asked)})
    return max(starts, key=lambda start: (*_worth(words[start : start + size]), -start))


def _worth(window: Sequence[PassageWord]) -> tuple[int, int]:
    """Different words of the query, by their terms, and how many there are in all."""
    terms = [word.terms for word in window if word.asked]
    return len(set(terms)), len(terms)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with neighbours of one kind as one, and every run of white space as one space."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].asked == piece.asked:
            merged[-1] = Piece(merged[-1].text + piece.text, piece.asked)
        elif piece.text:
            merged.append(piece)
    return [Piece(_spaced(piece.text), piece.asked) for piece in merged]


def _spaced(text: str) -> str:
    inner = " ".join(text.split())
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' if before else ''}{inner}{' ' if after and inner else ''}"
