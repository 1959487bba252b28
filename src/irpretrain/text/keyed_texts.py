"""Texts that a model reads, each with its key: documents of a corpus shard, or queries of a data set."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, QUERIES
from irpretrain.text.compose import texts_of


class Text(NamedTuple):
    """A document or a query, whose position is its place in its table."""

    part: int
    position: int
    document_id: str
    text: str

    @property
    def key(self) -> dict[str, Any]:
        """The columns that name its row in a table."""
        return {"part": self.part, "position": self.position, "document_id": self.document_id}


def document_texts(documents: str | Path, options: TextConfig, at_once: int) -> Iterator[list[Text]]:
    """Yield the texts of a DOCUMENTS table in lists of `at_once` (the last may be shorter), in its order."""
    columns = list(dict.fromkeys(["part", "position", "document_id", *options.fields]))
    waiting: list[Text] = []
    for batch in DOCUMENTS.stream(documents, columns, at_once):
        keys = (batch.column(name).to_pylist() for name in ("part", "position", "document_id"))
        waiting += map(Text, *keys, texts_of(batch, options))
        while len(waiting) >= at_once:
            yield waiting[:at_once]
            waiting = waiting[at_once:]
    if waiting:
        yield waiting


def query_texts(queries: str | Path) -> list[Text]:
    """Return the queries of a QUERIES table, in its order."""
    return [Text(0, place, query, text) for place, (query, text) in enumerate(read_queries(queries).items())]


def read_queries(queries: str | Path) -> dict[str, str]:
    """Return query → text of a QUERIES table, in its order."""
    table = QUERIES.read(queries)
    return dict(zip(table["query_id"].to_pylist(), table["text"].to_pylist(), strict=True))
