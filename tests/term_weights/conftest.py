"""Five-word passages, queries and judgements that can be checked in one's head."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from irpretrain.foundation.contracts import DOCUMENTS
from small_documents import document_rows, write_queries


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few texts fill several blocks."""
    monkeypatch.setattr("irpretrain.retrieval.term_weights.infer.TEXTS_IN_BLOCK", 3)


@pytest.fixture
def make_documents(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a DOCUMENTS table of {identifier: body} or {identifier: (title, body)}."""

    def make(documents: dict[str, Any], name: str = "documents", first: int = 0) -> Path:
        titled = {key: text if isinstance(text, tuple) else ("", text) for key, text in documents.items()}
        rows = document_rows({key: body for key, (_, body) in titled.items()}, first)
        for row in rows:
            row["title"] = titled[row["document_id"]][0]
        DOCUMENTS.write(tmp_path / f"{name}.parquet", rows)
        return tmp_path / f"{name}.parquet"

    return make


@pytest.fixture
def make_queries(tmp_path: Path) -> Callable[[dict[str, tuple[str, list[str]]]], tuple[Path, Path]]:
    """Return a function that writes QUERIES and judgements of {query: (text, relevant documents)}."""

    def make(queries: dict[str, tuple[str, list[str]]]) -> tuple[Path, Path]:
        table, qrels = tmp_path / "queries.parquet", tmp_path / "qrels.txt"
        write_queries(table, {key: text for key, (text, _) in queries.items()})
        qrels.write_text(
            "".join(f"{key} 0 {document} 1\n" for key, (_, found) in queries.items() for document in found)
        )
        return table, qrels

    return make
