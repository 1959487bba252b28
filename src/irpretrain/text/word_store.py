"""The word store: every document of a corpus shard as numbers of words, in text order, memory-mapped.

A word's number is its row in the collection's WORD_COUNTS table, so stems and stop lists are maps over numbers
(`irpretrain.text.terms`) and a position in the store is a position in the document. The items of
`irpretrain.text.document_rows` are `words` (int32); a document has its document_id, part and position.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from irpretrain.config.text import TextConfig
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError, refusing_damage
from irpretrain.foundation.progress import progress
from irpretrain.text.document_rows import DocumentRows, StoreShard, StoreWriter
from irpretrain.text.texts import texts_of
from irpretrain.text.words import word_finder

DOCUMENTS_AT_ONCE = 1024
KEYS = ("document_id", "part", "position")


class WordStore(StoreShard):
    """The words of one shard.

    Attributes:
        words: int32 [words].
        vocabulary_size: rows of the WORD_COUNTS table that the numbers refer to.
        parts, positions: int32 and int64 [documents]; the positions of the documents in their corpus.
    """

    KIND = "word store"

    def __init__(self, directory: str | Path) -> None:
        super().__init__(directory, ["words"])
        self.words = self.arrays["words"]
        with refusing_damage(directory, f"this is not a {self.KIND}", MAKE_AGAIN):
            self.vocabulary_size: int = self.record["vocabulary"]
            self.parts, self.positions = (self.documents[name].to_numpy() for name in ("part", "position"))


class WordDocuments(DocumentRows[WordStore]):
    """Words of the documents of one or several shards; `collection_words` is the size of the numbering."""

    @classmethod
    def open(cls, directories: Sequence[str | Path], vocabulary_size: int | None = None) -> Self:
        """Open word stores as one; `vocabulary_size` is the expected number of words of their collection.

        Raises:
            IntegrityError: a store is damaged, of another collection, or two documents share an identifier.
        """
        stores = [WordStore(directory) for directory in directories]
        for store in stores:
            expected_size = stores[0].vocabulary_size if vocabulary_size is None else vocabulary_size
            if store.vocabulary_size != expected_size:
                fault = (
                    f"it numbers {store.vocabulary_size:,} words, but the collection has {expected_size:,}"
                )
                raise IntegrityError(store.directory, fault, remedy=MAKE_AGAIN)
        return cls(stores)

    @property
    def collection_words(self) -> int:
        return self.shards[0].vocabulary_size

    def words(self, row: int) -> np.ndarray:
        """Return the numbers of a document's words, in order (a view, int32)."""
        store, words = self._items(row)
        return store.words[words]

    def in_order(self, shard_counts: Sequence[int]) -> np.ndarray:
        """Return the rows corpus after corpus, each by (part, position); `shard_counts`: shards of each corpus."""
        corpus_of_shard = np.repeat(np.arange(len(shard_counts)), shard_counts)
        corpora = np.repeat(corpus_of_shard, [len(shard) for shard in self.shards])
        parts = np.concatenate([shard.parts for shard in self.shards])
        positions = np.concatenate([shard.positions for shard in self.shards])
        return np.lexsort((positions, parts, corpora))

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of some documents end to end (int32), and where each begins and ends (int64)."""
        # Documents that follow each other in a store are copied together.
        is_adjacent = (np.diff(rows) == 1) & ~np.isin(rows[1:], self._shard_starts)
        words = [np.zeros(0, np.int32)]
        for adjacent_rows in np.split(rows, 1 + np.flatnonzero(~is_adjacent)) if len(rows) else ():
            store, first_slice = self._items(int(adjacent_rows[0]))
            start = first_slice.start
            words.append(store.words[start : start + int(self.lengths[adjacent_rows].sum())])
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(self.lengths[rows], out=offsets[1:])
        return np.concatenate(words), offsets


def write_word_store(
    documents: str | Path, statistics: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Write the words of a corpus shard (DOCUMENTS) by number; return counts of documents and words.

    Args:
        statistics: merged WORD_COUNTS of a collection that holds the shard.
        text: how fields become a text, and a text words; as the statistics were made with.

    Raises:
        IntegrityError: the statistics lack a word of the shard, so they are of other documents.
    """
    number_of_word = word_numbers(statistics)
    key_batches: list[pa.RecordBatch] = []
    counts = {"documents": 0, "words": 0}
    split_words, columns = word_finder(text.word_kind), list(dict.fromkeys([*KEYS, *text.fields]))
    batches = DOCUMENTS.stream(documents, columns, DOCUMENTS_AT_ONCE)
    title, total = f"number words {Path(documents).parent.name}", DOCUMENTS.count(documents)
    with atomic_directory(output) as folder:
        with StoreWriter(folder, {"words": np.int32}) as writer:
            for rows in progress(batches, title, "documents", total, size=len):
                word_lists = [split_words(document) for document in texts_of(rows, text)]
                try:
                    flat_numbers = [number_of_word[word] for text_words in word_lists for word in text_words]
                except KeyError as error:
                    fault = f"{documents} holds the word {error.args[0]!r}, which these statistics lack"
                    raise IntegrityError(statistics, fault, remedy=MAKE_AGAIN) from None
                writer.add(word_lists, words=np.array(flat_numbers, np.int32))
                key_batches.append(rows.select(list(KEYS)))
                counts["documents"] += len(rows)
                counts["words"] += len(flat_numbers)
        schema = pa.schema([DOCUMENTS.schema.field(name) for name in KEYS])
        record = {**counts, "vocabulary": len(number_of_word)}
        writer.finish(pa.Table.from_batches(key_batches, schema), record, ["words"], compression="snappy")
    return counts


def word_numbers(statistics: str | Path) -> dict[str, int]:
    """Return word → number (its row) of a WORD_COUNTS table."""
    words = WORD_COUNTS.read(statistics, ["word"])["word"].to_pylist()
    return {word: number for number, word in enumerate(words)}
