"""Tab-separated lines: documents and topics of MS MARCO, judgements of BEIR, runs of MS MARCO."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import field_validator

from irpretrain.config.base import Section, option
from irpretrain.corpora import fields
from irpretrain.corpora.checked import converted, judgement, query, retrieved
from irpretrain.corpora.fields import (
    ColumnNames,
    DocumentFields,
    FieldNames,
    header,
    header_within_table,
    is_header,
    pick_field,
    read_rows,
    repeated_names,
    split_cells,
    synonym_fault,
)
from irpretrain.corpora.formats.json_files import IDENTIFIERS, TEXTS
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import displayed_names
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.foundation.files import FieldLine, Line, read_lines
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
    Skipped,
)


class TsvDocumentOptions(DocumentFields):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order, for files without a header; null: the first line.",
        min_length=1,
    )

    quotes: bool = option(False, 'Remove quotation marks around a cell, and read "" as ".')


NUMBERING = """awk '{print (NR > 1 ? NR - 1 : "id") "\\t" $0}' FILE > documents.tsv"""


def read_documents(
    path: Path, options: TsvDocumentOptions, share: Share = WHOLE_FILE
) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a document's position is its line number less 1."""
    columns = options.columns or header(path)
    if not columns:
        return
    numbering = None if options.columns else lambda: NUMBERING
    fields.check_columns(path, options, columns, numbering, has_header=options.columns is None)
    unread = () if options.columns else None  # who names all columns knows which are not read
    rows = read_rows(path, columns, options.columns is None, share)
    if options.quotes:
        rows = converted(rows, _without_quotes)
    yield from converted(rows, lambda row: fields.document(row, options, unread))


def _without_quotes(row: FieldLine) -> FieldLine:
    return replace(row, fields={name: _unquoted(cell) for name, cell in row.fields.items()})


def _unquoted(cell: str) -> str:
    is_quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if is_quoted else cell


class TsvTopicOptions(Section):
    """Options of the format tsv."""

    header: bool = option(False, "Skip the first line; one of known names is a header without this.")


def read_topics(path: Path, options: TsvTopicOptions) -> Iterator[Query | Malformed]:
    columns = _header_of(path, TOPIC_IDENTIFIERS, TEXTS)
    rows = read_rows(path, columns or ("id", "text"), options.header or bool(columns))
    roles = topic_roles(path, columns) if columns else ("id", "text", ())
    return converted(rows, lambda row: _query(row, roles))


def _header_of(path: Path, *names: Sequence[str], by_blanks: bool = False) -> list[str]:
    """Return the cells of the first line if each of some columns is named in it; else none."""
    first_line = next(read_lines(path), None)
    if not isinstance(first_line, Line):
        return []
    cells = [cell.strip().strip('"') for cell in split_cells(first_line, by_blanks)]
    are_known = all(pick_field(cells, None, field_names) is not None for field_names in names)
    return cells if are_known and not repeated_names(cells) else []


def _query(row: FieldLine, roles: "TopicRoles") -> Query | Malformed:
    cells = list(row.fields.values())
    if len(cells) == 2 and is_header(cells, TOPIC_IDENTIFIERS, TEXTS):
        return header_within_table(row.position, row.line)
    return query_of(row, roles)


# Which column of a table is what, by its header: for this format and for csv.


# Columns of identifier and text, and those that are not read.
TopicRoles = tuple[str, str, tuple[str, ...]]


def topic_roles(path: Path, columns: Sequence[str]) -> TopicRoles:
    """Return the columns of a table of topics; InputError where one is missing, or two mean the same."""
    identifier, text = _identifier_column(path, columns, TOPIC_IDENTIFIERS), _column(path, columns, TEXTS)
    return identifier, text, tuple(name for name in columns if name not in (identifier, text))


def query_of(row: FieldLine, roles: TopicRoles) -> Query | Malformed:
    identifier, text, unread = roles
    return query(row.fields[identifier], row.fields[text], row.position, row.line, unread)


def _column(path: Path, columns: Sequence[str], names: Sequence[str]) -> str:
    # Only some commands take options of judgements and topics, and only some formats have the option columns.
    if fault := synonym_fault(columns, None, names):
        raise InputError(path, fault, remedy="Rename one of them in the first line.")
    if (key := pick_field(columns, None, names)) is None:
        needed_columns = f"one of the columns {', '.join(names)} is needed"
        remedy = "Name it in the first line" + cli_or_api(
            ", or all columns in order in the option columns (csv, and tsv of judgements).", "."
        )
        raise InputError(path, f"{needed_columns}; the file has {displayed_names(columns)}", remedy=remedy)
    return key


def _identifier_column(path: Path, columns: Sequence[str], names: Sequence[str]) -> str:
    """Return the column of identifiers; one called query or document has texts if there is another."""
    names_of_identifiers = [name for name in names if name not in ("query", "topic", "document", "doc")]
    return _column(
        path,
        columns,
        names if pick_field(columns, None, names_of_identifiers) is None else names_of_identifiers,
    )


