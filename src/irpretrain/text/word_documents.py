"""The word stores of a corpus as one: documents found by their identifiers."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.errors import InputError, IntegrityError
from irpretrain.text.word_store import WordStore


class WordDocuments:
    """Words of the documents of one or several shards; rows go through them in order.

    Attributes:
        lengths: words of each document (int64 [documents]).
        collection_words: words of the collection that the numbers refer to.
        fingerprint: hash of everything in the stores, for the names of checkpoints.
        directory: the first of them, for messages.
    """

    def __init__(self, stores: Sequence[WordStore], directory: Path) -> None:
        self._stores, self.directory = stores, directory
        self._firsts = np.cumsum([0, *map(len, stores)])
        self.lengths = np.concatenate([np.diff(store.offsets) for store in stores])
        self.collection_words = stores[0].vocabulary
        joined = "\n".join(json.dumps(store.record, sort_keys=True) for store in stores)
        self.fingerprint = hashlib.sha256(joined.encode()).hexdigest()[:16]
        chunks = [chunk for store in stores for chunk in store.document_ids.chunks]
        self.document_ids = pa.chunked_array(chunks, pa.string())

    @classmethod
    def open(cls, directories: Sequence[str | Path], vocabulary: int | None = None) -> Self:
        """Open word stores as one; `vocabulary` is how many words their collection must have, where that is known.

        Raises:
            IntegrityError: a store is damaged, they number the words of different collections, or two documents share
                an identifier.
        """
        if not directories:
            raise ValueError("WordDocuments.open needs at least one directory")
        stores = [WordStore.open(directory) for directory in directories]
        first = Path(directories[0])
        if len({store.vocabulary for store in stores}) > 1:
            raise IntegrityError(
                first,
                "these word stores number the words of different collections",
                remedy="Delete them and run the workflow again.",
            )
        if vocabulary not in (None, stores[0].vocabulary):
            raise IntegrityError(
                first,
                f"it numbers {stores[0].vocabulary:,} words, but the statistics have {vocabulary:,}",
                remedy="Delete the store and run the workflow again.",
            )
        documents = cls(stores, first)
        distinct = pc.count_distinct(documents.document_ids).as_py()
        if distinct != len(documents):
            raise IntegrityError(
                first,
                f"{len(documents) - distinct:,} document identifiers occur twice in {len(stores)} word stores",
                remedy="Identifiers must be unique in a collection; rename those of one corpus.",
            )
        return documents

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def rows(self, document_ids: Iterable[str] | pa.ChunkedArray) -> np.ndarray:
        """Return the row (int64) of each document. One call costs a pass over the stores: ask for many at once.

        Raises:
            InputError: the stores lack a document.
        """
        identifiers = _array(document_ids)
        rows = self.find(identifiers)
        if (rows < 0).any():
            lost = pc.unique(identifiers.filter(pa.array(rows < 0)))
            raise InputError(
                self.directory,
                f"{len(lost):,} documents are in none of the {len(self._stores)} word stores, such as "
                f"{', '.join(lost[:3].to_pylist())}",
                remedy="They must be made from the same corpus as what refers to them; run the workflow again.",
            )
        return rows

    def find(self, document_ids: Iterable[str] | pa.ChunkedArray) -> np.ndarray:
        """Like `rows`, with -1 for documents that the stores lack."""
        rows = pc.index_in(_array(document_ids), value_set=self.document_ids)
        return pc.fill_null(rows, -1).to_numpy().astype(np.int64)

    def words(self, row: int) -> np.ndarray:
        """Return the numbers of a document's words, in order (a view, int32)."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside stores of {len(self)} documents")
        place = int(np.searchsorted(self._firsts, row, side="right")) - 1
        store, inside = self._stores[place], row - int(self._firsts[place])
        return store.words[store.offsets[inside] : store.offsets[inside + 1]]

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of some documents end to end (int32), and where each begins and ends (int64)."""
        words = [self.words(row) for row in rows.tolist()]
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return np.concatenate([np.zeros(0, np.int32), *words]), offsets


def _array(document_ids: Iterable[str] | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if isinstance(document_ids, pa.ChunkedArray):
        return document_ids
    return pa.array(list(document_ids), pa.string())
