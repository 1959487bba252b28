"""Tables of documents, queries and candidates whose texts a test spells out."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES


def document_rows(bodies: Mapping[str, str] | Iterable[str], first: int = 0) -> list[dict[str, Any]]:
    """Rows of documents without titles, by their names or named d0, d1, …; positions count from `first`."""
    named = bodies if isinstance(bodies, Mapping) else {f"d{i}": body for i, body in enumerate(bodies)}
    return [
        {"document_id": name, "part": 0, "position": i, "title": "", "url": "", "body": body}
        for i, (name, body) in enumerate(named.items(), first)
    ]


def write_documents(path: Path, bodies: Mapping[str, str] | Iterable[str], first: int = 0) -> Path:
    """Write such rows; return the path."""
    DOCUMENTS.write(path, document_rows(bodies, first))
    return path


def write_queries(path: Path, texts: Mapping[str, str]) -> Path:
    """Write the texts of queries; return the path."""
    QUERIES.write(path, [{"query_id": name, "text": text} for name, text in texts.items()])
    return path


def write_candidates(path: Path, names: Mapping[str, Iterable[str]]) -> Path:
    """Write a run with the documents of each query, best first; return the path."""
    run = {query: [(name, -float(place)) for place, name in enumerate(some)] for query, some in names.items()}
    write_run(path, run, "bm25")
    return path
