"""Tables without a word on their columns: what the first lines of a file say of its header, separator and columns."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from irpretrain.corpora.fields import BODIES, IDENTIFIERS, pick_field
from irpretrain.corpora.formats.json_files import TEXTS
from irpretrain.corpora.formats.tsv import (
    DOCUMENT_COLUMNS,
    QUERY_COLUMNS,
    RANKS,
    RELEVANCE_COLUMNS,
    SCORES,
    TOPIC_IDENTIFIERS,
)
from irpretrain.corpora.quoted_rows import separator_line, separator_of, split_beginning, split_row
from irpretrain.corpora.registry import Kind
from irpretrain.foundation.characters import NUMBER, WHOLE_NUMBER, identifier_fault

# Kind → names of the columns that its tables need.
NEEDED: Mapping[Kind, Sequence[Sequence[str]]] = {
    "documents": (IDENTIFIERS, BODIES),
    "topics": (TOPIC_IDENTIFIERS, TEXTS),
    "judgements": (QUERY_COLUMNS, DOCUMENT_COLUMNS, RELEVANCE_COLUMNS),
    "runs": (QUERY_COLUMNS, DOCUMENT_COLUMNS, (*RANKS, *SCORES)),
}
# Words from which on a cell is a text and no name of a column.
WORDS_OF_TEXT = 4
_CSV = re.compile(r"\.csv(\.\w+)?$", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t]+")


def guess_table(
    kind: Kind, file: str, beginning: str, format: str | None
) -> tuple[str, dict[str, Any]] | None:
    """Return format and options of a table, by its beginning; None where it is no table, or needs no options.

    Args:
        file: its name, which may end in .csv.
        beginning: its first lines, the last one perhaps cut off.
        format: what the beginning is the sign of: trec (lines of columns), tsv, or None.
    """
    named_separator, beginning = separator_line(beginning)
    separator = named_separator or ("\t" if format == "tsv" else separator_of(beginning.partition("\n")[0]))
    rows = split_beginning(beginning, separator)
    is_table = bool(rows) and len(rows[0]) > 1
    has_header = is_table and _is_header(kind, rows[0])
    is_named_csv = bool(named_separator or _CSV.search(file))
    # The reader says what is missing.
    first_cells = rows[0] if is_table else _blank_cells(beginning)
    if kind == "judgements" and not has_header and _is_header(kind, first_cells, 2):
        return ("tsv" if separator == "\t" or not is_table else "csv"), {}
    if kind == "judgements" and rows and _are_ungraded(rows):
        return None
    if format == "trec" and has_header:  # whose names hold blanks
        return ("tsv" if separator == "\t" else "csv"), {}
    # Only spreadsheets write a line that names the separator, and cells may hold blanks.
    if named_separator or (format == "trec" and is_named_csv and is_table and separator != "\t"):
        format = None
    if kind == "runs" and format is not None:
        return _run_table(beginning)
    if format == "trec":
        return ("tsv", {}) if _is_header(kind, _blank_cells(beginning)) else None
    if not is_table:
        return None
    if format == "tsv":
        if _needs_quotes(beginning, rows):
            return "csv", {} if has_header else _column_options(kind, rows)
        options = {} if has_header or kind != "documents" else _column_options(kind, rows)
        return ("tsv", options) if options else None
    if has_header:
        return "csv", {}
    options = _column_options(kind, rows) if is_named_csv or kind in ("judgements", "runs") else {}
    # The reader names the columns that it finds, and the options for them.
    return ("csv", options) if options or is_named_csv else None


def json_command(kind: Kind, beginning: str) -> str:
    """Return the command that writes JSON judgements or runs as TREC's columns; empty for other JSON.

    It converts an object or a list for each judgement or retrieved document, or a list of documents for each query.
    """
    is_run = kind == "runs"
    if re.match(r'\s*\{\s*"[^"]*"\s*:\s*\[\s*["\d]', beginning):
        documents = ".value | to_entries[]" if is_run else ".value[]"
        line = r"\($q) Q0 \(.value) \(.key + 1) \(-.key) run" if is_run else r"\($q) 0 \(.) 1"
        return f"""jq -r 'to_entries[] | .key as $q | {documents} | "{line}"' FILE"""
    start = re.match(r"\s*(\[)?\s*(?=[\[{])", beginning)
    if start is None:
        return ""
    try:
        record, _ = json.JSONDecoder().raw_decode(beginning, start.end())
    except (ValueError, RecursionError):
        return ""
    paths, is_rank = _object_paths(kind, record) if isinstance(record, dict) else _list_paths(kind, record)
    if not paths:
        return ""
    query, document, value = (rf"\({path})" if path else "1" for path in paths)
    columns = f"{query} 0 {document} {value}"
    if is_run:
        columns = f"{query} Q0 {document} " + (
            rf"{value} \(-{paths[2]}) run" if is_rank else f"0 {value} run"
        )
    return f"""jq -r '{".[] | " if start[1] else ""}"{columns}"' FILE"""


def _object_paths(kind: Kind, record: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return jq's paths of query, document and value (empty: none) in an object, and whether the value is a rank."""
    names = [pick_field(record, None, column_names) for column_names in NEEDED[kind]]
    if None in names[: 2 if kind == "judgements" else 3]:
        return [], False
    return [f'."{name}"' if name else "" for name in names], names[2] in RANKS


