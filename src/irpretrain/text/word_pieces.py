"""Word pieces: the encoder's tokenizer, and the store that holds every document's word pieces.

Documents are tokenised once a corpus and then read memory-mapped, so training and re-ranking never tokenise a
document again. This module imports neither torch nor (as a rule) transformers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.atomic import atomic_directory
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import InputError, IntegrityError
from irpretrain.progress import progress
from irpretrain.text.compose import stream_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONTINUATION = "##"
"""What WordPiece writes before a piece that continues a word."""

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
DOCUMENTS_AT_ONCE = 512
CHAR_STARTS = "char_starts.npy"
"""Where a token store keeps the first character of each word piece, if it does."""


class WordPieceTokenizer:
    """The encoder's tokenizer, without special tokens, truncation or padding.

    A special token's name inside a text ("[MASK]") is ordinary text here, so no document can put special
    tokens into a sequence.

    Attributes:
        size: number of entries in the vocabulary.
        pad_token_id, unk_token_id, cls_token_id, sep_token_id, mask_token_id: ids of the special tokens.
        fingerprint: hash of vocabulary and rules; equal for equal tokenizers.
    """

    def __init__(self, backend: Tokenizer, directory: Path) -> None:
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self._backend = backend
        self.directory = directory
        self.size: int = backend.get_vocab_size(with_added_tokens=True)
        ids = [backend.token_to_id(token) for token in SPECIAL_TOKENS]
        missing = [token for token, number in zip(SPECIAL_TOKENS, ids, strict=True) if number is None]
        if missing:
            raise InputError(
                directory,
                f"the vocabulary lacks {', '.join(missing)}",
                remedy="The encoder must have BERT's special tokens.",
            )
        self.pad_token_id, self.unk_token_id, self.cls_token_id, self.sep_token_id, self.mask_token_id = (
            int(number) for number in ids if number is not None
        )
        self.fingerprint = hashlib.sha256(backend.to_str().encode()).hexdigest()[:16]

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the word pieces (int32) of each text, whole and without special tokens."""
        encodings = self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [np.asarray(encoding.ids, dtype=np.int32) for encoding in encodings]

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return, of each text, the word pieces as `encode` does and the first character of each (int32), which never
        falls: pieces that one character is split into share it. Takes about twice as long."""
        found = []
        for encoding in self._backend.encode_batch(list(texts), add_special_tokens=False):
            offsets = encoding.offsets
            firsts = np.fromiter((start for start, _ in offsets), np.int32, len(offsets))
            # Unicode's canonical order may swap marks of one letter.
            found.append((np.asarray(encoding.ids, dtype=np.int32), np.maximum.accumulate(firsts)))
        return found

    def special(self) -> np.ndarray:
        """Return the ids that are no text (bool [size]): special and other added tokens, and unused entries."""
        marked = np.zeros(self.size, dtype=bool)
        for number, added in self._backend.get_added_tokens_decoder().items():
            marked[number] |= added.special
        for token, number in self._backend.get_vocab().items():
            marked[number] |= token in SPECIAL_TOKENS or token.startswith("[unused")
        return marked

    def word_starts(self) -> np.ndarray:
        """Return which vocabulary entries begin a word (bool [size]): all but WordPiece continuations."""
        starts = np.ones(self.size, dtype=bool)
        for token, number in self._backend.get_vocab().items():
            starts[number] = not token.startswith(CONTINUATION)
        return starts

    def token(self, number: int) -> str:
        """Return the vocabulary entry with this id."""
        return str(self._backend.id_to_token(number))


def load_tokenizer(directory: str | Path, vocabulary_size: int | None = None) -> WordPieceTokenizer:
    """Load the tokenizer of a Hugging Face directory and check that it is the encoder's own.

    Args:
        directory: model directory, with `tokenizer.json` or `vocab.txt`.
        vocabulary_size: expected number of entries; checked when given.

    Raises:
        InputError: there is no tokenizer, or its vocabulary is not the expected one. (Loading a bare vocabulary
            file can silently give an empty vocabulary, hence the check of size and last entry.)
    """
    directory = Path(directory)
    tokenizer = WordPieceTokenizer(_backend(directory), directory)
    if vocabulary_size is not None and tokenizer.size != vocabulary_size:
        raise InputError(
            directory,
            f"the vocabulary has {tokenizer.size:,} entries, expected were {vocabulary_size:,}",
            remedy="Set encoder.vocabulary_size to the encoder's own, or give the right encoder.",
        )
    config = directory / "config.json"
    embedded = json.loads(config.read_text()).get("vocab_size") if config.exists() else None
    if embedded is not None and tokenizer.size > embedded:
        raise InputError(
            directory,
            f"the tokenizer has {tokenizer.size:,} entries but the encoder only {embedded:,} embeddings",
        )
    _check_known_entry(tokenizer, directory / "vocab.txt")
    return tokenizer


def _backend(directory: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    if (directory / "tokenizer.json").exists():
        return Tokenizer.from_file(str(directory / "tokenizer.json"))
    if not (directory / "vocab.txt").exists():
        raise InputError(
            directory,
            "there is no tokenizer: neither tokenizer.json nor vocab.txt",
            remedy="Give a Hugging Face directory of a BERT-architecture encoder.",
        )
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(directory, local_files_only=True).backend_tokenizer


def _check_known_entry(tokenizer: WordPieceTokenizer, vocabulary: Path) -> None:
    """The last line of vocab.txt must be the entry of that number."""
    if not vocabulary.exists():
        return
    lines = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
    number = len(lines) - 1
    if number >= tokenizer.size or tokenizer.token(number) != lines[-1].strip():
        raise InputError(
            vocabulary,
            f"entry {number:,} is {lines[-1].strip()!r}, but the tokenizer loaded beside it does not have it there",
            remedy="tokenizer.json and vocab.txt belong to different encoders; take both from one.",
        )


def write_token_store(
    documents: str | Path,
    encoder: str | Path,
    text: TextConfig,
    output: str | Path,
    vocabulary_size: int | None = None,
    positions: bool = False,
) -> dict[str, Any]:
    """Tokenise a corpus shard into a token store (a directory, see docs/architecture.md).

    Args:
        documents: DOCUMENTS table.
        encoder: Hugging Face directory whose tokenizer is used.
        text: fields of a document and the most word pieces kept of it.
        output: directory to write.
        vocabulary_size: expected size of the vocabulary; checked when given.
        positions: also keep the first character of each word piece in the document's text (`TokenStore.span`).

    Returns:
        Counts: documents, empty documents, truncated documents, word pieces.
    """
    tokenizer = load_tokenizer(encoder, vocabulary_size)
    kind = np.dtype(np.uint16 if tokenizer.size <= 1 << 16 else np.int32)
    starts_word = tokenizer.word_starts()
    counts = {"documents": 0, "empty": 0, "truncated": 0, "word_pieces": 0}
    lengths: list[np.ndarray] = []
    identifiers: list[pa.Array] = []
    names = hashlib.sha256()
    with atomic_directory(output) as folder:
        with ExitStack() as files:
            tokens = files.enter_context(_Growing(folder / "tokens.npy", kind))
            starts = files.enter_context(_Growing(folder / "word_starts.npy", np.dtype(bool)))
            if positions:
                characters = files.enter_context(_Growing(folder / CHAR_STARTS, np.dtype(np.int32)))
            for ids, encoded in _encoded(documents, tokenizer, text, positions):
                pieces = [piece for piece, _ in encoded]
                kept = [piece[: text.max_word_pieces] for piece in pieces]
                lengths.append(np.array([len(piece) for piece in kept], dtype=np.int64))
                identifiers.append(pa.array(ids, pa.string()))
                names.update("".join(f"{name}\0" for name in ids).encode())
                flat = np.concatenate(kept) if kept else np.zeros(0, np.int32)
                tokens.add(flat.astype(kind))
                starts.add(starts_word[flat])
                if positions:
                    for _, first in encoded:
                        characters.add(first[: text.max_word_pieces])
                counts["documents"] += len(kept)
                counts["empty"] += sum(len(piece) == 0 for piece in kept)
                counts["truncated"] += sum(len(a) < len(b) for a, b in zip(kept, pieces, strict=True))
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
    documents: str | Path, tokenizer: WordPieceTokenizer, text: TextConfig, positions: bool
) -> Iterator[tuple[list[str], list[tuple[np.ndarray, np.ndarray]]]]:
    """Yield identifiers, and of each document the word pieces and their first characters (none without positions)."""
    batches = stream_texts(documents, text, DOCUMENTS_AT_ONCE)
    title = f"word pieces of {Path(documents).stem}"
    total = -(-DOCUMENTS.count(documents) // DOCUMENTS_AT_ONCE)
    none = np.zeros(0, np.int32)
    for identifiers, texts in progress(batches, title, "batches", total=total):
        if positions:
            yield identifiers, tokenizer.encode_with_starts(texts)
        else:
            yield identifiers, [(pieces, none) for pieces in tokenizer.encode(texts)]


class _Growing:
    """A one-dimensional `.npy` file that is written piece by piece; its header is completed at the end."""

    def __init__(self, path: Path, kind: np.dtype) -> None:
        self._path, self._kind, self._length = path, kind, 0
        self._digest = hashlib.sha256()
        self._handle: BinaryIO

    def __enter__(self) -> _Growing:
        self._handle = open(self._path, "wb")
        self._header()
        return self

    def __exit__(self, *exception: object) -> None:
        # NumPy pads headers so that the length can grow in place.
        self._handle.seek(0)
        self._header()
        self._handle.close()

    def add(self, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, dtype=self._kind).tobytes()
        self._digest.update(data)
        self._handle.write(data)
        self._length += len(values)

    def sha256(self) -> str:
        return self._digest.hexdigest()

    def _header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(self._kind),
            "fortran_order": False,
            "shape": (self._length,),
        }
        np.lib.format.write_array_header_1_0(self._handle, header)


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
        found = self.find(document_ids)
        if (found < 0).any():
            wanted = list(document_ids)
            lost = [str(wanted[i]) for i in np.flatnonzero(found < 0)[:3]]
            raise InputError(
                self._shards[0].directory,
                f"{int((found < 0).sum()):,} documents are not in the token store, such as {', '.join(lost)}",
                remedy="The store must be made from the same corpus as what refers to it; run the workflow again.",
            )
        return found

    def find(self, document_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Like `rows`, with -1 for documents that the store lacks."""
        if not isinstance(document_ids, pa.Array | pa.ChunkedArray):
            document_ids = pa.array(list(document_ids), type=pa.string())
        found = pc.index_in(document_ids, value_set=self.document_ids)
        return pc.fill_null(found, -1).to_numpy().astype(np.int64)

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
        shard, begin, stop = self._place(row)
        if shard.char_starts is None:
            raise IntegrityError(
                shard.directory,
                "this token store does not know at which characters its word pieces begin",
                remedy="Name positions in the objective's NEEDS, and run the workflow again.",
            )
        first, last = np.searchsorted(shard.char_starts[begin:stop], np.array((start, end), np.int32))
        return int(first), max(int(first), int(last))

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
            known = "char_starts" in self.record.get("contents", {})
            self.char_starts = np.load(directory / CHAR_STARTS, mmap_mode=mode) if known else None
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
