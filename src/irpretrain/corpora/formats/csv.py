"""Tables of spreadsheets (CSV, RFC 4180): documents, topics, judgements and runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted
from irpretrain.corpora.fields import DocumentFields
from irpretrain.corpora.formats.tsv import (
    grading_command,
    judgement_of,
    judgement_roles,
    query_of,
    retrieved_of,
    run_roles,
    topic_roles,
)
from irpretrain.corpora.quoted_rows import CsvOptions, column_names, read_csv_rows, separator_in
from irpretrain.corpora.registry import Format
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
)


class CsvDocumentOptions(DocumentFields, CsvOptions):
    """Options of the format csv."""


def read_documents(
    path: Path, options: CsvDocumentOptions, share: Share = WHOLE_FILE
) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is the number of its row."""
    columns = column_names(path, options)
    if not columns:
        return
    numbering = None if options.columns else lambda: _numbering(*separator_in(path, options))
    fields.check_columns(path, options, columns, numbering, has_header=options.columns is None)
    rows = read_csv_rows(path, options, columns, share)
    unread = () if options.columns else None  # who names all columns knows which are not read
    yield from converted(rows, lambda row: fields.document(row, options, unread))


def _numbering(separator: str, header_line: int) -> str:
    table = f"pandas.read_csv('FILE', sep={separator!r}, skiprows={header_line - 1}, dtype=str, keep_default_na=False)"
    return f"""python -c "import pandas; {table}.to_csv('documents.csv', index_label='id')\""""


def _read(path: Path, options: CsvOptions, roles_of: Any, make_record: Any) -> Iterator[Any]:
    columns: Sequence[str] = column_names(path, options)
    if columns:
        roles = roles_of(path, columns)
        yield from converted(read_csv_rows(path, options, columns), lambda row: make_record(row, roles))


def read_topics(path: Path, options: CsvOptions) -> Iterator[Query | Malformed]:
    return _read(path, options, topic_roles, query_of)


def read_judgements(path: Path, options: CsvOptions) -> Iterator[Judgement | Malformed]:
    def roles_of(path: Path, columns: Sequence[str]) -> tuple[str, str, str]:
        grading = None if options.columns else lambda: grading_command(*separator_in(path, options))
        return judgement_roles(path, columns, grading)

    return _read(path, options, roles_of, judgement_of)


def read_runs(path: Path, options: CsvOptions) -> Iterator[Retrieved | Malformed]:
    return _read(path, options, run_roles, retrieved_of)


DOCUMENTS = Format(CsvDocumentOptions, read_documents, suffixes=(".csv",))
TOPICS = Format(CsvOptions, read_topics)
JUDGEMENTS = Format(CsvOptions, read_judgements)
RUNS = Format(CsvOptions, read_runs)