def _list_paths(kind: Kind, row: Sequence[Any]) -> tuple[list[str], bool]:
    """Like `_object_paths`, of a list: query, document and value; TREC's four columns; or query and document."""
    is_run, length = kind == "runs", len(row)
    if not all(isinstance(value, str | int | float) for value in row):
        return [], False
    if length == 2 and not is_run:
        return [".[0]", ".[1]", ""], False
    if length not in ((3,) if is_run else (3, 4)) or not _is_number(str(row[-1])):
        return [], False
    return [".[0]", f".[{length - 2}]", f".[{length - 1}]"], isinstance(row[2], int)


def _is_header(kind: Kind, cells: Sequence[str], columns: int | None = None) -> bool:
    """Whether cells name all columns that a table needs, or the first so many of them."""
    names = [cell.strip() for cell in cells]
    return all(pick_field(names, None, synonyms) is not None for synonyms in NEEDED[kind][:columns])


def ungraded_command(beginning: str) -> str:
    """Return the command that writes pairs of query and document as TREC's columns, each with the grade 1; empty where
    the lines of the beginning are no pairs."""
    lines = [line.rstrip("\r") for line in beginning.split("\n")[:3] if line.strip()]
    separator = next((sign for sign in "\t,;|" if lines and sign in lines[0]), " ")
    rows = [line.split() if separator == " " else split_row(line, separator) for line in lines]
    if beginning.lstrip()[:1] in ("[", "{") or not _are_ungraded(rows):
        return ""
    option = "" if separator == " " else r"-F'\t' " if separator == "\t" else f"-F'{separator}' "
    marks = "".join(sign for sign in '\r"' if sign in beginning).replace("\r", r"\r")
    without_marks = f"""{{gsub(/[{marks}]/, "")}} """ if marks else ""
    return f"awk {option}'{without_marks}NF > 1 {{print $1, 0, $2, 1}}' FILE"


def _are_ungraded(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are pairs of query and document. Without a digit, the first may be a header."""
    has_digit = bool(rows) and any(map(str.isdigit, "".join(rows[0])))
    return has_digit and all(len(row) == 2 and all(row) for row in rows)


def _blank_cells(beginning: str) -> list[str]:
    return _BLANKS.split(beginning.partition("\n")[0].strip())


def header_separator(kind: Kind, first_line: str) -> str:
    """Return the sign, which no table is read by, that separates the two columns which a header names; else nothing."""
    separators = dict.fromkeys([*re.sub(r"[\w ,;|\t\\/^\]'\"-]", "", first_line), " "])
    is_header = (
        (sign, len(cells := first_line.split(sign)) == 2 and _is_header(kind, cells)) for sign in separators
    )
    return next((sign for sign, fits in is_header if fits), "")


def _needs_quotes(beginning: str, rows: Sequence[Sequence[str]]) -> bool:
    """Whether lines have too few cells where rows of quoted cells have as many as the first."""
    if '"' not in beginning or len(rows) < 2:
        return False
    lines = beginning.split("\n")[:-1]
    column_count = len(rows[0])
    are_whole = all(len(row) == column_count for row in rows)
    return are_whole and any(line.strip() and line.count("\t") + 1 < column_count for line in lines)


def _column_options(kind: Kind, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the columns of a table without a header, where its cells leave no doubt; else nothing."""
    first_row = rows[0]
    if identifier_fault(first_row[0].strip()):
        return {}
    if kind in ("documents", "topics"):
        is_record = any(map(str.isdigit, first_row[0])) or len(first_row[-1].split()) >= WORDS_OF_TEXT
        if kind == "documents" and len(first_row) == 4 and first_row[1].startswith(("http://", "https://")):
            return {"columns": ["id", "url", "title", "body"]}  # MS MARCO's documents
        return {"columns": ["id", "text"]} if len(first_row) == 2 and is_record else {}
    if kind == "judgements" and len(first_row) in (3, 4) and _is_number(first_row[-1]):
        iteration = ["iteration"] if len(first_row) == 4 else []
        return {"columns": ["query_id", *iteration, "document_id", "relevance"]}
    if kind == "runs" and len(first_row) == 3 and all(_is_number(row[-1]) for row in rows):
        return {"columns": ["query_id", "document_id", _rank_or_score(row[-1] for row in rows)]}
    return {}


def _run_table(beginning: str) -> tuple[str, dict[str, Any]] | None:
    """Return how a run of three or four columns is read: query, document, rank or score, or both."""
    lines = beginning.split("\n")
    whole_lines = [
        line for line in lines[: -1 if len(lines) > 1 else 1] if line.strip() and not line.startswith("#")
    ]
    rows = [line.split("\t") if "\t" in line else _BLANKS.split(line.strip()) for line in whole_lines]
    if not rows or len(rows[0]) not in (3, 4):
        return None
    if _is_header("runs", rows[0]):
        return "tsv", {}
    rows = [row for row in rows if len(row) == len(rows[0])]
    if not all(_is_number(cell) for row in rows for cell in row[2:]):
        return None
    if len(rows[0]) == 4:
        return "tsv", {"columns": ["query_id", "document_id", "rank", "score"]}
    placing = _rank_or_score(row[2] for row in rows)
    return "tsv", {} if placing == "rank" else {"columns": ["query_id", "document_id", "score"]}


def _is_number(cell: str) -> bool:
    """Whether a cell is a number; one with a decimal comma is, too: its reader says what to do."""
    return bool(NUMBER.fullmatch(cell.strip().replace(",", ".")))


def _rank_or_score(cells: Any) -> str:
    return "rank" if all(WHOLE_NUMBER.fullmatch(cell.strip()) for cell in cells) else "score"
