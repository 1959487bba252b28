"""Tab-separated lines: documents and topics of MS MARCO, judgements of BEIR, runs of MS MARCO."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import field_validator

from irpretrain.config.base import Section, option
from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted, judgement, query, retrieved
from irpretrain.corpora.fields import (
    ColumnNames,
    DocumentFields,
    header,
    is_header,
    no_record,
    pick,
    read_rows,
    same_meaning,
)
from irpretrain.corpora.formats.json_files import IDENTIFIERS, TEXTS
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import displayed_names
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import FieldLine
from irpretrain.foundation.records import (
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
    Skipped,
    everything,
)


class TsvDocumentOptions(DocumentFields):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order, for files without a header; null: the first line.",
        min_length=1,
    )

    quotes: bool = option(False, 'Remove quotation marks around a cell, and read "" as ".')


def read_documents(
    path: Path, options: TsvDocumentOptions, share: Share = everything
) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    columns = options.columns or header(path)
    if not columns:
        return
    fields.check_columns(path, options, columns, header=options.columns is None)
    rows = read_rows(path, columns, options.columns is None, share)
    yield from converted(rows, lambda row: _document(row, options))


def _document(row: FieldLine, options: TsvDocumentOptions) -> AnyDocument:
    cells = {key: _unquoted(text) for key, text in row.fields.items()} if options.quotes else row.fields
    return fields.document(cells, options, row.position, row.line)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if quoted else cell


class TsvTopicOptions(Section):
    """Options of the format tsv."""

    header: bool = option(False, "Skip the first line.")


def read_topics(path: Path, options: TsvTopicOptions) -> Iterator[Query | Malformed]:
    return converted(read_rows(path, ("id", "text"), options.header), _query)


def _query(row: FieldLine) -> Query | Malformed:
    identifier, text = row.fields.values()
    if is_header((identifier, text), (*IDENTIFIERS, *QUERY_COLUMNS), TEXTS):
        return no_record(row.position, row.line)
    return query(identifier, text, row.position, row.line)


QUERY_COLUMNS = ("query_id", "query-id", "qid", "topic")
DOCUMENT_COLUMNS = ("document_id", "corpus-id", "corpus_id", "docid", "doc_id", "pid")
RELEVANCE_COLUMNS = ("relevance", "score", "rel", "label")


class TsvJudgementOptions(Section):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order (query_id, document_id, relevance), for files without a "
        "header; null: the first line.",
        min_length=3,
    )


def read_judgements(path: Path, options: TsvJudgementOptions) -> Iterator[Judgement | Skipped | Malformed]:
    columns = options.columns or header(path)
    if not columns:
        return
    keys = list[str]()
    for names in (QUERY_COLUMNS, DOCUMENT_COLUMNS, RELEVANCE_COLUMNS):
        if fault := same_meaning(columns, None, names):
            raise InputError(path, fault, remedy="Name the columns in the options, in order: columns.")
        if (key := pick(columns, None, names)) is None:
            needed = f"one of the columns {', '.join(names)} is needed"
            raise InputError(path, f"{needed}; the file has {displayed_names(columns)}")
        keys.append(key)
    yield from converted(
        read_rows(path, columns, options.columns is None), lambda row: _judgement(row, *keys)
    )


def _judgement(
    row: FieldLine, query_key: str, document_key: str, relevance_key: str
) -> Judgement | Malformed:
    query_id, document_id, relevance = (row.fields[key] for key in (query_key, document_key, relevance_key))
    return judgement(query_id, document_id, relevance.strip(), row.position, row.line)


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


def read_runs(path: Path, options: TsvRunOptions) -> Iterator[Retrieved | Malformed]:
    return converted(read_rows(path, options.columns, options.header), _retrieved)


def _retrieved(row: FieldLine) -> Retrieved | Malformed:
    cells = row.fields
    rank, score = (cells[name].strip() if name in cells else None for name in ("rank", "score"))
    return retrieved(cells["query_id"], cells["document_id"], rank, score, row.position, row.line)


DOCUMENTS = Format(TsvDocumentOptions, read_documents, suffixes=(".tsv", ".tab"))
TOPICS = Format(TsvTopicOptions, read_topics)
JUDGEMENTS = Format(TsvJudgementOptions, read_judgements)
RUNS = Format(TsvRunOptions, read_runs)
