"""Records of named fields: tab-separated rows, JSON objects, table rows."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.corpora import checked
from irpretrain.foundation.characters import displayed_names, identifier_fault
from irpretrain.foundation.errors import InputError, cli_or_api, instead_of
from irpretrain.foundation.files import FieldLine, Line, read_lines, split_columns, split_fields
from irpretrain.foundation.records import MEND_RECORD, WHOLE_FILE, AnyDocument, Malformed, Share

# Tab-separated rows with named columns: shared by documents, topics and judgements.


# Type of an option that names the columns of a file in order.
ColumnNames = Annotated[list[str], LISTED_ONCE]


def repeated_names(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, in linear time: a header may hold hundreds of thousands."""
    return [name for name, count in Counter(names).items() if count > 1]


def refuse_repeated(path: Path, names: Sequence[str], line: int | None = None) -> None:
    """Raise InputError where two columns of a table have one name."""
    if repeated_columns := repeated_names(names):
        raise InputError(path, f"the header names a column twice: {displayed_names(repeated_columns)}", line)


def header(path: Path, by_blanks: bool = False) -> list[str]:
    """Return the column names in the first line of a file, none for an empty file; `by_blanks` as in `read_rows`."""
    for entry in read_lines(path):
        line = entry.joined() if isinstance(entry, Line) and "\r" in entry.text.strip() else entry
        if isinstance(line, Malformed):
            raise InputError(path, f"the header cannot be read: {line}", line.line, f"{line.remedy}.")
        names = [name.strip() for name in split_cells(line, by_blanks)]
        refuse_repeated(path, names, line.number)
        return names
    return []


QUOTED_CELL = (
    "If quotation marks hold a cell that goes on in the next line, the format csv reads it; "
    "else mend the record"
)


def read_rows(
    path: Path,
    columns: Sequence[str],
    has_header: bool,
    share: Share = WHOLE_FILE,
    by_blanks: bool = False,  # whether blanks separate the cells of lines without a tab
) -> Iterator[FieldLine | Malformed]:
    """Yield the rows of a share (positions: line number less 1). Cells are taken as they are: no quotes, no escapes."""
    header_line = next(read_lines(path), None) if has_header else None
    column_names = split_cells(header_line, by_blanks) if isinstance(header_line, Line) else columns
    normal_names = list(map(_normal_cell, column_names))
    for line in read_lines(path, share=share):
        if header_line is not None and line.position <= header_line.position:
            continue
        if isinstance(line, Malformed):
            yield line
            continue
        cells = split_cells(line, by_blanks, len(columns))  # of too many, the last holds tabs
        if all(_normal_cell(cell) == name for cell, name in zip(cells, normal_names, strict=False)):
            yield header_within_table(line.position, line.number)
        elif len(cells) != len(columns):
            cell_count = len(cells) if len(cells) < len(columns) else line.text.count("\t") + 1
            fault = line.wrong_columns(f"{cell_count:,} instead of {len(columns)}")
            yield (
                replace(fault, remedy=QUOTED_CELL)
                if line.text.count('"') % 2 and "\r" not in line.text
                else fault
            )
        else:
            yield FieldLine(line.position, line.number, dict(zip(columns, cells, strict=True)))


def split_cells(line: Line, by_blanks: bool = False, max_splits: int = -1) -> list[str]:
    """Return the cells of a line, which at most `max_splits` tabs separate, or, without tabs, any number of blanks."""
    if by_blanks and "\t" not in line.text:
        return split_columns(line.text)
    return split_fields(line.text, "\t") if max_splits < 0 else line.text.split("\t", max_splits)


def header_within_table(position: int, line: int | None) -> Malformed:
    """Return the fault of a header where a record should stand."""
    remedy = "Delete the line"
    if position == 0:
        remedy += (
            ", or say that the first line is a header: header=true for topics and runs, "
            "no columns for other tables"
        )
    detail = "line 1 looks like one" if position == 0 else "files that were joined each have one"
    return Malformed(position, "header within the table", detail, line, remedy=remedy)


def is_header(cells: Sequence[str], *names: Sequence[str]) -> bool:
    """Whether each cell is one of the names that its column may have."""
    return all(_defaults_in([_normal_cell(cell)], column) for cell, column in zip(cells, names, strict=True))


