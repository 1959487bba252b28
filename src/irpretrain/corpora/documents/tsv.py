"""Format `tsv`: one tab-separated line is one document (MS MARCO passages and documents)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import option
from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted
from irpretrain.corpora.fields import ColumnNames, DocumentFields, header, read_rows
from irpretrain.corpora.files import FieldLine
from irpretrain.corpora.records import AnyDocument, Share, everything

SUFFIXES = (".tsv", ".tab")


class TsvDocumentOptions(DocumentFields):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order, for files without a header; null: the first line.",
        min_length=1,
    )

    quotes: bool = option(False, 'Remove quotation marks around a cell, and read "" as ".')


OPTIONS = TsvDocumentOptions


def read(path: Path, options: TsvDocumentOptions, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    columns = options.columns or header(path)
    if not columns:
        return
    fields.check_columns(path, options, columns)
    rows = read_rows(path, columns, options.columns is None, share)
    yield from converted(rows, lambda row: _document(row, options))


def _document(row: FieldLine, options: TsvDocumentOptions) -> AnyDocument:
    cells = {key: _unquoted(text) for key, text in row.fields.items()} if options.quotes else row.fields
    return fields.document(cells, options, row.position, row.line)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if quoted else cell
