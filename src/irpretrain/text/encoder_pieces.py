"""Word pieces of any encoder with a fast tokenizer, with the characters each stands for."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from irpretrain.errors import InputError, refusing
from irpretrain.text.word_pieces import Pieces, TextIds, named_token, pieces_of, tokenizer_backend


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
        self.pad = named_token(self._backend, Path(directory), "pad") or 0
        self._ids = TextIds(self._backend, Path(directory))

    def room(self, max_length: int) -> int:
        """Return how many word pieces of a text a sequence holds."""
        return max_length - len(self.prefix) - len(self.suffix)

    def encode(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the word pieces of each text, whole."""
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [pieces_of(text, encoding, self._ids) for text, encoding in zip(texts, encodings, strict=True)]

    def decode(self, ids: np.ndarray) -> str:
        """Return the text that pieces stand for, without special tokens, on one line."""
        return " ".join(self._backend.decode(ids.tolist(), skip_special_tokens=True).split())
