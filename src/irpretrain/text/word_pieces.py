"""Word pieces: the encoder's tokenizer, without torch and (as a rule) transformers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irpretrain.errors import InputError, refusing
from irpretrain.given_json import read_given_json
from irpretrain.text.pair_template import PairTemplate

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

CONTINUATION = "##"
"""What WordPiece writes before a piece that continues a word."""

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SPELLINGS = ("[{}]", "<{}>")
"""How tokenizers spell their tokens for padding and masks, where tokenizer_config.json does not say."""
VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
"""Files in which vocabularies lie; without any of them transformers would make an empty one and say nothing."""
REMEDY = "Give a Hugging Face directory that has a sound one."

WORD_MARK = "▁"
"""SentencePiece's mark before a word. Where no white space stands there, it is given the word's first character."""


class Pieces(NamedTuple):
    """The word pieces of a text, without special tokens.

    Attributes:
        ids: int32 [pieces].
        starts, ends: int32 [pieces]; characters of the text. Neither ever falls; pieces that one character is split
            into share it. A piece that only marks white space has none (byte-level and SentencePiece tokenizers have
            such pieces).
        begins: bool [pieces]; whether the piece begins what the tokenizer takes for a word or a punctuation mark; a
            mark of white space never does.
    """

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    begins: np.ndarray


class Words(NamedTuple):
    """The word pieces of a text, as trainings read them.

    Attributes:
        ids: int32 [pieces].
        begins: bool [pieces]; whether the piece begins a word or a punctuation mark.
        firsts: int32 [pieces]; the first character of each, which never falls: pieces that one character is split into
            share it, and white space before a word counts for no piece.
    """

    ids: np.ndarray
    begins: np.ndarray
    firsts: np.ndarray


class WordPieceTokenizer:
    """The encoder's tokenizer, without truncation or padding.

    A special token's name inside a text ("[MASK]") is ordinary text here, so no document can put special
    tokens into a sequence.

    Attributes:
        size: number of entries in the vocabulary.
        pad_token_id: id that fills up a batch.
        mask_token_id: id of the mask piece; None where the vocabulary has none.
        template: special tokens of a sequence of query and document.
        fingerprint: hash of vocabulary and rules; equal for equal tokenizers.
        cuts_at_spaces: whether nothing about a word piece depends on what stands beyond a space or a line's end.
    """

    def __init__(self, backend: Tokenizer, directory: Path) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._backend, self._ids = backend, TextIds(backend, directory)
        self.directory = directory
        self.size: int = backend.get_vocab_size(with_added_tokens=True)
        last = max(backend.get_vocab(with_added_tokens=True).values(), default=-1)
        if last >= self.size:
            raise InputError(
                directory,
                f"the vocabulary has {self.size:,} entries, but one of them has number {last:,}",
                remedy="Entries must be numbered from 0 without gaps.",
            )
        pad = named_token(backend, directory, "pad")
        if pad is None:
            raise InputError(directory, "the vocabulary lacks a token for padding", remedy=REMEDY)
        self.pad_token_id: int = pad
        self.mask_token_id = named_token(backend, directory, "mask")
        self.template = PairTemplate.of(backend, directory, REMEDY)
        self.fingerprint = hashlib.sha256(backend.to_str().encode()).hexdigest()[:16]
        self._begins = self._word_starts() if type(backend.model).__name__ == "WordPiece" else None
        self.cuts_at_spaces = cuts_at_spaces(backend)

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the word pieces (int32) of each text, whole and without special tokens."""
        encodings = self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [self._ids.of(encoding) for encoding in encodings]

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the word pieces of each text as `encode` does, where they stand, and where words begin."""
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [self._words(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def _words(self, text: str, encoding: Encoding) -> Words:
        offsets = encoding.offsets
        if self._begins is not None:
            ids = self._ids.of(encoding)
            begins, starts = self._begins[ids], [start for start, _ in offsets]
        else:
            ids, _, _, begins = pieces_of(text, encoding, self._ids)
            starts = [end - len(text[start:end].lstrip()) for start, end in offsets]
        # Unicode's canonical order may swap marks of one letter.
        return Words(ids, begins, np.maximum.accumulate(np.array(starts, np.int32)))

    def special(self) -> np.ndarray:
        """Return the ids that are no text (bool [size]): special and other added tokens, and unused entries."""
        marked = np.zeros(self.size, dtype=bool)
        for number, added in self._backend.get_added_tokens_decoder().items():
            marked[number] |= added.special
        for token, number in self._backend.get_vocab().items():
            marked[number] |= token in SPECIAL_TOKENS or token.startswith("[unused")
        return marked

    def _word_starts(self) -> np.ndarray:
        """Return which entries of WordPiece begin a word (bool [size]): all but continuations."""
        starts = np.ones(self.size, dtype=bool)
        for token, number in self._backend.get_vocab().items():
            starts[number] = not token.startswith(CONTINUATION)
        return starts

    def token(self, number: int) -> str:
        """Return the vocabulary entry with this id."""
        return str(self._backend.id_to_token(number))

    def text(self, pieces: Sequence[int] | np.ndarray) -> str:
        """Return word pieces joined to words; `encode` gives the same pieces of it, but for a first one that continues
        a word or follows white space."""
        if self._begins is None:
            return str(
                self._backend.decode([int(piece) for piece in pieces], skip_special_tokens=False)
            ).strip()
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


def cuts_at_spaces(backend: Tokenizer) -> bool:
    """Whether nothing about a word piece depends on what stands beyond a space or a line's end.

    That is so for BERT's rules, which cut at white space first of all, where special tokens are not looked for in
    texts. An added token that is not special may have spaces in it, and other post-processors than BERT's may move
    pieces or repeat the text.
    """
    rules = json.loads(backend.to_str())
    parts = ("normalizer", "pre_tokenizer", "model", "post_processor")
    *kinds, last = ((rules[part] or {}).get("type") for part in parts)
    once = last in (None, "BertProcessing")
    if last == "TemplateProcessing":
        once = sum("Sequence" in part for part in rules["post_processor"]["single"]) == 1
    special = all(added.special for added in backend.get_added_tokens_decoder().values())
    return kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"] and once and special


class TextIds:
    """Ids of the pieces of texts, none of which is a special token.

    Vocabularies of SentencePiece list special tokens as pieces, of the best score. So the names of these in a text
    would become the tokens themselves, although `encode_special_tokens` is set; here they are unknown.
    """

    def __init__(self, backend: Tokenizer, directory: Path) -> None:
        backend.encode_special_tokens = True
        self._replaced: np.ndarray | None = None
        unknown = named_token(backend, directory, "unk")
        if type(backend.model).__name__ == "Unigram" and unknown is not None:
            numbers = [
                number for number, token in backend.get_added_tokens_decoder().items() if token.special
            ]
            self._replaced = np.arange(max(backend.get_vocab().values()) + 1, dtype=np.int32)
            self._replaced[numbers] = unknown

    def of(self, encoding: Encoding) -> np.ndarray:
        """Return the ids (int32) of an encoded text."""
        ids = np.asarray(encoding.ids, dtype=np.int32)
        return ids if self._replaced is None else self._replaced[ids]


def named_token(backend: Tokenizer, directory: Path, name: str) -> int | None:
    """Return the id of a tokenizer's token for padding ("pad") or masks ("mask"); None where it has none."""
    file = directory / "tokenizer_config.json"
    described = read_given_json(file, REMEDY) if file.is_file() else None
    token = described.get(f"{name}_token") if isinstance(described, dict) else None
    token = token.get("content") if isinstance(token, dict) else token
    spelled = (spelling.format(form) for spelling in SPELLINGS for form in (name.upper(), name))
    tokens = (token, *spelled) if isinstance(token, str) else spelled
    return next((number for text in tokens if (number := backend.token_to_id(text)) is not None), None)


