"""The word stores of a corpus as one: documents found by their identifiers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.errors import InputError, IntegrityError
from irpretrain.text.document_rows import DocumentRows
from irpretrain.text.word_store import WordStore


class WordDocuments(DocumentRows[WordStore]):
    """Words of the documents of one or several shards.

    Attributes:
        collection_words: words of the collection that the numbers refer to.
    """

    KIND = "word store"

    def __init__(self, stores: Sequence[WordStore], directory: Path) -> None:
        super().__init__(stores, directory)
        self.collection_words = stores[0].vocabulary

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
        return cls(stores, first)

    def _refusal(self, missing: pa.Array | pa.ChunkedArray) -> InputError:
        lost = pc.unique(missing)
        return InputError(
            self.directory,
            f"{len(lost):,} documents are in none of the {len(self._shards)} word stores, such as "
            f"{', '.join(lost[:3].to_pylist())}",
            remedy="They must be made from the same corpus as what refers to them; run the workflow again.",
        )

    def words(self, row: int) -> np.ndarray:
        """Return the numbers of a document's words, in order (a view, int32)."""
        store, inside = self._place(row)
        return store.words[store.offsets[inside] : store.offsets[inside + 1]]

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of some documents end to end (int32), and where each begins and ends (int64)."""
        words = [self.words(row) for row in rows.tolist()]
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return np.concatenate([np.zeros(0, np.int32), *words]), offsets
