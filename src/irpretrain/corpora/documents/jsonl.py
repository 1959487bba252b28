"""Format `jsonl`: one JSON object a line is one document (BEIR, MS MARCO v2, Anserini's JSON collections)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.json_files import read_objects
from irpretrain.corpora.records import AnyDocument, Share, everything

SUFFIXES = (".jsonl", ".json", ".ndjson")


class Options(DocumentFields):
    """Options of the format jsonl."""


def read(path: Path, options: Options, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    entries = read_objects(path, share)
    return converted(entries, lambda e: fields.document(e.fields, options, e.position, e.line))
