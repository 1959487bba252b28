"""Lucene's BM25, operation by operation in its own precision (class BM25Similarity of Lucene 9 and 10).

    idf(t)    = log(1 + (N - df + 0.5) / (df + 0.5))                       double, then float
    norm(D)   = 1 / (k1 ((1 - b) + b |D| / avgdl))                         float
    part(t,D) = w - w / (1 + tf norm(D)),  w = (times t stands in Q) idf   float
    score     = Σ part over the terms of Q that D holds                    double, then float

N counts the documents with at least one term, avgdl is the sum of their lengths over N. The factor k1 + 1 of the
textbook formula, which changes no order, is not there. The sum of floats is exact in a double for any collection of
less than 2**28 documents, so the order of the terms does not matter.

|D| is the number of terms of D; Lucene keeps it in one byte, with four significant bits (class SmallFloat).
"""

from typing import Literal, NamedTuple

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.errors import ConfigError

Lengths = Literal["exact", "lucene"]
"""What |D| is: the true length, or the length that Lucene's byte stands for (at most an eighth less)."""


class Bm25(NamedTuple):
    """BM25's parameters, and what |D| is."""

    k1: float = 3.8
    b: float = 0.87
    lengths: Lengths = "exact"


DEFAULT = Bm25()
"""k1 and b as ARES has them, with true lengths."""


K1 = (1e-9, 1e9)
"""Smallest and largest k1; far beyond them norms overflow single precision."""
FREE_VALUES = 24
"""Lengths that Lucene's byte keeps as they are; 255 less the byte of the largest int in four significant bits."""


@compiled
def lossy_length(length: int) -> int:
    """Return the length that remains of `length` (0 or more) when Lucene has kept it in one byte.

    byte4ToInt(intToByte4(length)): what exceeds 24 is cut to its four leading bits.
    """
    excess = length - FREE_VALUES
    if excess < 16:
        return length
    shift = 0
    while excess >> shift >= 16:
        shift += 1
    return FREE_VALUES + ((excess >> shift) << shift)


@compiled
def norm_of(length: int, average: np.float32, k1: np.float32, b: np.float32) -> np.float32:
    """Return norm(D), in Lucene's order of operations."""
    unit = np.float32(1)
    return unit / (k1 * ((unit - b) + b * np.float32(length) / average))


@compiled
def fill_norms(
    lengths: np.ndarray, average: np.float32, k1: np.float32, b: np.float32, lossy: bool, norms: np.ndarray
) -> None:
    """Put norm(D) of every document into `norms` (float32), 0 for documents without terms, which nothing finds."""
    for document in range(len(lengths)):
        length = lossy_length(lengths[document]) if lossy else lengths[document]
        norms[document] = norm_of(length, average, k1, b) if length else np.float32(0)


def document_norms(lengths: np.ndarray, average: float, k1: float, b: float, kind: Lengths) -> np.ndarray:
    """Return norm(D) of every document (float32[documents]).

    Args:
        lengths: int32[documents], terms of each document.
        average: mean length of the documents that hold a term.
        k1, b: BM25's parameters, k1 within `K1` and 0 ≤ b ≤ 1.
        kind: true lengths, or as Lucene keeps them.

    Raises:
        ConfigError: k1 or b is out of range.
    """
    if not (K1[0] <= k1 <= K1[1] and 0 <= b <= 1):
        raise ConfigError(
            f"k1 = {k1} and b = {b}: BM25 needs k1 from {K1[0]:g} to {K1[1]:g} and b from 0 to 1"
        )
    norms = np.empty(len(lengths), np.float32)
    fill_norms(lengths, np.float32(average or 1), np.float32(k1), np.float32(b), kind == "lucene", norms)
    return norms


def inverse_document_frequencies(frequencies: np.ndarray, documents: int) -> np.ndarray:
    """Return idf (float32) of terms that so many of `documents` documents hold."""
    held = frequencies.astype(np.float64)
    return np.log(1 + (documents - held + 0.5) / (held + 0.5)).astype(np.float32)


@compiled
def part_of_score(weight: np.float32, frequency: np.float32, norm: np.float32) -> np.float32:
    """Return what a term adds to a document's score."""
    return weight - weight / (np.float32(1) + frequency * norm)
