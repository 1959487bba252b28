"""Section `text`: how documents become words (for language models) and word pieces (for the encoder)."""

from __future__ import annotations

from typing import Literal

from irpretrain.config.base import Section, option


class TextConfig(Section):
    """Words, and the text of a document."""

    words: Literal["alphanumeric", "letters"] = option(
        ..., "A word is a run of letters and digits, or of letters alone; always lower-cased."
    )
    fields: list[Literal["url", "title", "body"]] = option(
        ["title", "body"], "Fields of a document's text, in this order.", min_length=1
    )
    separator: str = option(". ", "Text between two non-empty fields.")
    max_word_pieces: int | None = option(
        None, "Maximum word pieces of a document in the token store; null: all.", unit="word pieces", ge=1
    )


class EncoderConfig(Section):
    """The pre-trained encoder."""

    path: str = option(
        ...,
        "Hugging Face directory of an encoder (docs/methods/training.md: families), or "
        "embedded:<asset>. Or a name in the hub's cache on this machine, such as "
        "google-bert/bert-base-uncased (@ and a commit may follow).",
        min_length=1,
    )
    label: str = option(..., "Name in tables.")
    layers: int | None = option(None, "Keep only the first layers; null: all.", ge=1)
    vocabulary_size: int | None = option(
        None, "Expected vocabulary size; checked if set.", unit="word pieces", ge=1
    )
