"""A document's text, as first-stage retrieval, language models and encoders see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from irpretrain.config.text import TextConfig

if TYPE_CHECKING:
    import pyarrow as pa


def stream_texts(
    documents: str | Path, options: TextConfig, rows: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the (identifiers, texts) of a DOCUMENTS table in batches of at most `rows` documents, in its order."""
    from irpretrain.contracts import DOCUMENTS

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


def compose(document: Mapping[str, str], options: TextConfig) -> str:
    """Join the non-empty fields of a document in the configured order (PROP's released code: title + ". " + body)."""
    return options.separator.join(text for field in options.fields if (text := document[field].strip()))
