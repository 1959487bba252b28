"""Texts of documents and queries: composed from their fields, streamed from shards, or found by identifier."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES
from irpretrain.foundation.errors import ConfigError, InputError, count_of
from irpretrain.foundation.tables import ROWS_AS_OBJECTS

if TYPE_CHECKING:
    import pyarrow as pa


# A document's text, as first-stage retrieval, language models and encoders see it.


def stream_texts(
    documents: str | Path, options: TextConfig, batch_size: int = ROWS_AS_OBJECTS
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the (identifiers, texts) of a DOCUMENTS table in its order, at most `batch_size` at once."""
    columns = list(dict.fromkeys(["document_id", *options.fields]))
    for batch in DOCUMENTS.stream(documents, columns, batch_size):
        yield batch.column("document_id").to_pylist(), texts_of(batch, options)


def texts_of(batch: pa.RecordBatch, options: TextConfig) -> list[str]:
    """Return the text of each document of a batch, which has the configured fields among its columns."""
    columns = [batch.column(field).to_pylist() for field in options.fields]
    return [
        compose(dict(zip(options.fields, values, strict=True)), options)
        for values in zip(*columns, strict=True)
    ]


def body_start(document: Mapping[str, str], options: TextConfig) -> int:
    """Return the offset of the document's body in the text that `compose` makes; ConfigError without the body."""
    if "body" not in options.fields:
        raise ConfigError(
            f"text.fields: {', '.join(options.fields)} lacks body, where sections and links are; add it"
        )
    fields_before = options.fields[: options.fields.index("body")]
    texts_before = [text for field in fields_before if (text := document[field].strip())]
    leading_space = len(document["body"]) - len(document["body"].lstrip())
    return sum(len(text) + len(options.separator) for text in texts_before) - leading_space


def compose(document: Mapping[str, str], options: TextConfig) -> str:
    """Join the non-empty fields of a document in the configured order (PROP's released code: title + ". " + body)."""
    return options.separator.join(text for field in options.fields if (text := document[field].strip()))


# Texts that a model reads, each with its key: documents of a corpus shard, or queries of a data set.


class Text(NamedTuple):
    """A document or a query, whose position is its row in its table."""

    part: int
    position: int
    document_id: str
    text: str

    @property
    def key(self) -> dict[str, Any]:
        """The columns that name its row in a table."""
        return {"part": self.part, "position": self.position, "document_id": self.document_id}


def document_texts(
    documents: str | Path, options: TextConfig, batch_size: int = ROWS_AS_OBJECTS
) -> Iterator[list[Text]]:
    """Yield the texts of a DOCUMENTS table in lists of `batch_size` (the last may be shorter), in its order."""
    columns = list(dict.fromkeys(["part", "position", "document_id", *options.fields]))
    pending: list[Text] = []
    for batch in DOCUMENTS.stream(documents, columns, batch_size):
        keys = (batch.column(name).to_pylist() for name in ("part", "position", "document_id"))
        pending += map(Text, *keys, texts_of(batch, options))
        while len(pending) >= batch_size:
            yield pending[:batch_size]
            pending = pending[batch_size:]
    if pending:
        yield pending


def query_texts(queries: str | Path) -> list[Text]:
    """Return the queries of a QUERIES table, in its order."""
    return [
        Text(0, position, query, text) for position, (query, text) in enumerate(read_queries(queries).items())
    ]


def read_queries(queries: str | Path) -> dict[str, str]:
    table = QUERIES.read(queries)
    return dict(zip(table["query_id"].to_pylist(), table["text"].to_pylist(), strict=True))


# The texts of some documents of a corpus, found by their identifiers.


TEXTS_AT_ONCE = 512


def stream_chosen(
    documents: Sequence[str | Path], document_ids: Collection[str], options: TextConfig
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (identifiers, texts) of the wanted documents of DOCUMENTS tables, some hundreds at a time, in corpus order.

    Raises:
        InputError: at the end, if the corpus lacks a document.
    """
    columns = list(dict.fromkeys(["document_id", *options.fields]))
    missing_ids = set(document_ids)
    for path in documents:
        for batch in DOCUMENTS.stream_documents(path, document_ids, columns, rows=TEXTS_AT_ONCE):
            identifiers = batch.column("document_id").to_pylist()
            missing_ids.difference_update(identifiers)
            yield identifiers, texts_of(batch, options)
    if missing_ids:
        raise InputError(
            Path(documents[0]).parent,
            f"{count_of(len(missing_ids), 'document')} not in the corpus, such as {min(missing_ids)}",
            remedy="They must be documents of the data set's corpus.",
        )


def read_chosen(
    documents: Sequence[str | Path], document_ids: Collection[str], options: TextConfig
) -> dict[str, str]:
    """Return the text of each wanted document, as `stream_chosen` yields them."""
    return {
        document: text
        for identifiers, texts in stream_chosen(documents, document_ids, options)
        for document, text in zip(identifiers, texts, strict=True)
    }
