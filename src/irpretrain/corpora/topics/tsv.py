"""Format `tsv` of topics: identifier, tab, text (MS MARCO)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.records import Malformed, Query, Skipped
from irpretrain.corpora.tables import read_rows
from irpretrain.corpora.topics.query import query


class Options(Section):
    """Options of the format tsv."""

    header: bool = option(False, "Skip the first line.")


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the queries in the order of the file."""
    for row in read_rows(path, ("id", "text"), options.header):
        if isinstance(row, Malformed):
            yield row
        else:
            yield query(row.cells["id"].strip(), row.cells["text"], row.position, row.line)
