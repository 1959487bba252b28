"""Records from their parts, with the checks that all formats share, and files of JSON."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from irpretrain.config.base import Section
from irpretrain.foundation.atomic import parse_json
from irpretrain.foundation.characters import NUMBER, clean_line, clean_text, identifier_fault
from irpretrain.foundation.files import DAMAGE, FieldLine, Line, damage_text, open_bytes, read_lines
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Document,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
    Skipped,
    is_too_large,
    max_record_bytes,
    max_record_parts,
    too_large,
)

Entry = TypeVar("Entry")
Record = TypeVar("Record")

# Time and memory of trec_eval grow with the highest grade: a grade of nine digits would end no more.
_RELEVANCE = re.compile(r"[+-]?0*[0-9]{1,4}(?:\.0{0,9})?")
WHOLE_GRADES = (
    "Write 0 for documents that are not relevant, 1 or more for relevant ones (for 0, 0.5, 1 write 0, 1, 2)"
)
FINITE_SCORES = "Write scores as decimals between -1.7e308 and 1.7e308"
DECIMAL_POINT = "Write decimals with a point (3.5, not 3,5)"
_RANK = re.compile(r"[0-9]{1,9}")


class NoOptions(Section):
    """The format has no options."""


def converted(
    entries: Iterable[Entry | Malformed], convert: Callable[[Entry], Record]
) -> Iterator[Record | Malformed]:
    """Yield each entry converted; a malformed one passes as it is."""
    for entry in entries:
        yield entry if isinstance(entry, Malformed) else convert(entry)


def record_or_comment(line: Line, record: Record) -> Record | Skipped:
    """Return the record of a line; a line that begins with `#` and is no sound record is a skipped comment."""
    # `# ` always begins a comment, so that no line of a header (such as ir_metadata's) is read as data.
    is_comment = line.text.startswith("#") and (
        isinstance(record, Malformed) or line.text.split(None, 1)[0] == "#"
    )
    return Skipped(line.position, "comment", location=f"line {line.number}") if is_comment else record


def several_records(
    position: int, mark_count: int, mark: str, line: int | None = None, location: str = ""
) -> Malformed:
    """Return the fault of a record that holds a mark more than once, which each record of its format has once."""
    detail = f"1 record, but {mark_count:,} × {mark}"
    return Malformed(position, "several records in one", detail, line, location)


def document(
    position: int,
    identifier: str,
    title: str,
    body: str,
    url: str = "",
    line: int | None = None,
    unread: tuple[str, ...] = (),  # names of the fields of its record that are not read
) -> AnyDocument:
    """Return the document; one with a bad identifier is malformed, one without title and body is skipped as empty."""
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    if _is_too_long_a_line(title):
        return too_large(position, line)
    title, body = clean_line(title), clean_text(body)
    if not title and not body.strip():
        line_text = f", line {line:,}" if line else ""
        location = f"document {identifier}{line_text}"
        return Skipped(position, "empty document", location=location, document_id=identifier)
    return Document(position, identifier, title, clean_line(url), body, unread=unread)


def query(
    identifier: str, text: str, position: int, line: int | None = None, unread: tuple[str, ...] = ()
) -> Query | Malformed:
    """Return the query, its text on one line; an identifier with white space or an empty text is malformed."""
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    if _is_too_long_a_line(text):
        return too_large(position, line)
    cleaned = clean_line(text)
    if not cleaned:
        return Malformed(position, "empty query", f"query {identifier} has no text", line)
    return Query(position, identifier, cleaned, line, unread)


def _is_too_long_a_line(text: str) -> bool:
    """Whether a title or a query has more words than a record may have parts."""
    return text.count(" ") + text.count("\n") > max_record_parts()


def judgement(
    query_id: str, document_id: str, relevance: str, position: int, line: int | None = None
) -> Judgement | Malformed:
    """Return the judgement; relevance must be a whole number, which may end in .0."""
    if fault := identifier_fault(query_id) or identifier_fault(document_id):
        return Malformed(position, "bad identifier", fault, line)
    if not _RELEVANCE.fullmatch(relevance):
        detail = f"{relevance[:40]!r}; a number up to 9999 is needed"
        has_comma = _RELEVANCE.fullmatch(relevance.replace(",", "."))
        remedy = "Write whole numbers (2, not 2,0)" if has_comma else WHOLE_GRADES
        return Malformed(position, "relevance is not a whole number", detail, line, remedy=remedy)
    return Judgement(position, query_id, document_id, int(relevance.partition(".")[0]), line)


def retrieved(
    query_id: str, document_id: str, rank: str | None, score: str | None, position: int, line: int | None
) -> Retrieved | Malformed:
    """Return a line of a run; a rank is a whole number of 0 or more, a score a finite number in decimals."""
    if fault := identifier_fault(query_id) or identifier_fault(document_id):
        return Malformed(position, "bad identifier", fault, line)
    if rank is not None and not _RANK.fullmatch(rank):
        return Malformed(position, "rank is not a whole number", repr(rank[:40]), line)
    if score is not None and not (NUMBER.fullmatch(score) and math.isfinite(float(score))):
        has_comma = "," in score and NUMBER.fullmatch(score.replace(",", "."))
        remedy = DECIMAL_POINT if has_comma else FINITE_SCORES
        return Malformed(position, "score is not a finite number", repr(score[:40]), line, remedy=remedy)
    rank_number, score_number = None if rank is None else int(rank), None if score is None else float(score)
    return Retrieved(position, query_id, document_id, rank_number, score_number, line)


# Files that are one JSON value, or one JSON object a line: shared by formats of all kinds.


# What writes a JSON value as one object per line.
OF_LIST = "jq -c '.[]' FILE writes its objects, one per line"
OF_LONG_OBJECT = "jq -c . FILE writes objects of several lines, one per line"

# Numbers and short texts that take as much memory as one list or object.
VALUES_PER_PART = 8

# A file that is one JSON value, held in memory as a whole, may be as large as so many of the largest records.
RECORDS_PER_FILE = 4


def read_json(path: Path) -> Any | Malformed:
    """Return the value of a file, or why it is none; then all records of the file are lost."""
    try:
        with open_bytes(path) as stream:
            content = stream.read(RECORDS_PER_FILE * max_record_bytes() + 1)
            part_count = content.count(b"[") + content.count(b"{") + content.count(b",") // VALUES_PER_PART
            if is_too_large(len(content) // RECORDS_PER_FILE, part_count // RECORDS_PER_FILE):
                return too_large(0, loses_more=True)
            return parse_json(content)
    except DAMAGE as error:
        return Malformed(0, "damaged archive", damage_text(path, error), loses_more=True)
    except RecursionError:
        return Malformed(0, "not valid JSON", "nested too deeply", loses_more=True)
    except json.JSONDecodeError as error:
        return Malformed(0, "not valid JSON", error.msg, error.lineno, loses_more=True)
    except ValueError as error:
        return Malformed(0, "not valid JSON", str(error), loses_more=True)


def are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def read_objects(path: Path, share: Share = WHOLE_FILE) -> Iterator[FieldLine | Malformed]:
    """Yield the objects of a share's lines; a position is a line's number less 1."""
    return converted(read_lines(path, share=share), parse_object)


def parse_object(line: Line) -> FieldLine | Malformed:
    """Return the object of a line, or why it holds none."""
    text = line.text
    if text.count("[") + text.count("{") + text.count(",") // VALUES_PER_PART > max_record_parts():
        return too_large(line.position, line.number)
    try:
        fields = parse_json(line.text)
    except RecursionError:
        return line.malformed("not valid JSON", "nested too deeply")
    except ValueError as error:
        if line.text.lstrip()[:1] == "[":
            return _list(line)
        fault = line.malformed("not valid JSON", str(error))
        is_first_brace = line.number == 1 and line.text.strip() == "{"
        return replace(fault, remedy=OF_LONG_OBJECT) if is_first_brace else fault
    if isinstance(fields, list):
        return _list(line)
    if not isinstance(fields, dict):
        return line.malformed("not a JSON object", line.text[:40])
    return FieldLine(line.position, line.number, fields)


def without_identifier(fault: Malformed, record: Mapping[str, Any]) -> Malformed:
    """Return the fault of a record that has no identifier; one in the first line may hold all records of the file."""
    if fault.line != 1 or not record:
        return fault
    if command := _command_of_server(record):
        return replace(fault, remedy=f"Write its documents line by line: {command}", of_file=True)
    if all(isinstance(value, dict) for value in record.values()):
        remedy = "Write its records line by line: jq -c 'to_entries[] | {id: .key} + .value' FILE"
        return replace(fault, remedy=remedy, of_file=True)
    remedy = "Name the field of identifiers with the option id_field, or mend the record"
    if all(isinstance(value, str) for value in record.values()):
        by_name = "jq -c 'to_entries[] | {id: .key, text: .value}' FILE"
        remedy = f"{remedy}. If names of fields are identifiers: {by_name}"
    numbering = "jq -nc 'foreach inputs as $record (0; . + 1; {id: .} + $record)' FILE"
    remedy = f"{remedy}. If no field has identifiers, number the records: {numbering}"
    return replace(fault, remedy=remedy)


def without_text(fault: Malformed, record: Mapping[str, Any]) -> Malformed:
    """Return the fault of a record that has an identifier and no text; a search server's has it one level deeper."""
    command = _command_of_server(record) if fault.line == 1 else ""
    return replace(fault, remedy=f"Write its documents: {command}", of_file=True) if command else fault


def _command_of_server(record: Mapping[str, Any]) -> str:
    """Return the command that writes documents of a search server's file, by its first object; "" for others."""
    match record:
        case {"index": {"_id": _}} | {
            "create": {"_id": _}
        }:  # Elasticsearch's bulk requests: two lines a document
            return "jq -c '(.index // .create)._id as $id | input | {id: $id} + .' FILE"
        case {"hits": {"hits": [*_]}}:
            return "jq -c '.hits.hits[] | {id: ._id} + ._source' FILE"
        case {"_id": _, "_source": {}}:
            return "jq -c '{id: ._id} + ._source' FILE"
        case {"response": {"docs": [*_]}}:  # Solr's
            return "jq -c '.response.docs[]' FILE"
    return ""


def _list(line: Line) -> Malformed:
    fault = line.malformed("a JSON list", "one object per line is read")
    return replace(fault, remedy=OF_LIST, of_file=True) if line.number == 1 else fault
