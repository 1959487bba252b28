"""Format `smart`: files of the SMART collections (Cranfield, CACM, CISI, MED).

A record begins with `.I` and its identifier; a line of `.T` begins its title, `.W` its text, and other capitals other
fields. What follows a field's line up to the next one is the field.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import clean_line, clean_text, identifier_fault
from irpretrain.corpora.files import Encoding, read_lines
from irpretrain.corpora.records import AnyDocument, Document, Malformed, Share, Skipped, everything

SUFFIXES = ("",)  # cran.all.1400, MED.ALL, cacm.all: `files` of the corpus says which of a folder's count
TITLE = "T"
"""Letter of the title field."""
_RECORD = re.compile(r"\.I\s+(.*)")
_FIELD = re.compile(r"\.([A-Z])\s*")


class Options(Section):
    """Options of the format smart."""

    encoding: Encoding = option("utf-8", "Of the files.")
    body_fields: list[str] = option(["W"], "Letters of the body's fields, in this order.", min_length=1)


@dataclass
class SmartRecord:
    """One record: its identifier as written, its fields by their letters, and the line of its `.I`."""

    position: int
    identifier: str
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)

    def text(self, letter: str) -> str:
        """Return a field; an empty text where the record lacks it."""
        return "\n".join(self.fields.get(letter, []))


def read(path: Path, options: Options, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position is the number of the document in it."""
    for record in read_records(path, options.encoding):
        if share(record.position):
            yield record if isinstance(record, Malformed) else _document(record, options)


def read_records(path: Path, encoding: Encoding) -> Iterator[SmartRecord | Malformed]:
    """Yield the records of a file, of documents or of queries."""
    record: SmartRecord | None = None
    letter, position = "", 0
    for line in read_lines(path, encoding=encoding):
        if isinstance(line, Malformed):
            yield line
        elif opening := _RECORD.fullmatch(line.text.rstrip()):
            if record is not None:
                yield record
                position += 1
            record, letter = SmartRecord(position, opening[1].strip(), line.number), ""
        elif record is None:
            yield Malformed(
                0, "text before the first .I", repr(line.text[:40]), line.number, remedy="Remove such lines"
            )
        elif heading := _FIELD.fullmatch(line.text):
            letter = heading[1]
        elif letter:
            record.fields.setdefault(letter, []).append(line.text)
        else:
            detail = repr(line.text[:40])
            yield Malformed(position, "text outside a field", detail, line.number, remedy="Mend the record")
    if record is not None:
        yield record


def _document(record: SmartRecord, options: Options) -> AnyDocument:
    if fault := identifier_fault(record.identifier):
        return Malformed(record.position, "bad identifier", fault, record.line)
    title = clean_line(record.text(TITLE))
    body = clean_text("\n".join(filter(None, (record.text(letter) for letter in options.body_fields))))
    if not title and not body.strip():
        place = f"document {record.identifier}, line {record.line:,}"
        return Skipped(record.position, "empty document", place=place)
    return Document(record.position, record.identifier, title, "", body.strip())
