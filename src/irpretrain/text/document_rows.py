"""Stores of documents as rows of items, such as words: a directory per shard, several shards as one table.

A directory has an array of items `<name>.npy` or several, all documents end to end; `offsets.npy` (int64 [documents +
1]), where each document begins; `documents.parquet`, a row per document; and `store.json` (counts, and hashes of the
contents).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError, count_of, refusing_damage
from irpretrain.foundation.out_of_core import GrowingArray
from irpretrain.foundation.tables import read_parquet


class StoreShard:
    """The store of one shard, memory-mapped: document i has the items from offsets[i] to offsets[i + 1].

    Attributes:
        record: content of store.json.
        documents: table with the column document_id, a row per document.
        arrays: the items, by the arrays' names.
    """

    KIND: ClassVar[str]
    """What a shard is, for messages."""

    def __init__(
        self, directory: str | Path, arrays: Sequence[str], optional_arrays: Sequence[str] = ()
    ) -> None:
        """Raise IntegrityError if a file is missing or damaged, or the files do not fit together."""
        self.directory = folder = Path(directory)
        with refusing_damage(directory, f"this is not a {self.KIND}", MAKE_AGAIN):
            self.record: dict[str, Any] = json.loads((folder / "store.json").read_text())
            self.offsets = np.load(folder / "offsets.npy")
            names = [*arrays, *(name for name in optional_arrays if name in self.record.get("contents", {}))]
            # An empty file cannot be memory-mapped.
            mode: Literal["r"] | None = "r" if self.offsets[-1] else None
            mapped_arrays = {name: np.load(folder / f"{name}.npy", mmap_mode=mode) for name in names}
            self.documents = read_parquet(folder / "documents.parquet")
        self.arrays = {name: np.asarray(array) for name, array in mapped_arrays.items()}
        for array in self.arrays.values():
            array.flags.writeable = False  # so that kernels meet one type, whether an array is empty or not
        lengths = {len(array) for array in self.arrays.values()}
        if lengths != {self.offsets[-1]} or self.documents.num_rows != len(self):
            raise IntegrityError(directory, f"the {self.KIND}'s files do not fit together", remedy=MAKE_AGAIN)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def document_ids(self) -> pa.ChunkedArray:
        """string [documents]."""
        return self.documents["document_id"]


class StoreWriter(ExitStack):
    """Writes a shard's store into a folder, documents in their order; `kinds` has the types of its arrays."""

    def __init__(self, folder: Path, array_types: Mapping[str, Any]) -> None:
        super().__init__()
        self._folder, self._lengths = folder, [np.zeros(0, np.int64)]
        self._arrays = {
            name: self.enter_context(GrowingArray(folder / f"{name}.npy", np.dtype(array_type)))
            for name, array_type in array_types.items()
        }

    def add(self, item_lists: Sequence[Sized], **arrays: np.ndarray) -> None:
        """Add documents that have these items; in the arrays they stand end to end."""
        self._lengths.append(np.fromiter(map(len, item_lists), np.int64, len(item_lists)))
        for name, values in arrays.items():
            self._arrays[name].add(values)

    def finish(
        self, documents: pa.Table, record: Mapping[str, Any], hashed_arrays: Iterable[str], compression: str
    ) -> None:
        """Write what is not an array; the record has hashes of the arrays that `hashed_arrays` names."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(self._lengths))])
        np.save(self._folder / "offsets.npy", offsets)
        pq.write_table(
            documents.combine_chunks(), self._folder / "documents.parquet", compression=compression
        )
        identifiers_hash = hashlib.sha256()
        for chunk in documents["document_id"].chunks:
            identifiers_hash.update("".join(f"{name}\0" for name in chunk.to_pylist()).encode())
        contents = {
            "offsets": hashlib.sha256(offsets.tobytes()).hexdigest(),
            "documents": identifiers_hash.hexdigest(),
            **{name: self._arrays[name].sha256() for name in hashed_arrays},
        }
        record_json = json.dumps({**record, "contents": contents}, indent=1, sort_keys=True)
        (self._folder / "store.json").write_text(f"{record_json}\n")


ShardType = TypeVar("ShardType", bound=StoreShard)


class DocumentRows(Generic[ShardType]):
    """The documents of one or several shards as one: rows go through the shards in order, identifiers name rows.

    Attributes:
        shards: as they were given.
        directory: of the first shard.
        lengths: items of each document (int64 [documents]).
        fingerprint: hash of everything in the shards, for the names of checkpoints.
        document_ids: string [documents].
    """

    def __init__(self, shards: Sequence[ShardType]) -> None:
        """Raise IntegrityError where two documents share an identifier."""
        if not shards:
            raise ValueError("a store has at least one directory")
        self.shards, self.directory = shards, shards[0].directory
        self._shard_starts = np.cumsum([0, *map(len, shards)])
        self.lengths = np.concatenate([np.diff(shard.offsets) for shard in shards])
        shard_records = "\n".join(json.dumps(shard.record, sort_keys=True) for shard in shards)
        self.fingerprint = hashlib.sha256(shard_records.encode()).hexdigest()[:16]
        chunks = [chunk for shard in shards for chunk in shard.document_ids.chunks]
        self.document_ids = pa.chunked_array(chunks, pa.string())
        distinct_count = pc.count_distinct(self.document_ids).as_py()
        if distinct_count != len(self):
            raise IntegrityError(
                self.directory,
                f"{len(self) - distinct_count:,} document identifiers occur twice in {len(shards)} {shards[0].KIND}s",
                remedy="Identifiers must be unique in a collection; rename those of one corpus.",
            )

    def __len__(self) -> int:
        return int(self._shard_starts[-1])

    def rows(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Return the row (int64) of each document, InputError if one is missing. Each call reads the shards once."""
        identifiers = _array(document_ids)
        rows = self.find(identifiers)
        if (rows < 0).any():
            missing_ids = pc.unique(identifiers.filter(pa.array(rows < 0)))
            raise InputError(
                self.directory,
                f"{count_of(len(missing_ids), 'document')} in none of "
                f"{count_of(len(self.shards), self.shards[0].KIND)}, such as {', '.join(missing_ids[:3].to_pylist())}",
                remedy="They must be made from the same corpus as what refers to them; run the workflow again.",
            )
        return rows

    def find(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Like `rows`, with -1 for documents that the shards lack."""
        rows = pc.index_in(_array(document_ids), value_set=self.document_ids)
        return pc.fill_null(rows, -1).to_numpy().astype(np.int64)

    def _items(self, row: int) -> tuple[ShardType, slice]:
        """Return the shard of a document, and where its items stand in the shard's arrays."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside a store of {len(self)} documents")
        shard_index = int(np.searchsorted(self._shard_starts, row, side="right")) - 1
        shard, row_in_shard = self.shards[shard_index], row - int(self._shard_starts[shard_index])
        return shard, slice(shard.offsets[row_in_shard], shard.offsets[row_in_shard + 1])


def _array(document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if isinstance(document_ids, pa.Array | pa.ChunkedArray):
        return document_ids
    return pa.array(list(document_ids), pa.string())