QUERY_IDENTIFIERS = ("query_id", "qid", "topic", "topic_id")
QUERY_COLUMNS = (*QUERY_IDENTIFIERS, "query")
DOCUMENT_COLUMNS = ("document_id", "corpus_id", "doc_id", "pid", "docno", "document", "doc")
RELEVANCE_COLUMNS = FieldNames(
    ["relevance", "relevant", "score", "rel", "label", "grade", "judgement", "judgment"], ["relevance", "rel"]
)
TOPIC_IDENTIFIERS = tuple(dict.fromkeys((*IDENTIFIERS, *QUERY_IDENTIFIERS)))


class TsvJudgementOptions(Section):
    """Options of the format tsv."""

    columns: ColumnNames | None = option(
        None,
        "Column names in order (query_id, document_id, relevance), for files without a "
        "header; null: the first line.",
        min_length=3,
    )


def read_judgements(path: Path, options: TsvJudgementOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements; blanks may separate columns in place of tabs, as no identifier holds any."""
    columns = options.columns or header(path, by_blanks=True)
    if not columns:
        return
    roles = judgement_roles(path, columns, None if options.columns else lambda: _grading(path))
    rows = read_rows(path, columns, options.columns is None, by_blanks=True)
    yield from converted(rows, lambda row: judgement_of(row, roles))


def _grading(path: Path) -> str:
    first_line = next(read_lines(path))
    return grading_command("\t" if isinstance(first_line, Line) and "\t" in first_line.text else " ")


def grading_command(separator: str, header_line: int = 1) -> str:
    """Return the command that adds a column of 1 to a table, from its header on."""
    cell = "\\t" if separator == "\t" else separator
    from_header = f"NF && NR > {header_line - 1}" if header_line > 1 else "NF"
    added_cell = f'(n++ ? "{cell}1" : "{cell}relevance")'
    return f"""awk '{{sub(/\\r$/, "")}} {from_header} {{print $0 {added_cell}}}' FILE"""


def judgement_roles(
    path: Path, columns: Sequence[str], grading: Callable[[], str] | None = None
) -> tuple[str, str, str]:
    """Return the columns of query, document and relevance; InputError where one is missing, or two mean the same.

    `grading` returns the command that adds a column of relevance, for a table with a header.
    """
    query_key, document_key = _pair_columns(path, columns)
    if grading and pick_field(columns, None, RELEVANCE_COLUMNS) is None:
        needed_columns = f"each line needs a grade, in one of the columns {', '.join(RELEVANCE_COLUMNS)}"
        remedy = f"If each document here is relevant: {grading()} adds a column of 1. Else name the column of grades."
        raise InputError(path, f"{needed_columns}; the file has {displayed_names(columns)}", remedy=remedy)
    return query_key, document_key, _column(path, columns, RELEVANCE_COLUMNS)


def _pair_columns(path: Path, columns: Sequence[str]) -> tuple[str, str]:
    return (
        _identifier_column(path, columns, QUERY_COLUMNS),
        _identifier_column(path, columns, DOCUMENT_COLUMNS),
    )


def judgement_of(row: FieldLine, roles: tuple[str, str, str]) -> Judgement | Malformed:
    query_id, document_id, relevance = (row.fields[key] for key in roles)
    return judgement(query_id, document_id, relevance.strip(), row.position, row.line)


NEEDED_COLUMNS, RANKING_COLUMNS = {"query_id", "document_id"}, {"rank", "score"}


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
        if not set(columns) >= NEEDED_COLUMNS or not set(columns) & RANKING_COLUMNS:
            raise ValueError("query_id, document_id, and rank or score must be among the columns")
        return columns


def read_runs(path: Path, options: TsvRunOptions) -> Iterator[Retrieved | Malformed]:
    """Yield the lines; blanks may separate columns in place of tabs, as no identifier holds any."""
    columns = _header_of(path, QUERY_COLUMNS, DOCUMENT_COLUMNS, (*RANKS, *SCORES), by_blanks=True)
    rows = read_rows(path, columns or options.columns, options.header or bool(columns), by_blanks=True)
    roles = run_roles(path, columns or options.columns)
    return converted(rows, lambda row: retrieved_of(row, roles))


RANKS, SCORES = ("rank",), ("score", "similarity", "sim")
# Columns of query, document, rank and score; one of the latter two may be missing.
RunRoles = tuple[str, str, str | None, str | None]


def run_roles(path: Path, columns: Sequence[str]) -> RunRoles:
    """Return the columns of a table of retrieved documents; InputError where one is missing, or two mean the same."""
    rank, score = (pick_field(columns, None, names) for names in (RANKS, SCORES))
    if rank is None and score is None:
        _column(path, columns, (*RANKS, *SCORES))
    return *_pair_columns(path, columns), rank, score


def retrieved_of(row: FieldLine, roles: RunRoles) -> Retrieved | Malformed:
    query_key, document_key, *rank_and_score_keys = roles
    rank, score = (None if name is None else row.fields[name].strip() for name in rank_and_score_keys)
    query_id, document_id = row.fields[query_key], row.fields[document_key]
    return retrieved(query_id, document_id, rank, score, row.position, row.line)


DOCUMENTS = Format(TsvDocumentOptions, read_documents, suffixes=(".tsv", ".tab"))
TOPICS = Format(TsvTopicOptions, read_topics)
JUDGEMENTS = Format(TsvJudgementOptions, read_judgements)
RUNS = Format(TsvRunOptions, read_runs)
