"""Small collections of numbered terms, as shards of a word store, and their rankings by sorting all scores."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.axioms.rank_engine.bm25 import document_norms, inverse_document_frequencies
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.text.word_store import WordStore

Build = Callable[..., Postings]
"""The fixture `build`: (documents, number of terms, k1, b) → postings."""


BM25 = Bm25Config(k1=3.8, b=0.87)
Rankings = list[list[tuple[int, float]]]
"""Documents and scores of each query, the best first."""


def shard_of(
    documents: Sequence[Sequence[int]], rows: Sequence[int] | None = None, name: str = "d", part: int = 0
) -> WordStore:
    """Make a shard of some documents (by default all) of one part."""
    rows = range(len(documents)) if rows is None else rows
    chosen = [np.asarray(documents[row], np.int32) for row in rows]
    columns = {
        "document_id": pa.array([f"{name}{row}" for row in rows], pa.string()),
        "part": pa.array([part] * len(chosen), pa.int32()),
        "position": pa.array(rows, pa.int64()),
    }
    words = np.concatenate([*chosen, np.zeros(0, np.int32)])
    return WordsInMemory(words, np.cumsum([0, *map(len, chosen)]), pa.table(columns))


class WordsInMemory(WordStore):
    def __init__(self, words: np.ndarray, offsets: np.ndarray, documents: pa.Table) -> None:
        self.directory, self.record, self.vocabulary = Path("memory"), {}, 1000
        self.words, self.offsets, self.documents = words, offsets, documents
        self.parts, self.positions = (documents[name].to_numpy() for name in ("part", "position"))


def frequencies_of(documents: list[list[int]], terms: int) -> np.ndarray:
    """How often each document holds each term [documents, terms]."""
    return np.array([np.bincount(document, minlength=terms) for document in documents]).reshape(-1, terms)


def scores_of(frequencies: np.ndarray, query: list[int], bm25: Bm25Config = BM25) -> np.ndarray:
    """Every document's score, all at once in NumPy: float32 by term, summed in float64."""
    own = frequencies.sum(axis=1).astype(np.int32)
    count = int((own > 0).sum())
    norms = document_norms(own, own.sum() / max(1, count), bm25)
    idf = inverse_document_frequencies((frequencies > 0).sum(axis=0), count)
    total = np.zeros(len(frequencies))
    for term, times in zip(*np.unique([t for t in query if t >= 0], return_counts=True), strict=True):
        held = frequencies[:, int(term)].astype(np.float32)
        weight = np.float32(times) * idf[int(term)]
        total += np.where(held > 0, weight - weight / (np.float32(1) + held * norms), 0)
    return total.astype(np.float32)


def by_sorting(
    documents: list[list[int]], terms: int, queries: list[list[int]], bm25: Bm25Config = BM25
) -> Rankings:
    """All documents that hold a term of each query, by sorting their scores."""
    frequencies = frequencies_of(documents, terms)
    rankings = []
    for query in queries:
        known = [term for term in query if term >= 0]
        held = (frequencies[:, known] > 0).any(axis=1) if known else np.zeros(len(documents), bool)
        scores = scores_of(frequencies, query, bm25)
        order = sorted(np.flatnonzero(held).tolist(), key=lambda document: (-scores[document], document))
        rankings.append([(document, float(scores[document])) for document in order])
    return rankings
