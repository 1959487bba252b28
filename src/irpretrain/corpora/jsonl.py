"""Format `jsonl`: one JSON object a line is one document (BEIR, MS MARCO v2, Anserini's JSON collections)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora import fields
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.json_lines import read_objects
from irpretrain.corpora.records import Document, Malformed, Skipped, Wanted, everything

SUFFIXES = (".jsonl", ".json", ".ndjson")


class Options(DocumentFields):
    """Options of the format jsonl."""


def read(
    path: Path, options: Options, wanted: Wanted = everything
) -> Iterator[Document | Skipped | Malformed]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    for entry in read_objects(path, wanted):
        if isinstance(entry, Malformed):
            yield entry
        else:
            yield fields.document(entry.record, options, entry.position, entry.line)
