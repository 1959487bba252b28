"""Format `tsv` of runs: tab-separated columns with names in the options (MS MARCO's query, document, rank)."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import field_validator

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, retrieved
from irpretrain.corpora.fields import ColumnNames, read_rows
from irpretrain.corpora.files import FieldLine
from irpretrain.corpora.records import Malformed, Retrieved

NEEDED, PLACING = {"query_id", "document_id"}, {"rank", "score"}


class TsvRunOptions(Section):
    """Options of the format tsv."""

    columns: ColumnNames = option(
        ["query_id", "document_id", "rank"],
        "Column names in order: query_id, document_id, and rank or score; others are ignored.",
    )
    header: bool = option(False, "Skip the first line.")

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: list[str]) -> list[str]:
        if not set(columns) >= NEEDED or not set(columns) & PLACING:
            raise ValueError("query_id, document_id, and rank or score must be among the columns")
        return columns


OPTIONS = TsvRunOptions


def read(path: Path, options: TsvRunOptions) -> Iterator[Retrieved | Malformed]:
    return converted(read_rows(path, options.columns, options.header), _retrieved)


def _retrieved(row: FieldLine) -> Retrieved | Malformed:
    cells = row.fields
    rank, score = (cells[name].strip() if name in cells else None for name in ("rank", "score"))
    return retrieved(cells["query_id"], cells["document_id"], rank, score, row.position, row.line)
