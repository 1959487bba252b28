"""Lucene's BM25, operation by operation in its own precision (class BM25Similarity of Lucene 9 and 10).

    idf(t)    = log(1 + (N - df + 0.5) / (df + 0.5))                       double, then float
    norm(D)   = 1 / (k1 ((1 - b) + b |D| / avgdl))                         float
    part(t,D) = w - w / (1 + tf norm(D)),  w = (count of t in Q) idf       float
    score     = Σ part over the terms of Q that D holds                    double, then float

N counts the documents with at least one term, avgdl is the sum of their lengths over N. The textbook's factor k1 + 1,
which changes no order, is missing. The sum of floats is exact in a double for any collection of less than 2**28
documents, so the order of the terms does not matter. |D| is the number of terms of D (Anserini's option bm25.accurate),
or what Lucene's indexes keep of it in one byte (`in_one_byte`).
"""

import numpy as np

from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import ConfigError

# Smallest and largest k1; far beyond them norms overflow single precision.
K1_RANGE = (1e-9, 1e9)


def document_norms(lengths: np.ndarray, average: float, bm25: Bm25Config) -> np.ndarray:
    """Return norm(D) of every document (float32[documents]), 0 for those without terms, which nothing finds.

    `average` is the mean length of the documents with a term. ConfigError if k1 is out of range.
    """
    if not K1_RANGE[0] <= bm25.k1 <= K1_RANGE[1]:
        raise ConfigError(f"k1 = {bm25.k1}: BM25 needs k1 from {K1_RANGE[0]:g} to {K1_RANGE[1]:g}")
    unit, k1, b = np.float32(1), np.float32(bm25.k1), np.float32(bm25.b)
    positive_lengths = np.maximum(lengths, 1).astype(np.float32)
    norms = unit / (k1 * ((unit - b) + b * positive_lengths / np.float32(average or 1)))
    return np.where(lengths > 0, norms, np.float32(0))


# Lengths below this are kept whole, and so are the first four binary digits of what longer ones have beyond it.
EXACT_LENGTHS = 24


def in_one_byte(lengths: np.ndarray) -> np.ndarray:
    """Return lengths (int32) as Lucene's indexes keep them (class SmallFloat): rounded down to one of 256 numbers."""
    excess = np.maximum(lengths.astype(np.int64) - EXACT_LENGTHS, 0)
    _, exponents = np.frexp(excess.astype(np.float64))  # exact below 2**53
    dropped_bits = np.maximum(exponents - 4, 0)
    rounded = EXACT_LENGTHS + ((excess >> dropped_bits) << dropped_bits)
    return np.where(lengths < EXACT_LENGTHS, lengths, rounded).astype(np.int32)


def inverse_document_frequencies(document_frequencies: np.ndarray, filled_documents: int) -> np.ndarray:
    """Return idf (float32) of terms, in a collection with so many documents that hold any term."""
    df = document_frequencies.astype(np.float64)
    return np.log(1 + (filled_documents - df + 0.5) / (df + 0.5)).astype(np.float32)


@compiled
def term_score(weight: np.float32, frequency: np.float32, norm: np.float32) -> np.float32:
    """Return what a term adds to a document's score."""
    return weight - weight / (np.float32(1) + frequency * norm)
