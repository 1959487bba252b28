"""A document's text, as language models and encoders see it."""

from __future__ import annotations

from collections.abc import Mapping

from irpretrain.config.text import TextConfig


def compose(document: Mapping[str, str], options: TextConfig) -> str:
    """Join the non-empty fields of a document in the configured order (PROP's released code: title + ". " + body)."""
    return options.separator.join(text for field in options.fields if (text := document[field].strip()))
