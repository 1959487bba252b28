"""Records of named fields: tab-separated rows, JSON objects, table rows."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.corpora import checked
from irpretrain.foundation.characters import displayed_names, identifier_fault
from irpretrain.foundation.errors import InputError, cli_or_api, instead_of
from irpretrain.foundation.files import FieldLine, Line, read_lines, split_columns, split_fields
from irpretrain.foundation.records import AnyDocument, Document, Malformed, Share, everything

# Tab-separated rows with named columns: shared by documents, topics and judgements.


# Type of an option that names the columns of a file in order.
ColumnNames = Annotated[list[str], LISTED_ONCE]


def repeated_names(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, in linear time: a header may hold hundreds of thousands."""
    return [name for name, number in Counter(names).items() if number > 1]


def header(path: Path, by_blanks: bool = False) -> list[str]:
    """Return the column names in the first line of a file, none for an empty file; `by_blanks` as in `read_rows`."""
    for entry in read_lines(path):
        line = entry.joined() if isinstance(entry, Line) and "\r" in entry.text.strip() else entry
        if isinstance(line, Malformed):
            raise InputError(path, f"the header cannot be read: {line}", line.line, f"{line.remedy}.")
        names = [name.strip() for name in split_cells(line, by_blanks)]
        if len(set(names)) < len(names):
            repeated_columns = repeated_names(names)
            raise InputError(
                path, f"the header names a column twice: {displayed_names(repeated_columns)}", line.number
            )
        return names
    return []


QUOTED = "If quotation marks hold a cell that goes on in the next line, the format csv reads it; else mend the record"


def read_rows(
    path: Path,
    columns: Sequence[str],
    has_header: bool,
    share: Share = everything,
    by_blanks: bool = False,  # whether blanks separate the cells of lines without a tab
) -> Iterator[FieldLine | Malformed]:
    """Yield the rows of a share (positions: line number less 1). Cells are taken as they are: no quotes, no escapes."""
    header_line = next(read_lines(path), None) if has_header else None
    headings = split_cells(header_line, by_blanks) if isinstance(header_line, Line) else columns
    names = list(map(_name, headings))
    for line in read_lines(path, share=share):
        if header_line is not None and line.position <= header_line.position:
            continue
        if isinstance(line, Malformed):
            yield line
            continue
        cells = split_cells(line, by_blanks, len(columns))  # of too many, the last holds tabs
        if all(_name(cell) == name for cell, name in zip(cells, names, strict=False)):
            yield no_record(line.position, line.number)
        elif len(cells) != len(columns):
            cell_count = len(cells) if len(cells) < len(columns) else line.text.count("\t") + 1
            fault = line.wrong_columns(f"{cell_count:,} instead of {len(columns)}")
            yield (
                replace(fault, remedy=QUOTED) if line.text.count('"') % 2 and "\r" not in line.text else fault
            )
        else:
            yield FieldLine(line.position, line.number, dict(zip(columns, cells, strict=True)))


def split_cells(line: Line, by_blanks: bool = False, max_cells: int = -1) -> list[str]:
    """Return the cells of a line that tabs separate; at most `max_cells` + 1."""
    if by_blanks and "\t" not in line.text:
        return split_columns(line.text)
    return split_fields(line.text, "\t") if max_cells < 0 else line.text.split("\t", max_cells)


def no_record(position: int, line: int) -> Malformed:
    """Return the fault of a header where a record should stand."""
    remedy = "Delete the line"
    if position == 0:
        remedy += (
            ", or say that the first line is a header: header=true for topics and runs, "
            "no columns for other tables"
        )
    detail = "line 1 looks like one" if position == 0 else "files that were joined each have one"
    return Malformed(position, "header within the table", detail, line, remedy=remedy)


def is_header(cells: Sequence[str], *names: Collection[str]) -> bool:
    """Whether each cell is one of the names that its column may have."""
    return all(_name(cell) in column for cell, column in zip(cells, names, strict=True))


