"""A document's text, as first-stage retrieval, language models and encoders see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from irpretrain.config.text import TextConfig
from irpretrain.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa


def stream_texts(
    documents: str | Path, options: TextConfig, rows: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the (identifiers, texts) of a DOCUMENTS table in batches of at most `rows` documents, in its order."""
    from irpretrain.contracts import DOCUMENTS  # pyarrow

    columns = list(dict.fromkeys(["document_id", *options.fields]))
    for batch in DOCUMENTS.stream(documents, columns, rows):
        yield batch.column("document_id").to_pylist(), texts_of(batch, options)


def texts_of(batch: pa.RecordBatch, options: TextConfig) -> list[str]:
    """Return the text of each document of a batch, which has the configured fields among its columns."""
    columns = [batch.column(field).to_pylist() for field in options.fields]
    return [
        compose(dict(zip(options.fields, values, strict=True)), options)
        for values in zip(*columns, strict=True)
    ]


def body_start(document: Mapping[str, str], options: TextConfig) -> int:
    """Return what to add to a character of the document's body to find it in the text that `compose` makes.

    Raises:
        ConfigError: the body is not among the fields.
    """
    if "body" not in options.fields:
        raise ConfigError(
            f"text.fields: {', '.join(options.fields)} lacks body, where sections and links are; add it"
        )
    before = options.fields[: options.fields.index("body")]
    parts = [text for field in before if (text := document[field].strip())]
    blank = len(document["body"]) - len(document["body"].lstrip())
    return sum(len(text) + len(options.separator) for text in parts) - blank


def compose(document: Mapping[str, str], options: TextConfig) -> str:
    """Join the non-empty fields of a document in the configured order (PROP's released code: title + ". " + body)."""
    return options.separator.join(text for field in options.fields if (text := document[field].strip()))