def _normal_cell(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()


# Documents from records of named fields (JSON objects, table rows): which field is what, and what is refused.


class FieldNames(tuple[str, ...]):
    """Names that a field may have; a longer one, such as "Doc Text", counts where no field has one of these.

    It is weaker: a record with both fields would else have two for one.
    """

    longer_names: tuple[str, ...]

    def __new__(cls, names: Sequence[str], owners: Sequence[str] = ()) -> Self:
        field_names = super().__new__(cls, names)
        field_names.longer_names = tuple(f"{owner}_{name}" for name in names for owner in owners)
        return field_names


IDENTIFIERS = ("id", "_id", "docid", "doc_id", "document_id", "docno")
_DOCUMENT_NOUNS = ("document", "doc", "passage")
TITLES = FieldNames(["title"], _DOCUMENT_NOUNS)
URLS = FieldNames(["url"], _DOCUMENT_NOUNS)
BODIES = FieldNames(["text", "body", "contents", "content"], _DOCUMENT_NOUNS)
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
    row: FieldLine,
    options: DocumentFields,
    unread: tuple[str, ...] | None = None,  # fields of its table that are not read; None: those of the record
) -> AnyDocument:
    """Return the document that a record describes; one without title and body is skipped as empty."""
    record = row.fields
    roles = _roles_of(tuple(record), options)
    if roles.fault:
        return row.malformed("two fields for one", roles.fault, NAME_FIELD)
    id_key = roles.identifier
    if id_key is None:
        fault = row.malformed("no identifier", missing_fault(options.id_field, IDENTIFIERS, record))
        return fault if options.id_field else checked.without_identifier(fault, record)
    identifier = as_identifier(record[id_key])
    if identifier is None:
        id_type = _type_text(record[id_key])
        return row.malformed(
            "bad identifier", f"field {id_key} must be a text or a whole number, not {id_type}"
        )
    if identifier_problem := identifier_fault(identifier):
        return row.malformed("bad identifier", identifier_problem)
    body_fields, title_key, url_key = roles.body, roles.title, roles.url
    missing_fields = [name for name in body_fields if name not in record]
    if missing_fields or not body_fields:
        first_missing = next(iter(missing_fields), None)
        fault = row.malformed("no text", missing_fault(first_missing, BODIES, record))
        return checked.without_text(fault, record)
    for name in (title_key, url_key, *body_fields):
        if name is not None and not isinstance(record[name], str | None):
            fault_text = f"field {name} is {_type_text(record[name])}"
            return row.malformed("field is not text", fault_text, _joining(name, record[name]))
    title, url = ((record[key] or "") if key else "" for key in (title_key, url_key))
    body = "\n".join(text for name in body_fields if (text := record[name]))
    unread_fields = roles.unread if unread is None else unread
    return checked.document(row.position, identifier, title, body, url, row.line, unread_fields)


def _joining(name: str, value: Any) -> str:
    """Return the command that joins the parts of a field: texts, or objects that each hold a text."""
    match value:
        case [{**first_part}, *_]:
            if text_key := next((key for key in first_part if key in BODIES), None):
                texts = f'[.[]?."{text_key}"? | strings]'
                return f"""Join its parts: jq -c '."{name}" |= ({texts} | join(" "))' FILE"""
        case [*_]:
            return f"""Join its parts: jq -c '."{name}" |= join(" ")' FILE"""
    return MEND_RECORD


class _FieldRoles(NamedTuple):
    """Which field of a record is what."""

    identifier: str | None
    title: str | None
    url: str | None
    body: tuple[str, ...]  # the named ones, or the first default there is
    unread: tuple[str, ...]  # in the order of the record
    fault: str  # that two fields mean the same, or nothing


# Records of more fields are not remembered: one may take megabytes.
MAX_CACHED_FIELDS = 1000


# Records of one file have the same fields.
@lru_cache(maxsize=256)
def _assign_roles(
    fields: tuple[str, ...],
    id_field: str | None,
    title_field: str | None,
    url_field: str | None,
    body_fields: tuple[str, ...] | None,
) -> _FieldRoles:
    faults = (synonym_fault(fields, id_field, IDENTIFIERS), synonym_fault(fields, body_fields, BODIES))
    identifier = pick_field(fields, id_field, IDENTIFIERS)
    title, url = pick_field(fields, title_field, TITLES), pick_field(fields, url_field, URLS)
    if body_fields is None:
        body_fields = tuple(filter(None, [pick_field(fields, None, BODIES)]))
    fields_read = {identifier, title, url, *body_fields}
    unread_fields = tuple(name for name in fields if name not in fields_read)
    return _FieldRoles(identifier, title, url, body_fields, unread_fields, next(filter(None, faults), ""))


def _roles_of(fields: tuple[str, ...], options: DocumentFields) -> _FieldRoles:
    body_fields = None if options.body_fields is None else tuple(options.body_fields)
    assign = _assign_roles if len(fields) < MAX_CACHED_FIELDS else _assign_roles.__wrapped__
    return assign(fields, options.id_field, options.title_field, options.url_field, body_fields)


