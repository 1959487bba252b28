"""Format `tsv` of runs: tab-separated columns with names in the options (MS MARCO's query, document, rank)."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import field_validator

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import retrieved
from irpretrain.corpora.records import Malformed, Retrieved
from irpretrain.corpora.tables import read_rows

NEEDED, PLACING = {"query_id", "document_id"}, {"rank", "score"}


class Options(Section):
    """Options of the format tsv."""

    columns: list[str] = option(
        ["query_id", "document_id", "rank"],
        "Column names in order: query_id, document_id, and rank or score; others are ignored.",
    )
    header: bool = option(False, "Skip the first line.")

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: list[str]) -> list[str]:
        if len(set(columns)) < len(columns):
            raise ValueError("a column is named twice")
        if not set(columns) >= NEEDED or not set(columns) & PLACING:
            raise ValueError("query_id, document_id, and rank or score must be among the columns")
        return columns


def read(path: Path, options: Options) -> Iterator[Retrieved | Malformed]:
    """Yield the rows in the order of the file."""
    for row in read_rows(path, options.columns, options.header):
        if isinstance(row, Malformed):
            yield row
            continue
        cells = {name: text.strip() for name, text in row.cells.items()}
        rank, score = cells.get("rank"), cells.get("score")
        yield retrieved(cells["query_id"], cells["document_id"], rank, score, row.position, row.line)
