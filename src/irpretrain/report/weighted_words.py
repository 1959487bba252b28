"""Weights of an index's terms → words of the passage as it stands with their shares, as a page shows them.

Words are those of `irpretrain.text.words`, with their places in the text as written; a word has the weight of the terms
that the index's analyser makes of it. Words of one stem share a term, and each occurrence shows all of its weight. Of
overlapping words (Chinese, Japanese, Korean) each shows its first letter, the last of them all that is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from irpretrain.report.attributed_words import colour
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.word_spans import word_spans
from irpretrain.text.words import WordKind, find_words

LEVELS = 6
"""Kinds of lines under words: one for each fifth of the way to the deepest shade, and one from there on."""
GAP = "…"


class PassageWord(NamedTuple):
    """A word of a passage.

    Attributes:
        before: the characters between the word before it and this one.
        text: the word as written, without what the next one shares with it.
        terms: different terms of the index that it counts for; none for a stop word.
        asked: whether one of them is a term of the query, or one of a word that overlaps it.
    """

    before: str
    text: str
    terms: tuple[str, ...]
    asked: bool


class Passage(NamedTuple):
    """The words of a passage and the characters after the last."""

    words: tuple[PassageWord, ...]
    rest: str


@dataclass(frozen=True)
class ShadedWord:
    """A word as it is shown under one weighting.

    Attributes:
        weight: of its terms.
        total: of the passage.
        deepest: share from which the shade is the deepest.
    """

    word: PassageWord
    weight: int
    total: int
    deepest: float

    @property
    def share(self) -> float:
        """Its part of the passage's weight."""
        return self.weight / self.total if self.total else 0.0

    @property
    def level(self) -> int:
        """0 for no weight, 1 for less than a fifth of `deepest`, 2 for less than two … 6 for `deepest` and more."""
        if not self.weight:
            return 0
        return 1 + min(LEVELS - 1, int((LEVELS - 1) * self.weight / (self.total * self.deepest)))

    @property
    def colour(self) -> str:
        """Its background."""
        return colour(self.share, self.deepest)

    @property
    def title(self) -> str:
        """Its numbers in words."""
        terms = self.word.terms
        counted = f" as {' + '.join(terms)}" if terms and terms != (self.word.text.lower(),) else ""
        return f"{self.word.text}{counted}: {percent(self.share)}, weight {self.weight:,} of {self.total:,}"


class TermRow(NamedTuple):
    """A term of the passage or of its weights: the words of the text that stand for it (none for a term that was added
    to it), and its weight under each weighting."""

    term: str
    words: tuple[str, ...]
    asked: bool
    weights: tuple[int, ...]


def percent(share: float) -> str:
    """Return "12.3 %"; the space does not break."""
    return f"{100 * share:.1f}\u00a0%"


def query_terms(query: str, kind: WordKind, analyser: Analyser) -> frozenset[str]:
    """Return the different terms of a query, which is cut into words as documents are."""
    return frozenset(analyser.terms([" ".join(find_words(query, kind))])[0])


def read_passage(text: str, kind: WordKind, analyser: Analyser, asked: frozenset[str]) -> Passage:
    """Cut a passage into its words.

    Args:
        asked: terms of the query.
    """
    spans = word_spans(text, kind)
    analyser.learn(spans.words)
    words, end, ends_of_asked = list[PassageWord](), 0, 0
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    next_starts = [*starts, len(text)][1:]
    for word, first, last, following in zip(spans.words, starts, ends, next_starts, strict=True):
        terms = tuple(dict.fromkeys(analyser.terms_of_word(word)))
        if not asked.isdisjoint(terms):
            ends_of_asked = last
        shown = min(last, following)
        words.append(PassageWord(text[end:first], text[first:shown], terms, first < ends_of_asked))
        end = shown
    return Passage(tuple(words), text[end:])


def shade(passage: Passage, weights: Mapping[str, int], deepest: float) -> list[ShadedWord]:
    """Return every word with what one weighting gives its terms; `weights` is term → weight."""
    total = sum(weights.values())
    return [
        ShadedWord(word, sum(weights.get(term, 0) for term in word.terms), total, deepest)
        for word in passage.words
    ]


def legend(deepest: float) -> list[tuple[int, str, str, str]]:
    """Return level, colours where it begins and ends, and name of each shade."""
    bounds = [deepest * number / (LEVELS - 1) for number in range(LEVELS)]
    shares = [f"{100 * bound:.4g}" for bound in bounds]
    names = [
        f"below {shares[1]}\u00a0%",
        *(f"{low}\u2013{high}\u00a0%" for low, high in pairwise(shares[1:])),
        f"{shares[-1]}\u00a0% and more",
    ]
    colours = [colour(bound, deepest) for bound in bounds]
    ends = [*colours[1:], colours[-1]]
    return [(number + 1, *shown) for number, shown in enumerate(zip(colours, ends, names, strict=True))]


def term_rows(
    passage: Passage, weightings: Sequence[Mapping[str, int]], asked: frozenset[str]
) -> list[TermRow]:
    """Return every term in the order of the text, then those that are not in it by the alphabet."""
    written: dict[str, dict[str, None]] = {}
    for word in passage.words:
        for term in word.terms:
            written.setdefault(term, {})[word.text.lower()] = None
    added = sorted({term for weights in weightings for term in weights} - written.keys())
    return [
        TermRow(
            term,
            tuple(written.get(term, ())),
            term in asked,
            tuple(weights.get(term, 0) for weights in weightings),
        )
        for term in (*written, *added)
    ]


class Piece(NamedTuple):
    """Some characters of a text, and whether they are a word of the query."""

    text: str
    asked: bool


def snippet(passage: Passage, words: int) -> list[Piece]:
    """Return the window of `words` words with most different terms of the query, of equal ones with most of its words,
    of equal ones the first; characters between its words as they are, line breaks as spaces. Words count as the query's
    when the index gives them a term of the query, so "values" counts for "value"."""
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
