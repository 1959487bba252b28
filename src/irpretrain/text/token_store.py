"""The token store: word pieces of every document, memory-mapped, so that nothing tokenises a document twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.out_of_core import GrowingArray
from irpretrain.foundation.progress import progress
from irpretrain.text.document_rows import DocumentRows
from irpretrain.text.texts import stream_texts
from irpretrain.text.word_pieces import ChunkTable, WordPieceTokenizer, Words, load_tokenizer

if TYPE_CHECKING:
    from irpretrain.text.word_pieces import WordPieceTokenizer


# Where a token store keeps the first character of each word piece, if it does.
CHAR_STARTS = "char_starts.npy"


class TokenStore(DocumentRows["_Shard"]):
    """Word pieces of the documents of one or several shards, memory-mapped."""

    KIND = "token store"

    def __init__(self, shards: list[_Shard]) -> None:
        super().__init__(shards, shards[0].directory)
        self.vocabulary_size: int = shards[0].record["vocabulary_size"]
        self.tokenizer_fingerprint: str = shards[0].record["tokenizer"]

    @classmethod
    def open(cls, directories: Sequence[str | Path]) -> TokenStore:
        """Open token stores as one.

        Raises:
            IntegrityError: a store is incomplete, their tokenizers differ, or two documents share an identifier.
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
        """Return (first, last), the word pieces from first to last (exclusive) that begin in characters [start, end).

        Characters are those of the composed text (`irpretrain.text.texts`; `body_start`). If no piece begins there,
        first equals last. IntegrityError if the store was made without positions.
        """
        first, last = self.pieces_before(row, np.array((start, end))).tolist()
        return first, max(first, last)

    def pieces_before(self, row: int, characters: np.ndarray) -> np.ndarray:
        """Return how many pieces begin before each character (int); IntegrityError if made without positions."""
        return np.searchsorted(self._char_starts(row), characters.astype(np.int32))

    def characters(self, row: int, start: int, end: int) -> tuple[int, int | None]:
        """Return the characters of the word pieces from `start` to `end` (exclusive, more than `start`).

        They reach to the next word piece, or to the end of the stored text (None). IntegrityError if made without
        positions.
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
        shard, inside = self._position(row)
        return shard, slice(shard.offsets[inside], shard.offsets[inside + 1])


class _Shard:
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
        if lengths != {self.offsets[-1]} or len(self.document_ids) != len(self.offsets) - 1:
            raise IntegrityError(directory, "the token store's files do not fit together", remedy=MAKE_AGAIN)


# Documents → token store: each is cut into word pieces once a corpus, whatever is trained or ranked with it.


DOCUMENTS_AT_ONCE = 512


def write_token_store(
    documents: str | Path,  # DOCUMENTS table
    encoder: str | Path,  # Hugging Face directory whose tokenizer is used
    text: TextConfig,  # fields of a document and the most word pieces kept of it
    output: str | Path,
    vocabulary_size: int | None = None,  # expected size of the vocabulary; checked when given
    # Also keep the first character of each word piece in the document's text (`TokenStore.span`).
    positions: bool = False,
) -> dict[str, Any]:
    """Tokenise a corpus shard into a token store, a directory.

    `tokens.npy` has the word pieces of all documents in a row, `word_starts.npy` which of them begin a word,
    `offsets.npy` where each document begins, `documents.parquet` the documents' identifiers, and `store.json` counts
    and hashes; `char_starts.npy` the first character of each piece, with `positions`.

    Returns:
        Counts: documents, empty documents, truncated documents, word pieces.
    """
    tokenizer = load_tokenizer(encoder, vocabulary_size)
    kind = np.dtype(np.uint16 if tokenizer.size <= 1 << 16 else np.int32)
    counts = {"documents": 0, "empty": 0, "truncated": 0, "word_pieces": 0}
    lengths: list[np.ndarray] = []
    identifiers: list[pa.Array] = []
    names = hashlib.sha256()
    with atomic_directory(output) as folder:
        with ExitStack() as files:
            tokens = files.enter_context(GrowingArray(folder / "tokens.npy", kind))
            starts = files.enter_context(GrowingArray(folder / "word_starts.npy", np.dtype(bool)))
            if positions:
                characters = files.enter_context(GrowingArray(folder / CHAR_STARTS, np.dtype(np.int32)))
            for ids, words in _encoded(documents, tokenizer, text):
                most = text.max_word_pieces
                pieces = [document.ids for document in words]
                retained = [piece[:most] for piece in pieces]
                lengths.append(np.array([len(piece) for piece in retained], dtype=np.int64))
                identifiers.append(pa.array(ids, pa.string()))
                names.update("".join(f"{name}\0" for name in ids).encode())
                flat = np.concatenate(retained) if retained else np.zeros(0, np.int32)
                tokens.add(flat.astype(kind))
                starts.add(
                    np.concatenate([np.zeros(0, bool), *(document.begins[:most] for document in words)])
                )
                if positions:
                    for document in words:
                        characters.add(document.firsts[:most])
                counts["documents"] += len(retained)
                counts["empty"] += sum(len(piece) == 0 for piece in retained)
                counts["truncated"] += sum(len(a) < len(b) for a, b in zip(retained, pieces, strict=True))
                counts["word_pieces"] += len(flat)
        offsets = np.zeros(counts["documents"] + 1, dtype=np.int64)
        np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]), out=offsets[1:])
        np.save(folder / "offsets.npy", offsets)
        table = pa.table({"document_id": pa.chunked_array(identifiers, type=pa.string())})
        pq.write_table(table.combine_chunks(), folder / "documents.parquet", compression="zstd")
        record = {
            "vocabulary_size": tokenizer.size,
            "tokenizer": tokenizer.fingerprint,
            "text": text.model_dump(),
            "contents": {
                "tokens": tokens.sha256(),
                "offsets": hashlib.sha256(offsets.tobytes()).hexdigest(),
                "documents": names.hexdigest(),
                **({"char_starts": characters.sha256()} if positions else {}),
            },
            **counts,
        }
        (folder / "store.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return counts


def _encoded(
    documents: str | Path, tokenizer: WordPieceTokenizer, text: TextConfig
) -> Iterator[tuple[list[str], list[Words]]]:
    cutter = ChunkTable(tokenizer) if tokenizer.cuts_at_spaces else tokenizer
    batches = stream_texts(documents, text, DOCUMENTS_AT_ONCE)
    title = f"word pieces of {Path(documents).stem}"
    total = DOCUMENTS.count(documents)
    for identifiers, texts in progress(batches, title, "documents", total, size=lambda batch: len(batch[0])):
        yield identifiers, cutter.words(texts)
