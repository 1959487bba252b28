"""The encoder's word pieces: special tokens, the tokenizer, and pieces of texts from those of their chunks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irpretrain.foundation.atomic import load_json
from irpretrain.foundation.errors import InputError, refusing

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


# The special tokens that a tokenizer puts around a query and a document, read off a pair that it joins itself.


class SpecialTokens(NamedTuple):
    """Tokens that stand together in a sequence: ids and token types (int64)."""

    ids: np.ndarray
    types: np.ndarray


class PairTemplate(NamedTuple):
    """A sequence is prefix, query, middle, document, suffix."""

    # prefix, middle, suffix: special tokens; of BERT [CLS], [SEP] and [SEP].
    prefix: SpecialTokens
    middle: SpecialTokens
    suffix: SpecialTokens
    # query_type, document_type: token types of the two texts.
    query_type: int
    document_type: int

    @classmethod
    def of(cls, backend: Tokenizer, directory: Path, remedy: str) -> PairTemplate:
        """Return the template of a tokenizer without special tokens in texts; InputError if it joins no pairs."""
        with refusing(directory, "the tokenizer cuts no text", remedy):
            query, document = backend.encode_batch(["a", "a"], add_special_tokens=False)
            query.truncate(1)
            document.truncate(1)
            joined_pair = backend.post_process(query, document)
        check_special_tokens(joined_pair, backend, directory)
        positions = np.flatnonzero(np.asarray(joined_pair.special_tokens_mask) == 0)
        if len(positions) != 2:
            raise InputError(directory, "the tokenizer does not join pairs of texts", remedy=remedy)
        ids, types = np.asarray(joined_pair.ids, np.int64), np.asarray(joined_pair.type_ids, np.int64)
        query_at, document_at = (int(position) for position in positions)
        special_slices = (slice(0, query_at), slice(query_at + 1, document_at), slice(document_at + 1, None))
        prefix, middle, suffix = (SpecialTokens(ids[tokens], types[tokens]) for tokens in special_slices)
        return cls(prefix, middle, suffix, int(types[query_at]), int(types[document_at]))

    @property
    def special_count(self) -> int:
        return len(self.prefix.ids) + len(self.middle.ids) + len(self.suffix.ids)

    def positions(self, query_length: int, document_length: int) -> tuple[slice, slice]:
        """Return the positions of the two texts' pieces in a sequence, from their numbers."""
        query_start = len(self.prefix.ids)
        query_end = query_start + query_length
        document_start = query_end + len(self.middle.ids)
        return slice(query_start, query_end), slice(document_start, document_start + document_length)


# Word pieces: the encoder's tokenizer, without torch and (as a rule) transformers.


# What WordPiece writes before a piece that continues a word.
CONTINUATION = "##"

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# How tokenizers spell their tokens for padding and masks, unless tokenizer_config.json names them.
SPELLINGS = ("[{}]", "<{}>")

# Files in which vocabularies lie; without any of them transformers would silently make an empty one.
VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
# JSON files that tokenizers and transformers make a tokenizer of. Of a key that occurs twice they take the last value.
TOKENIZER_JSON = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
)  # fmt: skip
REMEDY = "Give a Hugging Face directory that has a sound one."

# SentencePiece's mark before a word. Where no white space stands there, it is given the word's first character.
WORD_MARK = "▁"


class Pieces(NamedTuple):
    ids: np.ndarray  # int32 [pieces]
    # starts, ends: int32 [pieces]; characters of the text. Neither ever falls; pieces that one character is
    # split into share it. A piece that only marks white space has none (byte-level and SentencePiece
    # tokenizers have such pieces).
    starts: np.ndarray
    ends: np.ndarray
    # bool [pieces]; whether the piece begins what the tokenizer takes for a word or a punctuation mark; a
    # mark of white space never does.
    word_starts: np.ndarray


class Words(NamedTuple):
    ids: np.ndarray  # int32 [pieces]
    word_starts: np.ndarray  # bool [pieces]; whether the piece begins a word or a punctuation mark
    # int32 [pieces]; the first character of each, which never falls: pieces that one character is split into
    # share it, and white space before a word counts for no piece.
    char_starts: np.ndarray


NO_WORDS = Words(np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0, np.int32))