def _name(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()


# Documents from records of named fields (JSON objects, table rows): which field is what, and what is refused.


IDENTIFIERS = ("id", "_id", "docid", "doc_id", "document_id", "docno")
TITLES = ("title",)
URLS = ("url",)
BODIES = ("text", "body", "contents", "content")
_SEPARATORS = re.compile("[ _-]+")
NAME_FIELD = "Name the one to read in the options"


class DocumentFields(Section):
    id_field: str | None = option(
        None, f"Identifier; null: the first field present of {', '.join(IDENTIFIERS)}."
    )
    title_field: str | None = option(None, "Title; null: title, if present.")
    url_field: str | None = option(None, "Address; null: url, if present.")
    body_fields: list[str] | None = option(
        None,
        f"Texts, joined by newlines; null: the first field present of {', '.join(BODIES)}.",
        min_length=1,
    )


def document(
    record: Mapping[str, Any], names: DocumentFields, position: int, line: int | None = None
) -> AnyDocument:
    """Return the document that `record` describes; one without title and body is skipped as empty."""

    def malformed(reason: str, detail: str) -> Malformed:
        return Malformed(position, reason, detail, line)

    roles = _roles_of(tuple(record), names)
    if roles.fault:
        return Malformed(position, "two fields for one", roles.fault, line, remedy=NAME_FIELD)
    key = roles.identifier
    if key is None:
        return malformed("no identifier", _lacks(names.id_field, IDENTIFIERS, record))
    identifier = as_identifier(record[key])
    if identifier is None:
        return malformed(
            "bad identifier", f"field {key} must be a text or a whole number, not {_kind(record[key])}"
        )
    if fault := identifier_fault(identifier):
        return malformed("bad identifier", fault)
    body_fields, title_key, url_key = roles.body, roles.title, roles.url
    missing_fields = [name for name in body_fields if name not in record]
    if missing_fields or not body_fields:
        return malformed("no text", _lacks(missing_fields[0] if missing_fields else None, BODIES, record))
    for name in (title_key, url_key, *body_fields):
        if name is not None and not isinstance(record[name], str | None):
            return malformed("field is not text", f"field {name} is {_kind(record[name])}")
    title, url = ((record[key] or "") if key else "" for key in (title_key, url_key))
    body = "\n".join(text for name in body_fields if (text := record[name]))
    checked_document = checked.document(position, identifier, title, body, url, line)
    return (
        replace(checked_document, unread=roles.unread)
        if roles.unread and isinstance(checked_document, Document)
        else checked_document
    )


class _Roles(NamedTuple):
    """Which field of a record is what."""

    identifier: str | None
    title: str | None
    url: str | None
    body: tuple[str, ...]  # the named ones, or the first default there is
    unread: tuple[str, ...]  # in the order of the record
    fault: str  # that two fields mean the same, or nothing


# Records of more fields are not remembered: one may take megabytes.
MOST_KNOWN_FIELDS = 1000


# Records of one file have the same fields.
@lru_cache(maxsize=256)
def _roles(
    record: tuple[str, ...],
    id_field: str | None,
    title_field: str | None,
    url_field: str | None,
    bodies: tuple[str, ...] | None,
) -> _Roles:
    faults = (same_meaning(record, id_field, IDENTIFIERS), same_meaning(record, bodies, BODIES))
    identifier = pick(record, id_field, IDENTIFIERS)
    title, url = pick(record, title_field, TITLES), pick(record, url_field, URLS)
    if bodies is None:
        bodies = tuple(filter(None, [pick(record, None, BODIES)]))
    fields_read = {identifier, title, url, *bodies}
    unread_fields = tuple(name for name in record if name not in fields_read)
    return _Roles(identifier, title, url, bodies, unread_fields, next(filter(None, faults), ""))


def _roles_of(record: tuple[str, ...], names: DocumentFields) -> _Roles:
    bodies = None if names.body_fields is None else tuple(names.body_fields)
    find = _roles if len(record) < MOST_KNOWN_FIELDS else _roles.__wrapped__
    return find(record, names.id_field, names.title_field, names.url_field, bodies)


def read_fields(record: Sequence[str], names: DocumentFields) -> list[str]:
    """Return which fields of a record a document is made of."""
    roles = _roles_of(tuple(record), names)
    return [name for name in record if name not in roles.unread]


def check_columns(path: Path, names: DocumentFields, columns: Sequence[str], header: bool = False) -> None:
    """Raise InputError where a table lacks a column that the options name, or one that every document needs.

    `header`: whether the columns are those of the first line, which may be a record.
    """
    configured_names = [names.id_field, names.title_field, names.url_field, *(names.body_fields or [])]
    column_texts = [
        displayed_names([name]) for name in columns
    ]  # a file's own names may hold what no terminal can show
    if repeated_columns := repeated_names(columns):
        raise InputError(path, f"there are two columns called {displayed_names(repeated_columns[:1])}")
    for name in configured_names:
        if name is not None and name not in columns:
            raise InputError(path, f"there is no column {name}; {instead_of(name, column_texts)}")
    for configured, defaults in ((names.id_field, IDENTIFIERS), (names.body_fields, BODIES)):
        remedy = cli_or_api(
            "Name the column in the corpus's options (id_field, body_fields).",
            "Name the columns: --option id_field=NAME --option 'body_fields=[NAME]'.",
        )
        if fault := same_meaning(columns, configured, defaults):
            raise InputError(path, fault, remedy=remedy)
        if configured is None and pick(columns, None, defaults) is None:
            if header:
                named_in_order = cli_or_api("options: {columns: [id, text]}", "--option 'columns=[id, text]'")
                remedy = f"If its first line is no header: {named_in_order}. Else: {remedy}"
            raise InputError(path, _lacks(None, defaults, column_texts), remedy=remedy)


def pick(record: Collection[str], configured_name: str | None, defaults: Sequence[str]) -> str | None:
    """Return the named field where the record has it; without a name, the first default it has; else None.

    Neither capitals nor blanks, hyphens and underscores count in defaults: a spreadsheet has "Query ID".
    """
    if configured_name is not None:
        return configured_name if configured_name in record else None
    return next(iter(_defaults_in(record, defaults)), None)


def same_meaning(record: Collection[str], configured_name: object, defaults: Sequence[str]) -> str | None:
    """Return the fault of a record with several of the default fields, of which no option names one; else None."""
    default_names = _defaults_in(record, defaults) if configured_name is None else []
    return f"{default_names[0]!r} and {default_names[1]!r} mean the same" if len(default_names) > 1 else None


def _defaults_in(record: Collection[str], defaults: Sequence[str]) -> list[str]:
    """Return the fields of a record that are defaults but for capitals and separators, in the order of the defaults."""
    exact = [name for name in defaults if name in record]
    longest_default = max(map(len, defaults))
    similar_names = {
        _plain(name): name for name in record if len(name) <= longest_default and name not in defaults
    }
    names_found = exact + [
        similar_names[_plain(name)]
        for name in defaults
        if name not in exact and _plain(name) in similar_names
    ]
    return list(dict.fromkeys(names_found))


def _plain(name: str) -> str:
    return _SEPARATORS.sub("_", name.lower())


def as_identifier(value: Any) -> str | None:
    """Return a text or a whole number as an identifier, anything else as None."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # Python refuses to print integers of thousands of digits
            return None
    return None


def _lacks(configured_name: str | None, defaults: Sequence[str], record: Collection[str]) -> str:
    fault = (
        f"field {configured_name} is missing"
        if configured_name
        else f"none of the fields {', '.join(defaults)} is there"
    )
    existing_fields = displayed_names(sorted(map(str, record))) or "no fields"
    return f"{fault}; there are {existing_fields}"


def _kind(value: Any) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
