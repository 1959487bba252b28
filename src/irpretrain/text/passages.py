"""Documents cut into overlapping passages, each of which is scored by itself (Dai and Callan, SIGIR 2019: BERT-maxP).

Passages begin every `stride` words and have `words` words; the first one that reaches the end of the document is the
last, so that none lies wholly in another. A document without words has one passage, which is empty.
"""

import numpy as np

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.text.languages import ENGLISH
from irpretrain.text.lengths import spaced_words


def passage_bounds(words: int, options: PassagesConfig, most: int | None) -> list[tuple[int, int]]:
    """Return the first word of each passage of a document with so many words, and the end of its last.

    Args:
        words: of the document.
        options: lengths; with `score: first`, the first passage alone.
        most: of more passages, so many are kept, evenly spaced, the first and the last among them; None for all.
    """
    bounds = [(0, min(options.words, words))]
    while bounds[-1][1] < words:
        start = bounds[-1][0] + options.stride
        bounds.append((start, min(start + options.words, words)))
    if options.score == "first":
        return bounds[:1]
    if most is None or len(bounds) <= most:
        return bounds
    places = np.linspace(0, len(bounds) - 1, most).round().astype(int)
    return [bounds[place] for place in places]


def piece_bounds(word_starts: np.ndarray, options: PassagesConfig, most: int | None) -> list[tuple[int, int]]:
    """Return the passages of a document of word pieces: the first piece of each, and the end of its last.

    A word is a piece that begins one and those that go on with it, so a sign of punctuation is a word too.
    """
    firsts = np.flatnonzero(word_starts)
    firsts[:1] = 0  # pieces before the first beginning belong to the first word
    ends = np.append(firsts, len(word_starts))
    return [(int(ends[first]), int(ends[last])) for first, last in passage_bounds(len(firsts), options, most)]


def text_passages(text: str, options: PassagesConfig, most: int | None, language: str = ENGLISH) -> list[str]:
    """Return the passages of a text, whose words are those of `text.lengths`."""
    words = spaced_words(text, language)
    bounds = passage_bounds(len(words), options, most)
    return [text[words[first][0] : words[last - 1][1]] if first < last else "" for first, last in bounds]


def combine_scores(scores: np.ndarray, passages: np.ndarray, options: PassagesConfig) -> np.ndarray:
    """Return the scores of documents from those of their passages.

    Args:
        scores: float [passages], document after document.
        passages: of each document, at least 1; int64 [documents].
        options: how they are combined.
    """
    firsts = np.cumsum(passages) - passages
    if not len(firsts):
        return scores[:0]
    return (np.add if options.score == "sum" else np.maximum).reduceat(scores, firsts)