class TextTokenizer:
    """An encoder's tokenizer, without truncation or padding. A special token's name inside a text is ordinary text.

    Attributes:
        size: number of embeddings that the vocabulary needs.
    """

    def __init__(self, backend: Tokenizer, directory: Path) -> None:
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self._backend, self.directory = backend, directory
        self.size = needed_embeddings(backend, directory)
        self._replacement_ids: np.ndarray | None = None
        unknown_id = named_token(backend, directory, "unk")
        if type(backend.model).__name__ == "Unigram" and unknown_id is not None:
            # SentencePiece lists special tokens as pieces of the best score, so their names in a text would become the
            # tokens despite `encode_special_tokens`; here they are unknown.
            special_ids = [
                token_id for token_id, token in backend.get_added_tokens_decoder().items() if token.special
            ]
            self._replacement_ids = np.arange(self.size, dtype=np.int32)
            self._replacement_ids[special_ids] = unknown_id

    @cached_property
    def cuts_at_spaces(self) -> bool:
        """See the function of this name; then no piece is white space."""
        return cuts_at_spaces(self._backend)

    def encode(self, texts: Sequence[str], max_pieces: int | None = None) -> list[np.ndarray]:
        """Return the word pieces (int32) of each text without special tokens, cut to `max_pieces`."""
        encodings = self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [self._ids(encoding)[:max_pieces] for encoding in encodings]

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the word pieces of each text as `encode` does, with their characters."""
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [self._pieces(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def token(self, token_id: int) -> str:
        return str(self._backend.id_to_token(token_id))

    def _ids(self, encoding: Encoding) -> np.ndarray:
        ids = np.asarray(encoding.ids, dtype=np.int32)
        return ids if self._replacement_ids is None else self._replacement_ids[ids]

    def _pieces(self, text: str, encoding: Encoding) -> Pieces:
        offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
        has_text = np.ones(len(offsets), bool)
        if not self.cuts_at_spaces:
            has_text[:] = [
                (piece := text[start:end].strip()) and (token != WORD_MARK or piece == WORD_MARK)
                for (start, end), token in zip(encoding.offsets, encoding.tokens, strict=True)
            ]
        word_numbers = np.array(encoding.word_ids, np.float64)[has_text]  # NaN, of no word, equals nothing
        word_starts = np.zeros(len(has_text), bool)
        word_starts[has_text] = np.diff(word_numbers, prepend=np.nan) != 0
        # Unicode's canonical order may swap marks of one letter.
        starts = np.maximum.accumulate(offsets[:, 0])
        ends = np.maximum.accumulate(np.where(has_text, offsets[:, 1], offsets[:, 0]))
        return Pieces(self._ids(encoding), starts, ends, word_starts)


class WordPieceTokenizer(TextTokenizer):
    """The tokenizer by which texts are cut for token stores and training.

    Attributes:
        mask_token_id: None if the vocabulary has no mask piece.
        template: special tokens of a sequence of query and document.
        fingerprint: hash of vocabulary and rules; equal for equal tokenizers.
    """

    def __init__(self, backend: Tokenizer, directory: Path) -> None:
        super().__init__(backend, directory)
        if self.size > (entries := backend.get_vocab_size(with_added_tokens=True)):
            raise InputError(
                directory,
                f"the vocabulary has {entries:,} entries, but one of them has number {self.size - 1:,}",
                remedy="Entries must be numbered from 0 without gaps.",
            )
        pad_id = named_token(backend, directory, "pad")
        if pad_id is None:
            raise InputError(directory, "the vocabulary lacks a token for padding", remedy=REMEDY)
        self.pad_token_id: int = pad_id
        self.mask_token_id = named_token(backend, directory, "mask")
        self.template = PairTemplate.of(backend, directory, REMEDY)
        self.fingerprint = hashlib.sha256(backend.to_str().encode()).hexdigest()[:16]
        self._is_word_start = self._word_starts() if type(backend.model).__name__ == "WordPiece" else None

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the word pieces of each text as `encode` does, where they stand, and where words begin."""
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [self._words(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def end_to_end(self, texts: Sequence[str]) -> tuple[Words, np.ndarray]:
        """Return the word pieces of all texts end to end, and their bounds, int64 [texts + 1]."""
        words = self.words(texts)
        all_words = Words(*(np.concatenate(parts) for parts in zip(NO_WORDS, *words, strict=True)))
        return all_words, _running_sum(np.array([len(text.ids) for text in words], np.int64))

    def _words(self, text: str, encoding: Encoding) -> Words:
        offsets = encoding.offsets
        if self._is_word_start is not None:
            ids = self._ids(encoding)
            word_starts, char_starts = self._is_word_start[ids], [start for start, _ in offsets]
        else:
            ids, _, _, word_starts = self._pieces(text, encoding)
            char_starts = [end - len(text[start:end].lstrip()) for start, end in offsets]
        # Unicode's canonical order may swap marks of one letter.
        return Words(ids, word_starts, np.maximum.accumulate(np.array(char_starts, np.int32)))

    def special(self) -> np.ndarray:
        """Return the ids that are no text (bool [size]): special and other added tokens, and unused entries."""
        is_special = np.zeros(self.size, dtype=bool)
        for token_id, added_token in self._backend.get_added_tokens_decoder().items():
            is_special[token_id] |= added_token.special
        for token, token_id in self._backend.get_vocab().items():
            is_special[token_id] |= token in SPECIAL_TOKENS or token.startswith("[unused")
        return is_special

    def _word_starts(self) -> np.ndarray:
        is_word_start = np.ones(self.size, dtype=bool)
        for token, token_id in self._backend.get_vocab().items():
            is_word_start[token_id] = not token.startswith(CONTINUATION)
        return is_word_start


def load_tokenizer(directory: str | Path, vocabulary_size: int | None = None) -> WordPieceTokenizer:
    """Load the tokenizer of a Hugging Face directory (`tokenizer.json` or `vocab.txt`); check the size if configured.

    Raises:
        InputError: there is no tokenizer, or its vocabulary is not the expected one.
    """
    directory = Path(directory)
    tokenizer = WordPieceTokenizer(tokenizer_backend(directory), directory)
    # Loading a bare vocabulary file can silently give an empty vocabulary, hence the checks of size and last entry.
    if vocabulary_size is not None and tokenizer.size != vocabulary_size:
        raise InputError(
            directory,
            f"the vocabulary has {tokenizer.size:,} entries, expected {vocabulary_size:,}",
            remedy="Set encoder.vocabulary_size to the encoder's own, or give the right encoder.",
        )
    config_path = directory / "config.json"
    model_config = load_json(config_path) if config_path.exists() else None
    embeddings = model_config.get("vocab_size") if isinstance(model_config, dict) else None
    if isinstance(embeddings, int) and tokenizer.size > embeddings:
        raise InputError(
            directory,
            f"the tokenizer has {tokenizer.size:,} entries but the encoder only {embeddings:,} embeddings",
        )
    _check_known_entry(tokenizer, directory / "vocab.txt")
    return tokenizer


def cuts_at_spaces(backend: Tokenizer) -> bool:
    """Whether a word piece never depends on text beyond a space or a line's end: true for BERT's rules."""
    # BERT cuts at white space first. An added token that is not special may contain spaces, and other
    # post-processors may move pieces or repeat the text.
    tokenizer_json = json.loads(backend.to_str())
    components = ("normalizer", "pre_tokenizer", "model", "post_processor")
    *component_types, post_processor = (
        (tokenizer_json[component] or {}).get("type") for component in components
    )
    keeps_text_once = post_processor in (None, "BertProcessing")
    if post_processor == "TemplateProcessing":
        keeps_text_once = (
            sum("Sequence" in component for component in tokenizer_json["post_processor"]["single"]) == 1
        )
    all_special = all(added_token.special for added_token in backend.get_added_tokens_decoder().values())
    return (
        component_types == ["BertNormalizer", "BertPreTokenizer", "WordPiece"]
        and keeps_text_once
        and all_special
    )


def needed_embeddings(backend: Tokenizer, directory: Path) -> int:
    """Return one more than the largest number of a vocabulary's entries; InputError if two share a number."""
    id_counts = Counter(backend.get_vocab(with_added_tokens=True).values())
    if id_counts.total() > len(id_counts):
        token_id = next(token_id for token_id, entries in id_counts.items() if entries > 1)
        raise InputError(
            directory,
            f"two entries of the vocabulary have number {token_id:,}",
            remedy="A special token may be missing in tokenizer.json, and added in another's place.",
        )
    return max(id_counts, default=-1) + 1


def check_special_tokens(encoding: Encoding, backend: Tokenizer, directory: Path) -> None:
    """Raise InputError where the special tokens of a sequence have numbers of others in the vocabulary.

    Where tokenizer_config.json or special_tokens_map.json says null for [CLS], transformers puts [unused1] there.
    """
    for token, token_id in zip(encoding.tokens, encoding.ids, strict=True):
        if (entry := backend.id_to_token(token_id)) != token:
            raise InputError(
                directory,
                f"the tokenizer marks texts by {entry!r} (number {token_id:,}) as its token {token!r}",
                remedy="Name cls_token and sep_token in tokenizer_config.json and in special_tokens_map.json.",
            )


def named_token(backend: Tokenizer, directory: Path, name: str) -> int | None:
    """Return the id of a tokenizer's token for padding ("pad") or masks ("mask"); None if it has none."""
    file = directory / "tokenizer_config.json"
    tokenizer_config = load_json(file, REMEDY) if file.is_file() else None
    token = tokenizer_config.get(f"{name}_token") if isinstance(tokenizer_config, dict) else None
    token = token.get("content") if isinstance(token, dict) else token
    usual_tokens = (
        spelling.format(name_form) for spelling in SPELLINGS for name_form in (name.upper(), name)
    )
    tokens = (token, *usual_tokens) if isinstance(token, str) else usual_tokens
    return next((token_id for text in tokens if (token_id := backend.token_to_id(text)) is not None), None)


def check_json_files(directory: Path, names: Sequence[str] = TOKENIZER_JSON) -> None:
    """Raise InputError where a JSON file of a Hugging Face directory is no JSON, or has a key twice."""
    for path in (directory / name for name in names):
        if path.is_file():
            load_json(path, REMEDY)


def tokenizer_backend(directory: Path) -> Tokenizer:
    """Return the tokenizer of a Hugging Face directory, from tokenizer.json or by transformers."""
    from tokenizers import Tokenizer

    path = directory / "tokenizer.json"
    if not path.exists():
        hub_backend: Tokenizer = hub_tokenizer(directory, REMEDY).backend_tokenizer
        return hub_backend
    check_json_files(directory)
    with refusing(path, "this is not a tokenizer of the tokenizers library", REMEDY):
        backend = Tokenizer.from_file(str(path))
    _check_unknown_words(backend, directory)
    return backend


def hub_tokenizer(directory: Path, remedy: str) -> Any:
    """Return transformers' tokenizer of a directory; InputError if there is none of the tokenizers library."""
    if not any((directory / name).is_file() for name in VOCABULARIES):
        raise InputError(
            directory, "there is no tokenizer: neither tokenizer.json nor vocab.txt", remedy=remedy
        )
    check_json_files(directory)
    from transformers import AutoTokenizer

    with refusing(directory, "the tokenizer cannot be loaded", remedy):
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise InputError(directory, "the tokenizer is not one of the tokenizers library", remedy=remedy)
    _check_unknown_words(tokenizer.backend_tokenizer, directory)
    return tokenizer


# Words that hardly a vocabulary has; the last is longer than WordPiece looks up.
UNKNOWN_WORDS = f"ꙮ 𐎀 {'x' * 1000}"


def _check_unknown_words(backend: Tokenizer, directory: Path) -> None:
    """Raise InputError where a word outside the vocabulary cannot be encoded: its unk_token is not in there."""
    path = directory / "tokenizer.json"
    remedy = "Give a tokenizer whose unk_token is in its vocabulary."
    with refusing(path if path.exists() else directory, "no unknown word can be encoded", remedy):
        backend.encode(UNKNOWN_WORDS)


def _check_known_entry(tokenizer: WordPieceTokenizer, vocabulary: Path) -> None:
    """The last line of vocab.txt must be the entry of that number."""
    if not vocabulary.exists():
        return
    lines = vocabulary.read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
    last_id = len(lines) - 1
    if last_id >= tokenizer.size or tokenizer.token(last_id) != lines[-1].strip():
        raise InputError(
            vocabulary,
            f"entry {last_id:,} is {lines[-1].strip()!r}, but the tokenizer loaded beside it does not have it there",
            remedy="tokenizer.json and vocab.txt belong to different encoders; take both from one.",
        )


# Word pieces of texts from those of their chunks: what stands between two spaces is cut only once.


# A table whose chunks have more characters starts anew before the next texts: it takes about 200 MB.
MAX_CACHED_CHARACTERS = 1 << 23


class ChunkCache:
    """The word pieces of every chunk that a tokenizer which cuts at spaces has cut: a cache for one thread."""

    # Chunk i has the pieces from _offsets[i] to _offsets[i + 1] of _words, whose firsts count from the chunk's own.
    # The arrays have room for more, so that a few new chunks do not copy them all.

    def __init__(self, tokenizer: WordPieceTokenizer, max_characters: int = MAX_CACHED_CHARACTERS) -> None:
        self._tokenizer, self._max_characters = tokenizer, max_characters
        self._start_anew()

    def _start_anew(self) -> None:
        self._chunk_ids: defaultdict[str, int] = defaultdict()
        self._chunk_ids.default_factory = self._chunk_ids.__len__  # the next chunk's number
        self._chunk_count = self._character_count = 0
        self._offsets, self._lengths = np.zeros(1, np.int64), np.zeros(0, np.int64)
        self._words = NO_WORDS

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the word pieces of each text, as the tokenizer does."""
        if not texts:
            return []
        words, bounds = self.end_to_end(texts)
        return [
            Words(*parts) for parts in zip(*(np.split(array, bounds[1:-1]) for array in words), strict=True)
        ]

    def end_to_end(self, texts: Sequence[str]) -> tuple[Words, np.ndarray]:
        """Return the word pieces of all texts end to end, and their bounds, int64 [texts + 1]."""
        if self._character_count > self._max_characters:
            self._start_anew()
        chunks = [text.replace("\n", " ").split(" ") for text in texts]
        chunk_counts = np.array([len(text_chunks) for text_chunks in chunks], np.int64)
        chunk_ids = np.fromiter(
            map(self._chunk_ids.__getitem__, chain.from_iterable(chunks)), np.int64, int(chunk_counts.sum())
        )
        try:
            self._cut(list(islice(self._chunk_ids, self._chunk_count, None)))
        except BaseException:
            self._start_anew()  # its new chunks have numbers, but no pieces
            raise
        piece_starts = self._offsets[chunk_ids]
        piece_counts = self._offsets[chunk_ids + 1] - piece_starts
        chunks_before, pieces_before = _running_sum(chunk_counts), _running_sum(piece_counts)
        chunk_characters = _running_sum(
            self._lengths[chunk_ids] + 1
        )  # where each chunk begins if all texts are one
        text_starts = chunk_characters[chunks_before[:-1]]
        chunk_characters = chunk_characters[:-1] - np.repeat(text_starts, chunk_counts)
        positions = np.repeat(piece_starts - pieces_before[:-1], piece_counts) + np.arange(pieces_before[-1])
        ids, word_starts, char_starts = (array[positions] for array in self._words)
        char_starts += np.repeat(chunk_characters, piece_counts).astype(np.int32)
        return Words(ids, word_starts, char_starts), pieces_before[chunks_before]

    def _cut(self, chunks: Sequence[str]) -> None:
        if not chunks:
            return
        lengths = np.array([len(chunk) for chunk in chunks], np.int64)
        chunk_characters = _running_sum(lengths + 1)
        [new_words] = self._tokenizer.words([" ".join(chunks)])
        chunk_of_piece = np.searchsorted(chunk_characters, new_words.char_starts, side="right") - 1
        new_words = new_words._replace(
            char_starts=(new_words.char_starts - chunk_characters[chunk_of_piece]).astype(np.int32)
        )
        piece_count = self._offsets[self._chunk_count]
        ends = piece_count + np.cumsum(np.bincount(chunk_of_piece, minlength=len(chunks)))
        self._words = Words(
            *(_put(*old_and_new, piece_count) for old_and_new in zip(self._words, new_words, strict=True))
        )
        self._lengths = _put(self._lengths, lengths, self._chunk_count)
        self._offsets = _put(self._offsets, ends, self._chunk_count + 1)
        self._chunk_count += len(chunks)
        self._character_count += int(lengths.sum())


def _put(array: np.ndarray, values: np.ndarray, position: int) -> np.ndarray:
    """Return the array with `values` from `position` on: the array itself, or one of twice the size if it is full."""
    end = position + len(values)
    if end > len(array):
        larger_array = np.empty(max(end, 2 * len(array)), array.dtype)
        larger_array[:position] = array[:position]
        array = larger_array
    array[position:end] = values
    return array


def _running_sum(numbers: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers, dtype=np.int64)])
