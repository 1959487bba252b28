"""Files of the SMART collections (Cranfield, CACM, CISI, MED): documents and queries.

A record begins with `.I` and its identifier; a line of `.T` begins its title, `.W` its text, and other capitals other
fields. What follows a field's line up to the next one is the field.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, document, query, several_records
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import clean_text
from irpretrain.foundation.files import OTHER_LINE_END, Encoding, read_lines
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Malformed,
    Query,
    Share,
    is_too_large,
    too_large,
)

# Letter of the title field.
TITLE = "T"

# A line that begins a record or a field.
_MARK = re.compile(r"\.(?:I(?![A-Za-z])(?P<identifier>.*)|(?P<field>[A-Z])\s*)")

# What is the beginning of a record to a reader's eye, and none by the format: indented, or in a small letter.
_NEAR_RECORD_MARK = re.compile(r"(?:\s+\.[Ii]|\.i)\s+\S+\s*")

# The same of the fields that every record has: in a small letter, indented, or with text on the mark's line.
_NEAR_FIELD_MARK = re.compile(r"(?:\s+\.[TWtw]|\.[tw]|\.[TW](?=\s+\S))(?:\s.*)?")

# A mark behind a character that ends no line here.
_JOINED = re.compile(rf"{OTHER_LINE_END}\.[A-Za-z]\b")

# Letters of fields that no record has twice with different texts; others, such as that of authors, may be repeated.
_UNIQUE_FIELDS = ("T", "W")


class SmartDocumentOptions(Section):
    """Options of the format smart."""

    encoding: Encoding = option("utf-8", "Of the files.")
    body_fields: list[str] = option(["W"], "Letters of the body's fields, in this order.", min_length=1)


@dataclass
class SmartRecord:
    """One record: its identifier as written, its fields by their letters, and the line of its `.I`.

    `headings` counts the beginnings of each field, `.I` among them; `size` and `lines` are the characters and lines of
    all fields, `near_mark` is the first line that only resembles the mark of a field.
    """

    position: int
    identifier: str
    line: int
    fields: dict[str, list[list[str]]] = field(default_factory=dict)
    headings: Counter[str] = field(default_factory=Counter)
    size: int = 0
    lines: int = 0
    near_mark: str = ""

    def begin(self, letter: str) -> None:
        """Begin a field, perhaps once more."""
        self.headings[letter] += 1
        self.lines += 1
        if not is_too_large(self.size, self.lines):
            self.fields.setdefault(letter, []).append([])

    def add(self, letter: str, line: str) -> None:
        """Add a line to a field; those of a record that is too large are counted alone."""
        self.size += len(line) + 1
        self.lines += 1
        self.headings["I"] += bool(_NEAR_RECORD_MARK.fullmatch(line))
        if _NEAR_FIELD_MARK.fullmatch(line):
            self.near_mark = self.near_mark or line
        if not is_too_large(self.size, self.lines):
            self.fields[letter][-1].append(line)

    def text(self, letter: str) -> str:
        """Return the text of a field, of one that is repeated word for word once."""
        occurrences = self.fields.get(letter, [])
        if letter in _UNIQUE_FIELDS:
            occurrences = occurrences[:1]
        return "\n".join(line for lines in occurrences for line in lines)

    def contradicted_field(self) -> str:
        """Return the letter of what the record has twice with different texts; nothing if there is none."""
        for letter in ("I", *_UNIQUE_FIELDS):
            texts = {" ".join(" ".join(lines).split()) for lines in self.fields.get(letter, [])}
            if len(texts) > 1 or (letter == "I" and self.headings["I"] > 1):
                return letter
        return ""


def read_documents(
    path: Path, options: SmartDocumentOptions, share: Share = WHOLE_FILE
) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position is the number of the document in it."""
    records = (record for record in read_records(path, options.encoding) if share(record.position))
    return converted(records, lambda record: _document(record, options))


def read_records(path: Path, encoding: Encoding) -> Iterator[SmartRecord | Malformed]:
    """Yield the records of a file, of documents or of queries."""
    for record in _records(path, encoding):
        if isinstance(record, Malformed):
            yield record
        elif is_too_large(record.size, record.lines):
            yield too_large(record.position, record.line)
        elif repeated_field := record.contradicted_field():
            yield several_records(
                record.position, record.headings[repeated_field], f".{repeated_field}", record.line
            )
        elif record.near_mark:
            yield _stray_fault(
                record.position, "a field's mark must stand alone on its line", record.near_mark, record.line
            )
        else:
            yield record


def _records(path: Path, encoding: Encoding) -> Iterator[SmartRecord | Malformed]:
    record: SmartRecord | None = None
    letter, position, is_stray = "", 0, False
    for line in read_lines(path, encoding):
        if isinstance(line, Malformed):
            yield line
        elif (mark := _MARK.fullmatch(line.text)) is None:
            if _JOINED.search(line.text):
                yield replace(line.joined(), position=position)
            elif record is not None and letter:
                record.add(letter, line.text)
            elif not is_stray:  # one fault for all lines up to the next mark
                is_stray = True
                reason = "text before the first .I" if record is None else "text outside a field"
                yield _stray_fault(position, reason, line.text, line.number)
        elif mark["identifier"] is not None:
            if record is not None:
                yield record
                position += 1
            record = SmartRecord(position, mark["identifier"].strip(), line.number)
            record.headings["I"] = 1
            letter, is_stray = "", False
        elif record is not None:
            letter = mark["field"]
            record.begin(letter)
        else:
            yield _stray_fault(0, "text before the first .I", line.text, line.number)
    if record is not None:
        yield record


def _stray_fault(position: int, reason: str, content: str, line: int) -> Malformed:
    return Malformed(position, reason, repr(content[:40]), line)


def _document(record: SmartRecord, options: SmartDocumentOptions) -> AnyDocument:
    body = clean_text("\n".join(filter(None, (record.text(letter) for letter in options.body_fields))))
    return document(record.position, record.identifier, record.text(TITLE), body.strip(), line=record.line)


class SmartTopicOptions(Section):
    """Options of the format smart."""

    encoding: Encoding = option("utf-8", "Of the file.")
    identifiers: Literal["written", "counted"] = option(
        "written",
        "written: as in `.I`. counted: 1, 2, 3, … in file order (Cranfield).",
    )
    fields: list[str] = option(["W"], "Letters of the query's fields, in this order.", min_length=1)


def read_topics(path: Path, options: SmartTopicOptions) -> Iterator[Query | Malformed]:
    return converted(read_records(path, options.encoding), lambda record: _query(record, options))


def _query(record: SmartRecord, options: SmartTopicOptions) -> Query | Malformed:
    query_id = str(record.position + 1) if options.identifiers == "counted" else record.identifier
    text = " ".join(record.text(letter) for letter in options.fields)
    return query(query_id, text, record.position, record.line)


# Of a folder (cran.all.1400, MED.ALL, cacm.all), `files` of the corpus says which count.
DOCUMENTS = Format(SmartDocumentOptions, read_documents, suffixes=("",))
TOPICS = Format(SmartTopicOptions, read_topics)
