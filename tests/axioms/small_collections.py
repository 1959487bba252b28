"""Small collections of numbered terms, as shards of a word store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.text.word_store import WordStore

Build = Callable[..., Postings]
"""The fixture `build`: (documents, number of terms, k1, b) → postings."""


BM25 = Bm25Config(k1=3.8, b=0.87)


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
