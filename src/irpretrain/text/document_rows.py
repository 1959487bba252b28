"""The documents of several shards as one: rows go through the shards in order, and identifiers name rows."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.errors import InputError, IntegrityError


class Shard(Protocol):
    """What a shard says of its documents: document i has the items from offsets[i] to offsets[i + 1]."""

    @property
    def offsets(self) -> np.ndarray: ...
    @property
    def document_ids(self) -> pa.ChunkedArray: ...
    @property
    def record(self) -> dict[str, Any]: ...


ShardType = TypeVar("ShardType", bound=Shard)


class DocumentRows(ABC, Generic[ShardType]):
    """The documents of one or several shards.

    Attributes:
        directory: of the first shard, for messages.
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
        """Return the row (int64) of each document. One call costs a pass over the shards: ask for many at once.

        Raises:
            InputError: the shards lack a document.
        """
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

    def _place(self, row: int) -> tuple[ShardType, int]:
        """Return the shard of a document, and its row there."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside a store of {len(self)} documents")
        number = int(np.searchsorted(self._firsts, row, side="right")) - 1
        return self._shards[number], row - int(self._firsts[number])


def _array(document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if isinstance(document_ids, pa.Array | pa.ChunkedArray):
        return document_ids
    return pa.array(list(document_ids), pa.string())
