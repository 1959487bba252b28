"""The token store, which holds every document's word pieces: read memory-mapped, so that training and re-ranking never
tokenise a document again. `irpretrain.text.store_tokens` writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.text.document_rows import DocumentRows

if TYPE_CHECKING:
    from irpretrain.text.word_pieces import WordPieceTokenizer

CHAR_STARTS = "char_starts.npy"
"""Where a token store keeps the first character of each word piece, if it does."""


class TokenStore(DocumentRows["_Shard"]):
    """Word pieces of the documents of one or several shards, memory-mapped.

    Attributes:
        vocabulary_size: size of the vocabulary the store was made with.
        tokenizer_fingerprint: `WordPieceTokenizer.fingerprint` of the tokenizer it was made with.
    """

    KIND = "token store"

    def __init__(self, shards: list[_Shard]) -> None:
        super().__init__(shards, shards[0].directory)
        self.vocabulary_size: int = shards[0].record["vocabulary_size"]
        self.tokenizer_fingerprint: str = shards[0].record["tokenizer"]

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
        return cls(shards)

    def _refusal(self, missing: pa.Array | pa.ChunkedArray) -> InputError:
        return InputError(
            self.directory,
            f"{len(missing):,} documents are not in the token store, such as {', '.join(missing[:3].to_pylist())}",
            remedy="The store must be made from the same corpus as what refers to it; run the workflow again.",
        )

    def tokens(self, row: int) -> np.ndarray:
        """Return the word pieces of a document (a view, uint16 or int32)."""
        shard, pieces = self._pieces(row)
        return shard.tokens[pieces]

    def word_starts(self, row: int) -> np.ndarray:
        """Return which word pieces of a document begin a word (a view, bool)."""
        shard, pieces = self._pieces(row)
        return shard.word_starts[pieces]

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
        """Return where the word pieces from `start` to `end` (exclusive, more than `start`) stand in the document's
        text.

        The characters reach to the next word piece, or to the end of the text that the store holds (None).

        Raises:
            IntegrityError: the store was made without positions.
        """
        starts = self._char_starts(row)
        return int(starts[start]) if start > 0 else 0, int(starts[end]) if end < len(starts) else None

    def _char_starts(self, row: int) -> np.ndarray:
        shard, pieces = self._pieces(row)
        if shard.char_starts is None:
            raise IntegrityError(
                shard.directory,
                "this token store does not know at which characters its word pieces begin",
                remedy="Name positions in the objective's NEEDS, and run the workflow again.",
            )
        starts: np.ndarray = shard.char_starts[pieces]
        return starts

    def check_tokenizer(self, tokenizer: WordPieceTokenizer) -> None:
        """Raise IntegrityError unless the store was made with this tokenizer."""
        if tokenizer.fingerprint != self.tokenizer_fingerprint:
            raise IntegrityError(
                self.directory,
                f"the store was made with another tokenizer than that of {tokenizer.directory}",
                remedy="Delete the store and run the workflow again.",
            )

    def _pieces(self, row: int) -> tuple[_Shard, slice]:
        """Return the shard of a document, and which of its word pieces are the document's."""
        shard, inside = self._place(row)
        return shard, slice(shard.offsets[inside], shard.offsets[inside + 1])


class _Shard:
    """One store directory, memory-mapped."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with refusing_damage(directory, "this is not a token store", MAKE_AGAIN):
            self.record: dict[str, Any] = json.loads((directory / "store.json").read_text())
            # An empty file cannot be memory-mapped.
            mode: Literal["r"] | None = "r" if self.record["word_pieces"] else None
            self.tokens = np.load(directory / "tokens.npy", mmap_mode=mode)
            self.word_starts = np.load(directory / "word_starts.npy", mmap_mode=mode)
            has_char_starts = "char_starts" in self.record.get("contents", {})
            self.char_starts = np.load(directory / CHAR_STARTS, mmap_mode=mode) if has_char_starts else None
            self.offsets = np.load(directory / "offsets.npy")
            self.document_ids = pq.read_table(directory / "documents.parquet").column("document_id")
        lengths = {len(a) for a in (self.tokens, self.word_starts, self.char_starts) if a is not None}
        if lengths != {self.offsets[-1]}:
            raise IntegrityError(directory, "the token store's files do not fit together", remedy=MAKE_AGAIN)
