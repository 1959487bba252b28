"""Section `text`: how documents become words (for language models) and word pieces (for the encoder)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section


class TextConfig(Section):
    """Words of the language model, and the text that is made of a document's fields."""

    words: Literal["alphanumeric", "letters"] = Field(
        description="A word is a run of letters and digits, or of letters alone (digits separate); always lower-cased."
    )
    fields: list[Literal["url", "title", "body"]] = Field(
        ["title", "body"], min_length=1, description="Fields that make up a document's text, in this order."
    )
    separator: str = Field(". ", description="What stands between two non-empty fields.")
    max_word_pieces: int | None = Field(
        None,
        ge=1,
        description="Keep at most this many word pieces of a document in the token store; null for all.",
        json_schema_extra={"unit": "word pieces"},
    )


class EncoderConfig(Section):
    """The pre-trained encoder that everything starts from."""

    path: str = Field(
        min_length=1,
        description="Hugging Face directory of a BERT-architecture encoder, or embedded:<asset>.",
    )
    label: str = Field(description="Name in tables.")
    layers: int | None = Field(None, ge=1, description="Keep only the first so many layers; null for all.")
    vocabulary_size: int | None = Field(
        None,
        ge=1,
        description="Expected size of the vocabulary; checked when given.",
        json_schema_extra={"unit": "word pieces"},
    )
