"""The token store: word pieces of every document, memory-mapped, so that nothing tokenises a document twice."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from irpretrain.config.text import TextConfig
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError
from irpretrain.foundation.progress import progress
from irpretrain.text.document_rows import DocumentRows, StoreShard, StoreWriter
from irpretrain.text.texts import stream_texts
from irpretrain.text.word_pieces import ChunkCache, WordPieceTokenizer, Words, load_tokenizer

# The first character of each word piece, if a store knows it.
CHAR_STARTS = "char_starts"


class TokenShard(StoreShard):
    KIND = "token store"

    def __init__(self, directory: str | Path) -> None:
        super().__init__(directory, ["tokens", "word_starts"], [CHAR_STARTS])


class TokenStore(DocumentRows[TokenShard]):
    """Word pieces of the documents of one or several shards, memory-mapped."""

    @classmethod
    def open(cls, directories: Sequence[str | Path]) -> Self:
        """Open token stores as one.

        Raises:
            IntegrityError: a store is incomplete, their tokenizers differ, or two documents share an identifier.
        """
        shards = [TokenShard(directory) for directory in directories]
        for shard in shards[1:]:
            if shard.record["tokenizer"] != shards[0].record["tokenizer"]:
                fault = f"made with another tokenizer than {shards[0].directory}"
                raise IntegrityError(shard.directory, fault, remedy="Delete both and run the workflow again.")
        return cls(shards)

    @property
    def piece_type(self) -> np.dtype[Any]:
        return self.shards[0].arrays["tokens"].dtype

    def tokens(self, row: int) -> np.ndarray:
        """Return the word pieces of a document (a view, uint16 or int32)."""
        shard, pieces = self._items(row)
        return shard.arrays["tokens"][pieces]

    def word_starts(self, row: int) -> np.ndarray:
        """Return which word pieces of a document begin a word (a view, bool)."""
        shard, pieces = self._items(row)
        return shard.arrays["word_starts"][pieces]

    def in_shards(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield, for each shard that has some of the documents in `rows`, what a kernel needs to read them.

        That is which of `rows` they are, the word pieces and word starts of the whole shard, and where each of these
        documents begins in them.
        """
        shard_indices = np.searchsorted(self._shard_starts, rows, side="right") - 1
        for shard_index in np.unique(shard_indices).tolist():
            shard, row_indices = self.shards[shard_index], np.flatnonzero(shard_indices == shard_index)
            first_pieces = shard.offsets[rows[row_indices] - self._shard_starts[shard_index]]
            yield row_indices, shard.arrays["tokens"], shard.arrays["word_starts"], first_pieces

    def span(self, row: int, start: int, end: int) -> tuple[int, int]:
        """Return (first, last), the word pieces from first to last (exclusive) that begin in characters [start, end).

        Characters are those of the composed text (`irpretrain.text.texts`; `body_start`). If no piece begins there,
        first equals last. IntegrityError if the store was made without positions.
        """
        first_piece, end_piece = self.pieces_before(row, np.array((start, end))).tolist()
        return first_piece, max(first_piece, end_piece)

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
        shard, pieces = self._items(row)
        if CHAR_STARTS not in shard.arrays:
            raise IntegrityError(
                shard.directory,
                "this token store does not know at which characters its word pieces begin",
                remedy="Name positions in the objective's NEEDS, and run the workflow again.",
            )
        return shard.arrays[CHAR_STARTS][pieces]

    def check_tokenizer(self, tokenizer: WordPieceTokenizer) -> None:
        """Raise IntegrityError unless the store was made with this tokenizer."""
        if tokenizer.fingerprint != self.shards[0].record["tokenizer"]:
            fault = f"the store was made with another tokenizer than that of {tokenizer.directory}"
            raise IntegrityError(self.directory, fault, remedy=MAKE_AGAIN)


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
    array_types: dict[str, Any] = {
        "tokens": np.uint16 if tokenizer.size <= 1 << 16 else np.int32,
        "word_starts": bool,
    }
    if positions:
        array_types[CHAR_STARTS] = np.int32
    counts = {"documents": 0, "empty": 0, "truncated": 0, "word_pieces": 0}
    identifiers: list[pa.Array] = []
    cutter = ChunkCache(tokenizer) if tokenizer.cuts_at_spaces else tokenizer
    batches = stream_texts(documents, text, DOCUMENTS_AT_ONCE)
    title, total = f"word pieces of {Path(documents).stem}", DOCUMENTS.count(documents)
    with atomic_directory(output) as folder:
        with StoreWriter(folder, array_types) as writer:
            for ids, texts in progress(batches, title, "documents", total, size=lambda batch: len(batch[0])):
                words = cutter.words(texts)
                kept_words = [
                    Words(*(field[: text.max_word_pieces] for field in document)) for document in words
                ]
                piece_ids, word_starts, char_starts = (
                    np.concatenate(arrays_of_field) for arrays_of_field in zip(*kept_words, strict=True)
                )
                arrays = {"tokens": piece_ids, "word_starts": word_starts, CHAR_STARTS: char_starts}
                writer.add([document.ids for document in kept_words], **{n: arrays[n] for n in array_types})
                identifiers.append(pa.array(ids, pa.string()))
                counts["documents"] += len(kept_words)
                counts["empty"] += sum(len(document.ids) == 0 for document in kept_words)
                counts["truncated"] += sum(
                    len(shortened.ids) < len(original.ids)
                    for shortened, original in zip(kept_words, words, strict=True)
                )
                counts["word_pieces"] += len(piece_ids)
        table = pa.table({"document_id": pa.chunked_array(identifiers, type=pa.string())})
        record = {
            "vocabulary_size": tokenizer.size,
            "tokenizer": tokenizer.fingerprint,
            "text": text.model_dump(),
            **counts,
        }
        writer.finish(table, record, array_types.keys() - {"word_starts"}, compression="zstd")
    return counts