def read_fields(fields: Sequence[str], options: DocumentFields) -> list[str]:
    """Return which fields of a record a document is made of."""
    roles = _roles_of(tuple(fields), options)
    return [name for name in fields if name not in roles.unread]


def check_columns(
    path: Path,
    options: DocumentFields,
    columns: Sequence[str],
    numbering: Callable[[], str] | None,
    has_header: bool = False,
) -> None:
    """Raise InputError where a table lacks a column that the options name, or one that every document needs.

    Args:
        numbering: returns the command that numbers the rows, for a table without identifiers whose columns have names.
        has_header: whether the columns are those of the first line, which may be a record.
    """
    # A file's own names may hold what no terminal can show.
    column_texts = [displayed_names([name]) for name in columns]
    refuse_repeated(path, columns)
    for name in (options.id_field, options.title_field, options.url_field, *(options.body_fields or ())):
        if name is not None and name not in columns:
            raise InputError(path, f"there is no column {name}; {instead_of(name, column_texts)}")
    remedy = cli_or_api(
        "Name the column in the corpus's options (id_field, body_fields).",
        "Name the columns: --option id_field=NAME --option 'body_fields=[NAME]'.",
    )
    roles = _roles_of(tuple(columns), options)
    if roles.fault:
        raise InputError(path, roles.fault, remedy=remedy)
    for is_there, defaults in ((roles.identifier is not None, IDENTIFIERS), (bool(roles.body), BODIES)):
        if is_there:
            continue
        if has_header:
            named_in_order = cli_or_api("options: {columns: [id, text]}", "--option 'columns=[id, text]'")
            remedy = f"If its first line is no header: {named_in_order}. Else: {remedy}"
        if numbering and defaults is IDENTIFIERS:
            remedy += f" If no column has identifiers, number the rows: {numbering()}"
        raise InputError(path, missing_fault(None, defaults, column_texts), remedy=remedy)


def pick_field(fields: Collection[str], configured_name: str | None, defaults: Sequence[str]) -> str | None:
    """Return the named field where the record has it; without a name, the first default it has; else None.

    Neither capitals nor blanks, hyphens and underscores count in defaults: spreadsheets have "Query ID" or "QueryID".
    "Doc Text" is a text where no field is called so alone.
    """
    if configured_name is not None:
        return configured_name if configured_name in fields else None
    return next(iter(_defaults_in(fields, defaults)), None)


def synonym_fault(fields: Collection[str], configured_name: object, defaults: Sequence[str]) -> str | None:
    """Return the fault of a record with several of the default fields, of which no option names one; else None."""
    default_names = _defaults_in(fields, defaults) if configured_name is None else []
    return f"{default_names[0]!r} and {default_names[1]!r} mean the same" if len(default_names) > 1 else None


def _defaults_in(fields: Collection[str], defaults: Sequence[str]) -> list[str]:
    """Return the fields of a record that are defaults but for capitals and separators, in the order of the defaults."""
    longer_names = defaults.longer_names if isinstance(defaults, FieldNames) else ()
    return _matches(fields, defaults) or (_matches(fields, longer_names) if longer_names else [])


def _matches(fields: Collection[str], defaults: Sequence[str]) -> list[str]:
    exact_matches = [name for name in defaults if name in fields]
    longest_default = max(map(len, defaults))
    similar_fields: dict[str, list[str]] = {}
    for name in fields:
        if len(name) <= longest_default and name not in exact_matches:
            similar_fields.setdefault(_normal_name(name), []).append(name)
    for name in exact_matches:  # a field that is called so is meant, not one that is called nearly so
        similar_fields.pop(_normal_name(name), None)
    similar_matches = (field for name in defaults for field in similar_fields.get(_normal_name(name), ()))
    matches = list(dict.fromkeys([*exact_matches, *similar_matches]))
    # PyTerrier's docid is a document's number in its index, where its docno is the identifier.
    return [name for name in matches if name != "docid" or "docno" not in matches]


@lru_cache(maxsize=4096)
def _normal_name(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())


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


def missing_fault(configured_name: str | None, defaults: Sequence[str], fields: Collection[str]) -> str:
    fault = (
        f"field {configured_name} is missing"
        if configured_name
        else f"none of the fields {', '.join(defaults)} is there"
    )
    existing_fields = displayed_names(sorted(map(str, fields))) or "no fields"
    return f"{fault}; there are {existing_fields}"


def _type_text(value: Any) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
