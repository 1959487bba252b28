"""Word pieces of any encoder with a fast tokenizer, with their characters."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from irpretrain.foundation.errors import ConfigError, InputError, refusing
from irpretrain.text.pair_layout import Sequences, lay_out
from irpretrain.text.word_pieces import (
    PairTemplate,
    TextTokenizer,
    check_special_tokens,
    hub_tokenizer,
    named_token,
    tokenizer_backend,
)


class EncoderPieces(TextTokenizer):
    """The tokenizer of an encoder that reads one text.

    Attributes:
        prefix, suffix: ids of the special tokens around a text ([CLS] and [SEP] for BERT).
        pad_id: id that fills up a batch; no result depends on it.
    """

    def __init__(self, directory: str | Path) -> None:
        super().__init__(tokenizer_backend(Path(directory)), Path(directory))
        with refusing(directory, "its tokenizer cannot encode a text"):
            encoding = self._backend.encode("a")
        check_special_tokens(encoding, self._backend, self.directory)
        text_positions = [
            position for position, is_special in enumerate(encoding.special_tokens_mask) if not is_special
        ]
        if not text_positions or len(text_positions) == len(encoding.ids):
            raise InputError(
                directory,
                "its tokenizer puts no special tokens around a text",
                remedy="Give an encoder whose tokenizer.json has a post-processor, as BERT's.",
            )
        self.prefix = encoding.ids[: text_positions[0]]
        self.suffix = encoding.ids[text_positions[-1] + 1 :]
        self.pad_id = named_token(self._backend, self.directory, "pad") or 0

    def room(self, max_length: int) -> int:
        """Return how many word pieces of a text a sequence holds."""
        return max_length - len(self.prefix) - len(self.suffix)


# (query, document) sequences as a re-ranker's own tokenizer makes them, of whatever architecture.
#
# The special tokens are the tokenizer's own (`text.word_pieces`). The query is cut to its longest, then the document
# to the room that is left, as everywhere in this project; a pair that fits is what the tokenizer makes of it when
# called on the two texts.


REMEDY = (
    "Give the Hugging Face directory of a cross-encoder: config.json, model.safetensors and tokenizer.json."
)


class PairTokenizer(TextTokenizer):
    """The tokenizer of a re-ranker's directory.

    Attributes:
        template: special tokens of a sequence.
        limit: longest sequence of the tokenizer's files; None if they set no limit.
        uses_types: whether the model reads token types.
    """

    def __init__(self, directory: str | Path) -> None:
        """InputError if the tokenizers library cannot run it, or it cannot pad."""
        directory = Path(directory)
        hub_tokenizer = load_tokenizer(directory)
        super().__init__(hub_tokenizer.backend_tokenizer, directory)
        if hub_tokenizer.pad_token_id is None:
            raise InputError(directory, "the tokenizer has no padding token", remedy=REMEDY)
        self.pad_token_id: int = hub_tokenizer.pad_token_id
        self.uses_types = "token_type_ids" in hub_tokenizer.model_input_names
        self.limit = sequence_limit(hub_tokenizer.model_max_length)
        self.template = PairTemplate.of(self._backend, directory, REMEDY)

    def encode_with_spans(self, text: str) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Return the word pieces (int32) of a text, and of each its first character and the end of its last."""
        encoding = self._backend.encode(text, add_special_tokens=False)
        return self._ids(encoding), list(encoding.offsets)

    def cut(
        self, query: np.ndarray, document: np.ndarray, max_length: int, query_length: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the word pieces of query and document that fit in; ConfigError if no room is left for the document."""
        special_count = self.template.special_count
        if query_length + special_count >= max_length:
            raise ConfigError(
                f"query_length {query_length} and the tokenizer's {special_count} special tokens leave no room for a "
                f"document in max_length {max_length}; lower query_length or raise max_length"
            )
        query = query[:query_length]
        return query, document[: max_length - special_count - len(query)]

    def join(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Sequences:
        """Return the sequences of (query, document) pairs of word pieces, padded to the longest."""
        queries, documents = zip(*pairs, strict=True)
        lengths = [np.array([len(text) for text in texts], np.int64) for texts in (queries, documents)]
        layout = lay_out(self.template, lengths[0], lengths[1], self.pad_token_id)
        layout.sequences.input_ids[layout.query_mask] = np.concatenate(queries)
        layout.sequences.input_ids[layout.document_mask] = np.concatenate(documents)
        return layout.sequences


# From here on, a tokenizer's length means that it has no limit (transformers writes 1e30).
UNLIMITED_LENGTH = 1 << 30


def sequence_limit(model_max_length: Any) -> int | None:
    """Return the longest sequence that a value of tokenizer_config.json sets, in word pieces; None without a limit."""
    # Other tools write whole numbers as floats too.
    is_number = isinstance(model_max_length, int | float) and not isinstance(model_max_length, bool)
    return int(model_max_length) if is_number and 0 < model_max_length < UNLIMITED_LENGTH else None


def takes_types(network: Any, directory: Path) -> bool:
    """Whether a Hugging Face model is given token types, which its tokenizer must make."""
    has_types = "token_type_ids" in inspect.signature(network.forward).parameters
    return has_types and "token_type_ids" in load_tokenizer(directory).model_input_names


def check_types(network: Any, directory: Path) -> None:
    """Raise InputError if a Hugging Face model that reads token types has none for the document."""
    embeddings = getattr(network.base_model, "embeddings", None)
    layer = getattr(embeddings, "token_type_embeddings", None)
    if layer is not None and layer.num_embeddings < 2:
        raise InputError(
            directory,
            "its tokenizer gives query and document two token types, but its type_vocab_size is 1",
            remedy=REMEDY,
        )


# Two tokenizers of one vocabulary cut it differently if they differ in letter case, accents, ideographs, marks, or a
# word without a space before it.
PROBE = "BAD Café, 東京 a-bad"


def load_tokenizer(directory: Path) -> Any:
    """Return transformers' tokenizer of a directory.

    Raises:
        InputError: there is none of the tokenizers library, or tokenizer.json, by which texts are cut for training,
            contradicts it.
    """
    tokenizer = hub_tokenizer(directory, REMEDY)
    if (directory / "tokenizer.json").is_file():
        _refuse_two_readings(directory, tokenizer.backend_tokenizer)
    return tokenizer


def _refuse_two_readings(directory: Path, hub_backend: Tokenizer) -> None:
    encodings = []
    for backend in (tokenizer_backend(directory), hub_backend):
        backend.no_truncation()
        backend.no_padding()
        check_special_tokens(backend.encode("a"), backend, directory)
        encoding = backend.encode(PROBE, PROBE)
        encodings.append((encoding.tokens, encoding.ids, encoding.type_ids))
    if encodings[0] != encodings[1]:
        raise InputError(
            directory,
            f"tokenizer.json and tokenizer_config.json, which transformers follows, cut {PROBE!r} in different ways",
            remedy="Make do_lower_case, strip_accents and the other rules of both files equal, as the encoder was "
            "trained.",
        )
