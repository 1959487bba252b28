"""From ranking groups and word stores to padded batches of word ids, for rankers over words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from irpretrain.errors import IntegrityError
from irpretrain.text.document_rows import WordDocuments
from irpretrain.text.vocabulary import Vocabulary
from irpretrain.training.batches import RankingGroup


@dataclass(frozen=True)
class WordBatch:
    """Pairs of some groups, padded with 0 to the longest, group after group."""

    query: np.ndarray  # int64 [pairs, query words]
    document: np.ndarray  # int64 [pairs, document words]
    sizes: np.ndarray  # int64 [groups]; pairs of each group

    @property
    def tokens(self) -> int:
        return int((self.query > 0).sum() + (self.document > 0).sum())


class WordBatchBuilder:
    """Turns groups of a literal query and whole documents into batches.

    Raises:
        IntegrityError: the documents' words are numbered by another collection.
    """

    def __init__(
        self, documents: WordDocuments, vocabulary: Vocabulary, query_words: int, document_words: int
    ) -> None:
        if documents.collection_words != vocabulary.collection_words:
            raise IntegrityError(
                documents.directory,
                f"these word stores are of a collection of {documents.collection_words:,} words, the ranker of one of "
                f"{vocabulary.collection_words:,}",
                remedy="Delete both and run the workflow again.",
            )
        self._documents, self._vocabulary = documents, vocabulary
        self._query_words, self._document_words = query_words, document_words

    def query(self, text: str) -> np.ndarray:
        return self._vocabulary.encode(text)[: self._query_words]

    def document(self, row: int) -> np.ndarray:
        return self._vocabulary.of_numbers(self._documents.words(row))[: self._document_words]

    def build(self, groups: Sequence[RankingGroup]) -> WordBatch:
        pairs = [pair for group in groups for pair in self._pairs(group)]
        sizes = np.array([len(group) for group in groups], np.int64)
        return WordBatch(pad([query for query, _ in pairs]), pad([document for _, document in pairs]), sizes)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        counts = [sum(len(query) + len(document) for query, document in self._pairs(g)) for g in groups]
        return np.array(counts, np.int64)

    def _pairs(self, group: RankingGroup) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for query, span, _ in group.sequences():
            if not isinstance(query, str) or span.start or span.end >= 0:
                raise ValueError("a ranker over words reads literal queries and whole documents")
            yield self.query(query), self.document(span.row)


def pad(texts: Sequence[np.ndarray]) -> np.ndarray:
    """Return ids as int64 [texts, words of the longest], one word at least, padded with 0."""
    padded = np.zeros((len(texts), max([1, *map(len, texts)])), np.int64)
    for row, text in enumerate(texts):
        padded[row, : len(text)] = text
    return padded
