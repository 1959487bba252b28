"""The token store, which holds every document's word pieces: read memory-mapped, so that training and re-ranking never
tokenise a document again. `irpretrain.text.store_tokens` writes it; docs/architecture.md lists its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.errors import InputError, IntegrityError

if TYPE_CHECKING:
    from irpretrain.text.word_pieces import WordPieceTokenizer

CHAR_STARTS = "char_starts.npy"
"""Where a token store keeps the first character of each word piece, if it does."""


class TokenStore:
    """Word pieces of the documents of one or several shards, memory-mapped; rows go through them in order.

    Attributes:
        lengths: word pieces of each document (int64 [documents]).
        vocabulary_size: size of the vocabulary the store was made with.
        tokenizer_fingerprint: `WordPieceTokenizer.fingerprint` of the tokenizer it was made with.
        fingerprint: hash of everything in the store, for the names of checkpoints.
    """

    def __init__(self, shards: list[_Shard]) -> None:
        self._shards = shards
        self._firsts = np.cumsum([0, *(len(shard.offsets) - 1 for shard in shards)])
        self.lengths = np.concatenate([np.diff(shard.offsets) for shard in shards])
        self.vocabulary_size: int = shards[0].record["vocabulary_size"]
        self.tokenizer_fingerprint: str = shards[0].record["tokenizer"]
        joined = "\n".join(json.dumps(shard.record, sort_keys=True) for shard in shards)
        self.fingerprint = hashlib.sha256(joined.encode()).hexdigest()[:16]
        self.document_ids = pa.chunked_array(
            [c for shard in shards for c in shard.documents.chunks], pa.string()
        )

    @classmethod
    def open(cls, directories: Sequence[str | Path]) -> TokenStore:
        """Open token stores as one.

        Raises:
            IntegrityError: a store is incomplete, the stores come from different tokenizers, or two documents
                share an identifier.
        """
        if not directories:
            raise ValueError("TokenStore.open needs at least one directory")
        shards = [_Shard(Path(directory)) for directory in directories]
        for shard in shards[1:]:
            if shard.record["tokenizer"] != shards[0].record["tokenizer"]:
                raise IntegrityError(
                    shard.directory,
                    f"made with another tokenizer than {shards[0].directory}",
                    remedy="Delete both and run the workflow again.",
                )
        store = cls(shards)
        distinct = pc.count_distinct(store.document_ids).as_py()
        if distinct != len(store):
            raise IntegrityError(
                shards[0].directory,
                f"{len(store) - distinct:,} document identifiers occur twice in {len(shards)} token stores",
                remedy="Identifiers must be unique in a collection; rename those of one corpus.",
            )
        return store

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def rows(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Return the row (int64) of each document. One call costs a pass over the store: ask for many at once.

        Raises:
            InputError: the store lacks a document.
        """
        rows = self.find(document_ids)
        if (rows < 0).any():
            identifiers = list(document_ids)
            lost = [str(identifiers[i]) for i in np.flatnonzero(rows < 0)[:3]]
            raise InputError(
                self._shards[0].directory,
                f"{int((rows < 0).sum()):,} documents are not in the token store, such as {', '.join(lost)}",
                remedy="The store must be made from the same corpus as what refers to it; run the workflow again.",
            )
        return rows

    def find(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Like `rows`, with -1 for documents that the store lacks."""
        if not isinstance(document_ids, pa.Array | pa.ChunkedArray):
            document_ids = pa.array(list(document_ids), type=pa.string())
        rows = pc.index_in(document_ids, value_set=self.document_ids)
        return pc.fill_null(rows, -1).to_numpy().astype(np.int64)

    def tokens(self, row: int) -> np.ndarray:
        """Return the word pieces of a document (a view, uint16 or int32)."""
        shard, start, end = self._place(row)
        return shard.tokens[start:end]

    def word_starts(self, row: int) -> np.ndarray:
        """Return which word pieces of a document begin a word (a view, bool)."""
        shard, start, end = self._place(row)
        return shard.word_starts[start:end]

    def span(self, row: int, start: int, end: int) -> tuple[int, int]:
        """Return (first, last), the word pieces from first to last (exclusive) whose first character lies in
        [start, end) of the document's text.

        The text is what `irpretrain.text.compose` makes of the document's fields; `body_start` says where its body
        begins. Where no piece begins in these characters (they are white space, or were cut off), first equals last.

        Raises:
            IntegrityError: the store was made without positions.
        """
        first, last = self.pieces_before(row, np.array((start, end))).tolist()
        return first, max(first, last)

    def pieces_before(self, row: int, characters: np.ndarray) -> np.ndarray:
        """Return how many word pieces of a document begin before each of some characters of its text (int).

        Raises:
            IntegrityError: the store was made without positions.
        """
        return np.searchsorted(self._char_starts(row), characters.astype(np.int32))

    def characters(self, row: int, start: int, end: int) -> tuple[int, int | None]:
        """Return where the word pieces from `start` to `end` (exclusive; -1: to the end) stand in the document's text.

        The characters reach to the next word piece, or to the end of the text (None).

        Raises:
            IntegrityError: the store was made without positions.
        """
        starts = self._char_starts(row)
        first = int(starts[start]) if 0 < start < len(starts) else 0
        return first, int(starts[end]) if 0 <= end < len(starts) else None

    def _char_starts(self, row: int) -> np.ndarray:
        shard, begin, stop = self._place(row)
        if shard.char_starts is None:
            raise IntegrityError(
                shard.directory,
                "this token store does not know at which characters its word pieces begin",
                remedy="Name positions in the objective's NEEDS, and run the workflow again.",
            )
        starts: np.ndarray = shard.char_starts[begin:stop]
        return starts

    def check_tokenizer(self, tokenizer: WordPieceTokenizer) -> None:
        """Raise IntegrityError unless the store was made with this tokenizer."""
        if tokenizer.fingerprint != self.tokenizer_fingerprint:
            raise IntegrityError(
                self._shards[0].directory,
                f"the store was made with another tokenizer than that of {tokenizer.directory}",
                remedy="Delete the store and run the workflow again.",
            )

    def _place(self, row: int) -> tuple[_Shard, int, int]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is outside a store of {len(self)} documents")
        number = int(np.searchsorted(self._firsts, row, side="right")) - 1
        shard = self._shards[number]
        inside = row - int(self._firsts[number])
        return shard, int(shard.offsets[inside]), int(shard.offsets[inside + 1])


class _Shard:
    """One store directory, memory-mapped."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            self.record: dict[str, Any] = json.loads((directory / "store.json").read_text())
            # An empty file cannot be memory-mapped.
            mode: Literal["r"] | None = "r" if self.record["word_pieces"] else None
            self.tokens = np.load(directory / "tokens.npy", mmap_mode=mode)
            self.word_starts = np.load(directory / "word_starts.npy", mmap_mode=mode)
            has_char_starts = "char_starts" in self.record.get("contents", {})
            self.char_starts = np.load(directory / CHAR_STARTS, mmap_mode=mode) if has_char_starts else None
            self.offsets = np.load(directory / "offsets.npy")
            self.documents = pq.read_table(directory / "documents.parquet").column("document_id")
        except (OSError, ValueError, KeyError) as error:
            raise IntegrityError(
                directory,
                f"this is not a token store: {error}",
                remedy="Delete it and run the workflow again.",
            ) from None
        lengths = {len(a) for a in (self.tokens, self.word_starts, self.char_starts) if a is not None}
        if lengths != {self.offsets[-1]}:
            raise IntegrityError(
                directory,
                "the token store's files do not fit together",
                remedy="Delete it and run the workflow again.",
            )
