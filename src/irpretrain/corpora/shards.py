"""A shard of a corpus: its share of the records, in corpus order, as a table of documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import CorpusConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.corpora.files import list_files
from irpretrain.corpora.passages import passages
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.records import Wanted, everything
from irpretrain.corpora.registry import format_module
from irpretrain.progress import progress

BLOCK = 1024
"""Neighbouring records of a file that stay together when a file is spread over shards."""


def write_shard(config: CorpusConfig, source: str | Path, shard: int, output: str | Path) -> dict[str, Any]:
    """Write the documents of shard `shard` (from 0) of the corpus that lies at `source`.

    A shard may be empty; `collection.check_corpus` tells whether the whole corpus is.

    Returns:
        Counts: files, records read, skipped and malformed by reason, documents written.

    Raises:
        InputError: the source is missing or holds no file of the format, or a record is malformed and
            the corpus refuses such records.
    """
    if not 0 <= shard < config.shards:
        raise ValueError(f"shard {shard} of {config.shards}")
    reader = format_module("documents", config.format)
    files = list_files(source, reader.SUFFIXES)
    tally = Tally(config.malformed, "malformed")
    title = f"read {Path(output).parent.name}, shard {shard + 1} of {config.shards}"
    rows = progress(_rows(files, reader, config, shard, tally), title, "documents")
    written = DOCUMENTS.write(output, rows)
    if left_out := sum(tally.malformed.values()):
        print(f"[{title}] {left_out:,} malformed records are left out: {tally.examples[0]}", file=sys.stderr)
    return {"files": len(files), **tally.counts(), "written": written}


def owner(part: int, position: int, files: int, shards: int) -> int:
    """Return the shard of record `position` of file `part`, where there are `files` files."""
    return (part + position // BLOCK) % shards if files < shards else part % shards


def _rows(
    files: list[Path], reader: Any, config: CorpusConfig, shard: int, tally: Tally
) -> Iterator[dict[str, Any]]:
    options = reader.Options(**config.options)
    for part, path in enumerate(files):
        wanted = _wanted(part, len(files), shard, config.shards)
        if wanted is None:
            continue
        for document in tally.sound(path, reader.read(path, options, wanted)):
            for piece in passages(document, config.passage_words) if config.passage_words else [document]:
                yield {
                    "document_id": piece.document_id,
                    "part": part,
                    "position": piece.position,
                    "title": piece.title,
                    "url": piece.url,
                    "body": piece.body,
                }


def _wanted(part: int, files: int, shard: int, shards: int) -> Wanted | None:
    """Return which positions of file `part` belong to the shard; None where none does."""
    if files >= shards:
        return everything if part % shards == shard else None
    return lambda position: owner(part, position, files, shards) == shard
