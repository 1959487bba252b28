"""The word stores of a corpus as one: documents found by their identifiers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    def open(cls, directories: Sequence[str | Path]) -> WordDocuments:
        """Open word stores as one.

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

    def rows(self, document_ids: Iterable[str]) -> np.ndarray:
        """Return the row (int64) of each document. One call costs a pass over the stores: ask for many at once.

        Raises:
            InputError: the stores lack a document.
        """
        identifiers = list(document_ids)
        rows = self.find(identifiers)
        if (rows < 0).any():
            lost = [identifiers[place] for place in np.flatnonzero(rows < 0)[:3]]
            raise InputError(
                self.directory,
                f"{int((rows < 0).sum()):,} documents are not in the word stores, such as {', '.join(lost)}",
                remedy="They must be made from the same corpus as what refers to them; run the workflow again.",
            )
        return rows

    def find(self, document_ids: Iterable[str]) -> np.ndarray:
        """Like `rows`, with -1 for documents that the stores lack."""
        rows = pc.index_in(pa.array(list(document_ids), pa.string()), value_set=self.document_ids)
        return pc.fill_null(rows, -1).to_numpy().astype(np.int64)

    def words(self, row: int) -> np.ndarray:
        """Return the numbers of a document's words, in order (a view, int32)."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside stores of {len(self)} documents")
        place = int(np.searchsorted(self._firsts, row, side="right")) - 1
        store, inside = self._stores[place], row - int(self._firsts[place])
        return store.words[store.offsets[inside] : store.offsets[inside + 1]]
