"""Weights of an index's terms → words of the passage as it stands with their shares, as a page shows them.

Words are those of `irpretrain.text.words`, with their places in the text as written; a word has the weight of the terms
that the index's analyser makes of it. Words of one stem share a term, and each occurrence shows all of its weight. Of
overlapping words (Chinese, Japanese, Korean) each shows its first letter, the last of them all that is left.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from irpretrain.report.attributions import colour
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.words import WordKind, find_words, word_spans

# Share of a passage's weight that has the deepest shade: a half, as in DeepCT's Table 5.
DEEPEST = 0.5
# Kinds of lines under words: one for each fifth of the way to the deepest shade, and one from there on.
LEVELS = 6


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
    in_query: bool


class WeightedPassage(NamedTuple):
    """The words of a passage and the characters after the last."""

    words: tuple[PassageWord, ...]
    rest: str


@dataclass(frozen=True)
class ShadedWord:
    """A word as it is shown under one weighting.

    Attributes:
        weight: of its terms.
        total: of the passage.
    """

    word: PassageWord
    weight: int
    total: int

    @property
    def share(self) -> float:
        """Its part of the passage's weight."""
        return self.weight / self.total if self.total else 0.0

    @property
    def level(self) -> int:
        """0 for no weight, 1 for less than a fifth of `DEEPEST`, 2 for less than two … 6 for `DEEPEST` and more."""
        if not self.weight:
            return 0
        return 1 + min(LEVELS - 1, int((LEVELS - 1) * self.weight / (self.total * DEEPEST)))

    @property
    def colour(self) -> str:
        """Its background."""
        return colour(self.share, DEEPEST)

    @property
    def title(self) -> str:
        """Its numbers in words."""
        terms = self.word.terms
        counted = f" as {' + '.join(terms)}" if terms and terms != (self.word.text.lower(),) else ""
        return f"{self.word.text}{counted}: {percent(self.share)}, weight {self.weight:,} of {self.total:,}"


def percent(share: float) -> str:
    """Return "12.3 %"; the space does not break."""
    return f"{100 * share:.1f}\u00a0%"


def query_terms(query: str, kind: WordKind, analyser: Analyser) -> frozenset[str]:
    """Return the different terms of a query, which is cut into words as documents are."""
    return frozenset(analyser.terms([" ".join(find_words(query, kind))])[0])


def read_passage(text: str, kind: WordKind, analyser: Analyser, in_query: frozenset[str]) -> WeightedPassage:
    """Cut a passage into its words.

    Args:
        asked: terms of the query.
    """
    spans = word_spans(text, kind)
    analyser.learn(spans.words)
    words, end, ends_of_query_terms = list[PassageWord](), 0, 0
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    next_starts = [*starts, len(text)][1:]
    for word, first, last, following in zip(spans.words, starts, ends, next_starts, strict=True):
        terms = tuple(dict.fromkeys(analyser.terms_of_word(word)))
        if not in_query.isdisjoint(terms):
            ends_of_query_terms = last
        displayed = min(last, following)
        words.append(PassageWord(text[end:first], text[first:displayed], terms, first < ends_of_query_terms))
        end = displayed
    return WeightedPassage(tuple(words), text[end:])


def shade(passage: WeightedPassage, weights: Mapping[str, int]) -> list[ShadedWord]:
    """Return every word with what one weighting gives its terms; `weights` is term → weight."""
    total = sum(weights.values())
    return [
        ShadedWord(word, sum(weights.get(term, 0) for term in word.terms), total) for word in passage.words
    ]


def legend() -> list[tuple[int, str, str, str]]:
    """Return level, colours where it begins and ends, and name of each shade."""
    bounds = [DEEPEST * number / (LEVELS - 1) for number in range(LEVELS)]
    shares = [f"{100 * bound:.4g}" for bound in bounds]
    names = [
        f"below {shares[1]}\u00a0%",
        *(f"{low}\u2013{high}\u00a0%" for low, high in pairwise(shares[1:])),
        f"{shares[-1]}\u00a0% and more",
    ]
    colours = [colour(bound, DEEPEST) for bound in bounds]
    ends = [*colours[1:], colours[-1]]
    return [
        (number + 1, *displayed) for number, displayed in enumerate(zip(colours, ends, names, strict=True))
    ]
