"""Format `jsonl`: one JSON object a line is one document (BEIR, MS MARCO v2, Anserini's JSON collections)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted, read_objects
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.records import AnyDocument, Share, everything

SUFFIXES = (".jsonl", ".json", ".ndjson")


class JsonlDocumentOptions(DocumentFields):
    """Options of the format jsonl."""


OPTIONS = JsonlDocumentOptions


def read(path: Path, options: JsonlDocumentOptions, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    entries = read_objects(path, share)
    return converted(entries, lambda e: fields.document(e.fields, options, e.position, e.line))
