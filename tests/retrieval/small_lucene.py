"""What tests of Lucene indexes share: tables of a few documents, weights and queries, and Lucene's stored lengths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import QUERIES, TERM_VECTORS

TEXT = TextConfig(words="alphanumeric", fields=["title", "body"])
OPTIONS = RetrievalConfig(depth=10, memory_mb=256, threads=2)


def write_queries(path: Path, texts: Mapping[str, str]) -> Path:
    QUERIES.write(path, [{"query_id": name, "text": text} for name, text in texts.items()])
    return path


def write_vectors(path: Path, vectors: Mapping[str, Mapping[str, int]]) -> Path:
    rows = [
        {
            "part": 0,
            "position": i,
            "document_id": name,
            "terms": [{"term": term, "weight": vector[term]} for term in sorted(vector)],
        }
        for i, (name, vector) in enumerate(vectors.items())
    ]
    TERM_VECTORS.write(path, rows)
    return path


def stored_length(length: int) -> int:
    """The length that Lucene keeps in a byte: exact to 40, then of four significant bits (SmallFloat.intToByte4)."""
    free = 24
    if length < free:
        return length
    value = length - free
    bits = value.bit_length()
    shift = max(bits - 4, 0)
    return free + (value >> shift << shift)
