"""Which word piece speaks for which word, which positions a window reads, and which window speaks for a word.

A word's weight is that of its first word piece (DeepCT, section 3.1). Words are ours (`irpretrain.text.words`), pieces
the encoder's, so they are brought together by characters: the first piece of a word is the first one that ends after
the word begins and begins before the word ends. Where the tokenizer makes one piece of several words, they share it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from irpretrain.text.encoder_pieces import Pieces
from irpretrain.text.word_spans import WordSpans

NO_PIECE = -1
"""First piece of a word that has none: the tokenizer drops its characters."""
MASKED_OUT = np.float32(np.nan)
"""Target of a piece that is not part of the loss."""


class WordWeights(NamedTuple):
    """Weights of the words of a text.

    Attributes:
        values: float32 [words], whatever the model says, infinities too; 0 where nothing was read.
        read: bool [words], whether the model has read the word.
    """

    values: np.ndarray
    read: np.ndarray


def first_pieces(words: WordSpans, pieces: Pieces) -> np.ndarray:
    """Return the first piece of each word (int32 [words]), NO_PIECE where there is none."""
    first = np.searchsorted(pieces.ends, words.starts, "right").astype(np.int32)
    reached = first < len(pieces.ids)
    reached[reached] = pieces.starts[first[reached]] < words.ends[reached]
    first[~reached] = NO_PIECE
    return first


def piece_targets(words: WordSpans, pieces: Pieces, targets: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the target of each piece (float32 [pieces]), and how many words have no piece.

    The first piece of a word has the word's target, or that of the largest of the words that share it. Other pieces of
    a word, and those that only continue something else, are MASKED_OUT. What is no word at all, as punctuation, has
    target 0 and counts, as in the released code.

    Args:
        words, pieces: of one text.
        targets: float32 [words].
    """
    first = first_pieces(words, pieces)
    values = np.where(pieces.begins & ~_inside(words, pieces), np.float32(0), MASKED_OUT)
    placed = first != NO_PIECE
    values[first[placed]] = MASKED_OUT
    np.fmax.at(values, first[placed], targets[placed])
    return values, int((~placed).sum())


def _inside(words: WordSpans, pieces: Pieces) -> np.ndarray:
    """Whether each piece stands for a character of some word."""
    word = np.searchsorted(words.ends, pieces.starts, "right")
    inside = word < len(words.words)
    inside[inside] = words.starts[word[inside]] < pieces.ends[inside]
    return inside


def windows(pieces: int, room: int, overlap: int | None) -> list[tuple[int, int]]:
    """Return first piece and end of each window of a text with so many pieces.

    Args:
        pieces: of the text.
        room: pieces that a window holds.
        overlap: pieces that two windows share; None for one window with the beginning of the text. The last window ends
            with the text and shares more.
    """
    if pieces <= room or overlap is None:
        return [(0, min(pieces, room))]
    starts = list(range(0, pieces - room, room - overlap))
    return [*((start, start + room) for start in starts), (pieces - room, pieces)]


def word_weights(
    first: np.ndarray,
    pieces: int,
    read: Sequence[tuple[int, int]],
    weights: Sequence[np.ndarray],
) -> WordWeights:
    """Return the weights of the words of a text, each from the window where the word is farthest from an edge.

    Args:
        first: first piece of each word.
        pieces: of the text.
        read: windows of the text; of equally far ones the first counts.
        weights: of each window's pieces, float32.
    """
    places = np.arange(len(first))
    table = np.zeros((len(read), len(first)), np.float32)
    margin = np.full((len(read), len(first)), -1, np.int32)
    for row, ((start, end), values) in enumerate(zip(read, weights, strict=True)):
        inside = (first >= start) & (first < end)
        place = first[inside]
        table[row, inside] = values[place - start]
        before = place - start if start > 0 else np.full(len(place), pieces)
        after = end - 1 - place if end < pieces else np.full(len(place), pieces)
        margin[row, inside] = np.minimum(before, after)
    has_weight: np.ndarray = margin.max(0) >= 0
    return WordWeights(table[margin.argmax(0), places], has_weight)
