"""A corpus of several shards as one table: rows in order, found by document identifier."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.errors import InputError, IntegrityError
from irpretrain.text.word_store import WordStore

# The documents of several shards as one: rows go through the shards in order, and identifiers name rows.


class RowShard(Protocol):
    """A shard's documents: document i has the items from offsets[i] to offsets[i + 1]."""

    @property
    def offsets(self) -> np.ndarray: ...
    @property
    def document_ids(self) -> pa.ChunkedArray: ...
    @property
    def record(self) -> dict[str, Any]: ...


ShardType = TypeVar("ShardType", bound=RowShard)


class DocumentRows(ABC, Generic[ShardType]):
    """The documents of one or several shards.

    Attributes:
        lengths: items of each document (int64 [documents]).
        fingerprint: hash of everything in the shards, for the names of checkpoints.
        document_ids: string [documents].
    """

    KIND: ClassVar[str]
    """What a shard is, for messages."""

    def __init__(self, shards: Sequence[ShardType], directory: Path) -> None:
        """Raise IntegrityError where two documents share an identifier."""
        self._shards, self.directory = shards, directory
        self._firsts = np.cumsum([0, *(len(shard.offsets) - 1 for shard in shards)])
        self.lengths = np.concatenate([np.diff(shard.offsets) for shard in shards])
        joined = "\n".join(json.dumps(shard.record, sort_keys=True) for shard in shards)
        self.fingerprint = hashlib.sha256(joined.encode()).hexdigest()[:16]
        chunks = [chunk for shard in shards for chunk in shard.document_ids.chunks]
        self.document_ids = pa.chunked_array(chunks, pa.string())
        distinct = pc.count_distinct(self.document_ids).as_py()
        if distinct != len(self):
            raise IntegrityError(
                directory,
                f"{len(self) - distinct:,} document identifiers occur twice in {len(shards)} {self.KIND}s",
                remedy="Identifiers must be unique in a collection; rename those of one corpus.",
            )

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def rows(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Return the row (int64) of each document, InputError if one is missing. Each call reads the shards once."""
        identifiers = _array(document_ids)
        rows = self.find(identifiers)
        if (rows < 0).any():
            raise self._refusal(identifiers.filter(pa.array(rows < 0)))
        return rows

    def find(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Like `rows`, with -1 for documents that the shards lack."""
        rows = pc.index_in(_array(document_ids), value_set=self.document_ids)
        return pc.fill_null(rows, -1).to_numpy().astype(np.int64)

    @abstractmethod
    def _refusal(self, missing: pa.Array | pa.ChunkedArray) -> InputError:
        """Return the refusal of documents that the shards lack."""

    def _position(self, row: int) -> tuple[ShardType, int]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside a store of {len(self)} documents")
        number = int(np.searchsorted(self._firsts, row, side="right")) - 1
        return self._shards[number], row - int(self._firsts[number])


def _array(document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if isinstance(document_ids, pa.Array | pa.ChunkedArray):
        return document_ids
    return pa.array(list(document_ids), pa.string())


# The word stores of a corpus as one: documents found by their identifiers.


class WordDocuments(DocumentRows[WordStore]):
    """Words of the documents of one or several shards; `collection_words` is the size of the numbering."""

    KIND = "word store"

    def __init__(self, stores: Sequence[WordStore], directory: Path) -> None:
        super().__init__(stores, directory)
        self.collection_words = stores[0].vocabulary

    @classmethod
    def open(cls, directories: Sequence[str | Path], vocabulary: int | None = None) -> Self:
        """Open word stores as one; `vocabulary` is the expected number of words of their collection.

        Raises:
            IntegrityError: a store is damaged, their collections differ, or two documents share an identifier.
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
        store, inside = self._position(row)
        return store.words[store.offsets[inside] : store.offsets[inside + 1]]

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of some documents end to end (int32), and where each begins and ends (int64)."""
        words = [self.words(row) for row in rows.tolist()]
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return np.concatenate([np.zeros(0, np.int32), *words]), offsets
