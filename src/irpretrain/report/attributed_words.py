"""Attributions of word pieces → words of the text with their colours, as a page shows them.

Words are those of the text, not of a vocabulary, so that the maps of models with different tokenizers can be compared:
runs of letters and digits, single Chinese or Japanese characters, and every other sign by itself. A piece counts
for the word that its first character lies in.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irpretrain.models.attribution import AttributedText, Attribution

EAST_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{EAST_ASIAN}]|[^\W_{EAST_ASIAN}]+|\S")
STRONGEST = 0.75
"""Opacity of the strongest colour: dark letters stay readable on it."""
RED, BLUE = "214,39,40", "44,100,220"


@dataclass(frozen=True)
class Word:
    """A word of a text that the model read.

    Attributes:
        before: the characters between the word before it and this one.
        text: the word as written.
        value: sum of its pieces.
        pieces: (vocabulary entry, value) of each.
    """

    before: str
    text: str
    value: float
    pieces: tuple[tuple[str, float], ...]

    @property
    def title(self) -> str:
        """What is shown on pointing at it: its value, and those of its pieces where there are several."""
        if len(self.pieces) == 1:
            return signed(self.value)
        parts = ", ".join(f"{piece} {signed(value)}" for piece, value in self.pieces)
        return f"{signed(self.value)} = {parts}" if self.pieces else f"{signed(self.value)} (no word piece)"


def signed(value: float) -> str:
    """Three significant digits with a sign; 0 without one."""
    return f"{value:+.3g}" if value else "0"


def words_of(side: AttributedText) -> list[Word]:
    """Return the words up to the last one that the model read a piece of; their values sum to that of the pieces."""
    spans = [match.span() for match in WORD.finditer(side.text)]
    if not spans:
        return []
    starts = np.array([start for start, _ in spans])
    pieces: list[list[tuple[str, float]]] = [[] for _ in spans]
    for piece, (first, end), value in zip(side.pieces, side.spans, side.values, strict=True):
        while (
            first < end and side.text[first].isspace()
        ):  # some vocabularies write the space before a word with it
            first += 1
        place = max(0, int(np.searchsorted(starts, first, side="right")) - 1)
        pieces[place].append((piece, float(value)))
    last = (
        len(spans)
        if not side.cut
        else 1 + max((i for i, of_word in enumerate(pieces) if of_word), default=-1)
    )
    ends = [0, *(end for _, end in spans)]
    return [
        Word(side.text[ends[i] : start], side.text[start:end], sum(v for _, v in pieces[i]), tuple(pieces[i]))
        for i, (start, end) in enumerate(spans[:last])
    ]


def colour(value: float, scale: float) -> str:
    """Return the background of a word: red for positive, blue for negative, white for 0; `scale` is the strongest."""
    depth = STRONGEST * min(1.0, abs(value) / scale) if scale > 0 else 0.0
    return f"rgba({RED if value > 0 else BLUE},{depth:.3f})" if depth >= 0.0005 else "transparent"


def strongest(words: Sequence[Word]) -> float:
    """Return the largest absolute value, by which the colours of a model are normalised."""
    return max((abs(word.value) for word in words), default=0.0)


def top_words(words: Sequence[Word], number: int) -> tuple[list[tuple[str, int, float]], ...]:
    """Return the words (lower-cased, occurrences, sum of values) with the largest sums, then those with the smallest.

    Of equal sums the first in the alphabet comes first; positive sums only, then negative sums only.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    counts = Counter(word.text.lower() for word in words)
    for word in words:
        sums[word.text.lower()] += word.value
    ordered = sorted(sums.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    positive = [(word, counts[word], value) for word, value in ordered if value > 0]
    negative = [(word, counts[word], value) for word, value in ordered if value < 0]
    return positive[:number], negative[:number]


def quarters(words: Sequence[Word]) -> list[float] | None:
    """Return the share of all positive values that lies in each quarter of the words; None where none is positive."""
    values = np.array([max(0.0, word.value) for word in words])
    if values.sum() <= 0:
        return None
    parts = np.minimum(3, np.arange(len(values)) * 4 // len(values))
    return [float(values[parts == part].sum() / values.sum()) for part in range(4)]


def relative_residual(attribution: Attribution) -> float:
    """Return the size of the residual of completeness as a share of the sum of all absolute values."""
    size = float(np.abs(attribution.query.values).sum() + np.abs(attribution.document.values).sum())
    return abs(attribution.residual) / size if size > 0 else 0.0
