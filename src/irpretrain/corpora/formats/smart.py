"""Files of the SMART collections (Cranfield, CACM, CISI, MED): documents and queries.

A record begins with `.I` and its identifier; a line of `.T` begins its title, `.W` its text, and other capitals other
fields. What follows a field's line up to the next one is the field.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import clean_line, clean_text, identifier_fault
from irpretrain.corpora.checked import converted, query, several_in_one
from irpretrain.corpora.files import OTHER_LINE_END, Encoding, Line, read_text
from irpretrain.corpora.records import (
    AnyDocument,
    Document,
    Malformed,
    Query,
    Share,
    Skipped,
    everything,
    is_too_large,
    most_bytes,
    most_parts,
    too_large,
)
from irpretrain.corpora.registry import Format

# Letter of the title field.
TITLE = "T"

# Begins a record or a field.
_MARK = re.compile(r"^\.(?:I(?![A-Za-z])(?P<identifier>.*)|(?P<field>[A-Z])[^\S\n]*)$", re.MULTILINE)

# What is the beginning of a record to a reader's eye, and none by the format: indented, or in a small letter.
_NEARLY = re.compile(r"^(?:[^\S\n]+\.[Ii]|\.i)[^\S\n]+\S+[^\S\n]*$", re.MULTILINE)

# The same of the fields that every record has: in a small letter, indented, or with text on the mark's line.
_NEARLY_FIELD = re.compile(r"^(?:[^\S\n]+\.[TWtw]|\.[tw]|\.[TW](?=[^\S\n]+\S))(?:[^\S\n].*)?$", re.MULTILINE)

# A mark behind a character that ends no line here.
_JOINED = re.compile(rf"{OTHER_LINE_END}\.[A-Za-z]\b")

# Letters of fields that no record has twice; others, such as that of authors, may be repeated.
_ONCE = ("T", "W")


class SmartDocumentOptions(Section):
    """Options of the format smart."""

    encoding: Encoding = option("utf-8", "Of the files.")
    body_fields: list[str] = option(["W"], "Letters of the body's fields, in this order.", min_length=1)


@dataclass
class SmartRecord:
    """One record: its identifier as written, its fields by their letters, and the line of its `.I`.

    `headings` counts the beginnings of each field; `size` and `lines` are the characters and lines of all fields,
    `near_mark` is the first line that only resembles the mark of a field.
    """

    position: int
    identifier: str
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)
    headings: Counter[str] = field(default_factory=Counter)
    size: int = 0
    lines: int = 0
    near_mark: str = ""

    def add(self, letter: str, content: str) -> None:
        """Add lines to a field, without blank ones; those of a record that is too large are counted alone."""
        self.size += len(content)
        self.lines += content.count("\n")
        self.headings["I"] += len(_NEARLY.findall(content))
        if not self.near_mark and (near := _NEARLY_FIELD.search(content)):
            self.near_mark = near[0]
        if self.size <= most_bytes() and self.lines <= most_parts():
            lines = (line for line in content.split("\n") if line.strip())
            self.fields.setdefault(letter, []).extend(lines)

    def text(self, letter: str) -> str:
        return "\n".join(self.fields.get(letter, []))


def read_documents(
    path: Path, options: SmartDocumentOptions, share: Share = everything
) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position is the number of the document in it."""
    for record in read_records(path, options.encoding):
        if share(record.position):
            yield record if isinstance(record, Malformed) else _document(record, options)


def read_records(path: Path, encoding: Encoding) -> Iterator[SmartRecord | Malformed]:
    """Yield the records of a file, of documents or of queries."""
    for record in _records(path, encoding):
        if isinstance(record, Malformed):
            yield record
        elif is_too_large(record.size, record.lines):
            yield too_large(record.position, record.line)
        elif twice := [letter for letter in ("I", *_ONCE) if record.headings[letter] > 1]:
            marks = record.headings[twice[0]]
            yield several_in_one(record.position, marks, f".{twice[0]}", record.line)
        elif record.near_mark:
            yield _stray(
                record.position, "a field's mark must stand alone on its line", record.near_mark, record.line
            )
        else:
            yield record


def _records(path: Path, encoding: Encoding) -> Iterator[SmartRecord | Malformed]:
    record: SmartRecord | None = None
    letter, position = "", 0
    for piece in read_text(path, encoding):
        if isinstance(piece, Malformed):
            yield piece
            continue
        text, at, line = piece.text, 0, piece.number
        for mark in chain(_MARK.finditer(text), [None]):
            start, end = mark.span() if mark else (len(text), len(text))
            if content := text[at:start].strip():
                first = line + text.count("\n", at, text.find(content, at))
                if _JOINED.search(content):
                    yield replace(Line(first, content).joined(), position=position)
                elif record is None:
                    yield _stray(0, "text before the first .I", content, first)
                elif letter:
                    record.add(letter, text[at:start])
                else:
                    yield _stray(position, "text outside a field", content, first)
            line += text.count("\n", at, start)
            at = end
            if mark and mark["identifier"] is not None:
                if record is not None:
                    yield record
                    position += 1
                record, letter = SmartRecord(position, mark["identifier"].strip(), line), ""
                record.headings["I"] = 1
            elif mark and record is not None:
                letter = mark["field"]
                record.headings[letter] += 1
                record.lines += 1
            elif mark:
                yield _stray(0, "text before the first .I", mark[0], line)
    if record is not None:
        yield record


def _stray(position: int, reason: str, content: str, line: int) -> Malformed:
    return Malformed(position, reason, repr(content.split("\n")[0][:40]), line)


def _document(record: SmartRecord, options: SmartDocumentOptions) -> AnyDocument:
    if fault := identifier_fault(record.identifier):
        return Malformed(record.position, "bad identifier", fault, record.line)
    title = clean_line(record.text(TITLE))
    body = clean_text("\n".join(filter(None, (record.text(letter) for letter in options.body_fields))))
    if not title and not body.strip():
        location = f"document {record.identifier}, line {record.line:,}"
        return Skipped(record.position, "empty document", location=location)
    return Document(record.position, record.identifier, title, "", body.strip())


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
    name = str(record.position + 1) if options.identifiers == "counted" else record.identifier
    text = " ".join(record.text(letter) for letter in options.fields)
    return query(name, text, record.position, record.line)


# Of a folder (cran.all.1400, MED.ALL, cacm.all), `files` of the corpus says which count.
DOCUMENTS = Format(SmartDocumentOptions, read_documents, suffixes=("",))
TOPICS = Format(SmartTopicOptions, read_topics)
