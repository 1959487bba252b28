"""Word pieces: the encoder's tokenizer, without torch and (as a rule) transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from irpretrain.errors import InputError, refusing
from irpretrain.given_json import read_given_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONTINUATION = "##"
"""What WordPiece writes before a piece that continues a word."""

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


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
        last = max(backend.get_vocab(with_added_tokens=True).values(), default=-1)
        if last >= self.size:
            raise InputError(
                directory,
                f"the vocabulary has {self.size:,} entries, but one of them has number {last:,}",
                remedy="Entries must be numbered from 0 without gaps.",
            )
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
        pieces = []
        for encoding in self._backend.encode_batch(list(texts), add_special_tokens=False):
            offsets = encoding.offsets
            firsts = np.fromiter((start for start, _ in offsets), np.int32, len(offsets))
            # Unicode's canonical order may swap marks of one letter.
            pieces.append((np.asarray(encoding.ids, dtype=np.int32), np.maximum.accumulate(firsts)))
        return pieces

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

    def text(self, pieces: Sequence[int] | np.ndarray) -> str:
        """Return word pieces joined to words; `encode` gives the same pieces of it, but for a first one that continues
        a word."""
        joined = " ".join(self.token(int(piece)) for piece in pieces)
        return joined.replace(f" {CONTINUATION}", "").removeprefix(CONTINUATION)


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
    tokenizer = WordPieceTokenizer(tokenizer_backend(directory), directory)
    if vocabulary_size is not None and tokenizer.size != vocabulary_size:
        raise InputError(
            directory,
            f"the vocabulary has {tokenizer.size:,} entries, expected {vocabulary_size:,}",
            remedy="Set encoder.vocabulary_size to the encoder's own, or give the right encoder.",
        )
    config = directory / "config.json"
    described = read_given_json(config) if config.exists() else None
    embedded = described.get("vocab_size") if isinstance(described, dict) else None
    if isinstance(embedded, int) and tokenizer.size > embedded:
        raise InputError(
            directory,
            f"the tokenizer has {tokenizer.size:,} entries but the encoder only {embedded:,} embeddings",
        )
    _check_known_entry(tokenizer, directory / "vocab.txt")
    return tokenizer


def tokenizer_backend(directory: Path) -> Tokenizer:
    """Return the tokenizer of a Hugging Face directory, from tokenizer.json or by transformers."""
    from tokenizers import Tokenizer

    remedy = "Give a Hugging Face directory that has a sound one."
    if (directory / "tokenizer.json").exists():
        with refusing(
            directory / "tokenizer.json", "this is not a tokenizer of the tokenizers library", remedy
        ):
            return Tokenizer.from_file(str(directory / "tokenizer.json"))
    if not (directory / "vocab.txt").exists():
        raise InputError(
            directory, "there is no tokenizer: neither tokenizer.json nor vocab.txt", remedy=remedy
        )
    from transformers import AutoTokenizer

    with refusing(directory, "the tokenizer cannot be loaded", remedy):
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    backend: Tokenizer | None = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(directory, "the tokenizer is not one of the tokenizers library", remedy=remedy)
    return backend


def _check_known_entry(tokenizer: WordPieceTokenizer, vocabulary: Path) -> None:
    """The last line of vocab.txt must be the entry of that number."""
    if not vocabulary.exists():
        return
    try:
        lines = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(vocabulary, f"this is not UTF-8 text: {error}") from None
    number = len(lines) - 1
    if number >= tokenizer.size or tokenizer.token(number) != lines[-1].strip():
        raise InputError(
            vocabulary,
            f"entry {number:,} is {lines[-1].strip()!r}, but the tokenizer loaded beside it does not have it there",
            remedy="tokenizer.json and vocab.txt belong to different encoders; take both from one.",
        )
