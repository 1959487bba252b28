"""Ranks of, and searches for, documents that are given as words, for collections whose words fit in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from irpretrain.rank_engine.build_postings import write_postings
from irpretrain.rank_engine.document_rank import document_ranks
from irpretrain.rank_engine.postings import Postings
from irpretrain.rank_engine.top_documents import top_documents


class WordsInMemory(NamedTuple):
    """The words of a shard that fits in memory; see `build_postings.WordShard`."""

    words: np.ndarray
    offsets: np.ndarray
    parts: np.ndarray
    positions: np.ndarray
    document_ids: pa.Array


@dataclass(frozen=True)
class RankIndex:
    """Postings with the words that their terms are."""

    postings: Postings
    terms: Mapping[str, int]

    def ranks(self, queries: Sequence[tuple[str, Sequence[str]]], **options: Any) -> np.ndarray:
        """Return the rank (int32 [queries]) of a document under a query, for each (identifier, words).

        `options` are bm25, depth and threads of `document_ranks`, which says what a rank is.
        """
        documents = self.postings.rows(pa.array([identifier for identifier, _ in queries], pa.string()))
        numbers = [self.terms.get(word, -1) for _, words in queries for word in words]
        offsets = np.cumsum([0, *(len(words) for _, words in queries)])
        return document_ranks(self.postings, documents, np.array(numbers, np.int64), offsets, **options)

    def search(self, queries: Sequence[Sequence[str]], **options: Any) -> list[list[tuple[str, float]]]:
        """Return the best documents (identifier, score) of each query, given as its words.

        `options` are bm25, depth and threads of `top_documents`.
        """
        numbers = [self.terms.get(word, -1) for words in queries for word in words]
        offsets = np.cumsum([0, *map(len, queries)])
        documents, scores = top_documents(self.postings, np.array(numbers, np.int64), offsets, **options)
        names = self.postings.document_ids.to_pylist()
        return [
            [(names[document], score) for document, score in zip(*row, strict=True) if document >= 0]
            for row in zip(documents.tolist(), scores.tolist(), strict=True)
        ]


def index_documents(documents: Mapping[str, Sequence[str]], folder: str | Path, **options: Any) -> RankIndex:
    """Write the postings of documents, given by identifier as their words, to a new folder.

    `options` are bm25 and memory_mb of `write_postings`, which says what is refused.
    """
    names = dict.fromkeys(chain.from_iterable(documents.values()))
    terms = {word: number for number, word in enumerate(names)}
    words = np.array([terms[word] for text in documents.values() for word in text], np.int32)
    offsets = np.cumsum([0, *map(len, documents.values())])
    places, identifiers = np.arange(len(documents)), pa.array(list(documents), pa.string())
    shard = WordsInMemory(words, offsets, np.zeros(len(documents), np.int64), places, identifiers)
    write_postings([[shard]], np.arange(len(terms), dtype=np.int32), len(terms), folder, **options)
    return RankIndex(Postings.open(folder), terms)