def tokenizer_backend(directory: Path) -> Tokenizer:
    """Return the tokenizer of a Hugging Face directory, from tokenizer.json or by transformers."""
    from tokenizers import Tokenizer

    if (directory / "tokenizer.json").exists():
        with refusing(
            directory / "tokenizer.json", "this is not a tokenizer of the tokenizers library", REMEDY
        ):
            return Tokenizer.from_file(str(directory / "tokenizer.json"))
    if not any((directory / name).exists() for name in VOCABULARIES):
        raise InputError(
            directory, "there is no tokenizer: neither tokenizer.json nor vocab.txt", remedy=REMEDY
        )
    from transformers import AutoTokenizer

    with refusing(directory, "the tokenizer cannot be loaded", REMEDY):
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    backend: Tokenizer | None = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(directory, "the tokenizer is not one of the tokenizers library", remedy=REMEDY)
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


def pieces_of(text: str, encoding: Encoding, ids: TextIds) -> Pieces:
    """Return the word pieces of a text that any tokenizer has encoded."""
    offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
    solid = [
        bool((piece := text[start:end].strip()) and (token != WORD_MARK or piece == WORD_MARK))
        for (start, end), token in zip(encoding.offsets, encoding.tokens, strict=True)
    ]
    begins, before = np.zeros(len(solid), bool), None
    for place, (word, counts) in enumerate(zip(encoding.word_ids, solid, strict=True)):
        if counts:
            begins[place] = word is None or word != before
            before = word
    # Unicode's canonical order may swap marks of one letter.
    starts = np.maximum.accumulate(offsets[:, 0])
    ends = np.maximum.accumulate(np.where(solid, offsets[:, 1], offsets[:, 0]))
    return Pieces(ids.of(encoding), starts, ends, begins)
