"""Word pieces of any encoder with a fast tokenizer, with the characters each stands for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import Encoding, Tokenizer

from irpretrain.errors import InputError, refusing
from irpretrain.text.word_pieces import tokenizer_backend

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


class EncoderPieces:
    """An encoder's tokenizer, whatever its architecture. A special token's name inside a text is ordinary text.

    Attributes:
        prefix, suffix: ids of the special tokens before and after a text ([CLS] and [SEP], of BERT).
        pad: id that fills up a batch; no result depends on it.
    """

    def __init__(self, directory: str | Path) -> None:
        self._backend: Tokenizer = tokenizer_backend(Path(directory))
        self._backend.no_truncation()
        self._backend.no_padding()
        with refusing(directory, "its tokenizer cannot encode a text"):
            marked = self._backend.encode("a")
        text = [place for place, special in enumerate(marked.special_tokens_mask) if not special]
        if not text or len(text) == len(marked.ids):
            raise InputError(
                directory,
                "its tokenizer puts no special tokens around a text",
                remedy="Give an encoder whose tokenizer.json has a post-processor, as BERT's.",
            )
        self.prefix, self.suffix = marked.ids[: text[0]], marked.ids[text[-1] + 1 :]
        self.pad = next(
            (n for name in ("[PAD]", "<pad>") if (n := self._backend.token_to_id(name)) is not None), 0
        )
        self._backend.encode_special_tokens = True

    def room(self, max_length: int) -> int:
        """Return how many word pieces of a text a sequence holds."""
        return max_length - len(self.prefix) - len(self.suffix)

    def encode(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the word pieces of each text, whole."""
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [_pieces(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def decode(self, ids: np.ndarray) -> str:
        """Return the text that pieces stand for, without special tokens, on one line."""
        return " ".join(self._backend.decode(ids.tolist(), skip_special_tokens=True).split())


def _pieces(text: str, encoding: Encoding) -> Pieces:
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
    return Pieces(np.array(encoding.ids, np.int32), starts, ends, begins)
