"""Format `tsv`: one tab-separated line is one document (MS MARCO passages and documents)."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import field_validator

from irpretrain.config.base import option
from irpretrain.corpora import fields
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.records import AnyDocument, Malformed, Share, everything
from irpretrain.corpora.tables import header, read_rows

SUFFIXES = (".tsv", ".tab")


class Options(DocumentFields):
    """Options of the format tsv."""

    columns: list[str] | None = option(
        None,
        "Column names in order, for files without a header; null: the first line.",
        min_length=1,
    )

    quotes: bool = option(False, 'Remove quotation marks around a cell, and read "" as ".')

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: list[str] | None) -> list[str] | None:
        return check_names(columns)


def check_names(columns: list[str] | None) -> list[str] | None:
    """Refuse a list of columns in which a name occurs twice."""
    if columns is not None and len(set(columns)) < len(columns):
        raise ValueError("a column is named twice")
    return columns


def read(path: Path, options: Options, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    columns = options.columns or header(path)
    if not columns:
        return
    fields.check_columns(path, options, columns)
    for row in read_rows(path, columns, options.columns is None, share):
        if isinstance(row, Malformed):
            yield row
        else:
            cells = {key: _unquoted(text) for key, text in row.cells.items()} if options.quotes else row.cells
            yield fields.document(cells, options, row.position, row.line)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if quoted else cell
