"""Section `text`: how documents become words (for language models) and word pieces (for the encoder)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section


class TextConfig(Section):
    """Words of the language model, and the text of a document."""

    words: Literal["alphanumeric", "letters"] = Field(
        description="A word is a run of letters and digits, or of letters alone; always lower-cased."
    )
    fields: list[Literal["url", "title", "body"]] = Field(
        ["title", "body"], min_length=1, description="Fields of a document's text, in this order."
    )
    separator: str = Field(". ", description="Text between two non-empty fields.")
    max_word_pieces: int | None = Field(
        None,
        ge=1,
        description="Maximum word pieces of a document in the token store; null: all.",
        json_schema_extra={"unit": "word pieces"},
    )


class EncoderConfig(Section):
    """The pre-trained encoder."""

    path: str = Field(
        min_length=1,
        description="Hugging Face directory of a BERT encoder, or embedded:<asset>.",
    )
    label: str = Field(description="Name in tables.")
    layers: int | None = Field(None, ge=1, description="Keep only the first layers; null: all.")
    vocabulary_size: int | None = Field(
        None,
        ge=1,
        description="Expected vocabulary size; checked if set.",
        json_schema_extra={"unit": "word pieces"},
    )
