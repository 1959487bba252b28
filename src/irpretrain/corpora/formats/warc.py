"""Format `warc`: the responses in web archives, as in ClueWeb09, optionally without spam.

ClueWeb09's version 0.18 differs: lines end in a line feed alone, and some headers contain empty lines, because an
address ends in one. So an empty line ends the headers once the length is known.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import several_records
from irpretrain.corpora.file_lists import require_file
from irpretrain.corpora.registry import Format
from irpretrain.corpora.web_pages import BrokenChunksError, page, split_response, unpack_content
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.foundation.files import DAMAGE, GET_AGAIN, damage_text, open_bytes
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Malformed,
    Share,
    Skipped,
    max_record_bytes,
    too_large,
)

# Spam rankings of ClueWeb09 (Cormack, Smucker and Clarke, 2011): a line `percentile document` for each of 500M
# pages.
#
# Page clueweb09-en0000-00-00017 is entry 17 of its file en0000-00, so one byte per page is enough: 50 MB for
# category B, 0.5 GB for all English pages, read once per process.

_PAGE = r"^clueweb09-(?P<file>[a-z]{2}[a-z0-9]{4}-[0-9]{2})-(?P<number>[0-9]{5})$"
# More pages than a file has. What is not written takes no memory.
_PAGES_PER_FILE = 100_000


def percentile_of(document_id: str, spam_rankings: Path) -> int | None:
    """Return the percentile of a page (99 is the least spam), None if the file lacks it."""
    percentiles_plus_1 = _read_percentiles(str(require_file(spam_rankings)), spam_rankings.stat().st_ctime_ns)
    page_match = re.match(_PAGE, document_id)
    if page_match is None or page_match["file"] not in percentiles_plus_1:
        return None
    percentile_plus_1 = int(percentiles_plus_1[page_match["file"]][int(page_match["number"])])
    return percentile_plus_1 - 1 if percentile_plus_1 else None


@lru_cache(maxsize=1)
def _read_percentiles(path: str, change_time: int) -> dict[str, Any]:
    """Return, for each file of ClueWeb09, one more than the percentile of each page; 0 where there is none."""
    percentiles_plus_1: dict[str, Any] = {}
    columns = csv.ReadOptions(column_names=["percentile", "document"])
    types = csv.ConvertOptions(column_types={"percentile": pa.uint8(), "document": pa.string()})
    parse_options = csv.ParseOptions(delimiter=" ", quote_char=False)
    row = 0
    try:
        with open_bytes(path) as stream, csv.open_csv(stream, columns, parse_options, types) as reader:
            for batch in reader:
                _add_percentiles(batch, percentiles_plus_1, path, row)
                row += batch.num_rows
    except (pa.ArrowInvalid, *DAMAGE) as error:
        reason = f"line {row + 1:,} or later cannot be read: {' '.join(str(error).split())}"
        raise InputError(
            path, reason, remedy="Lines are <percentile> <document>, such as 65 clueweb09-en0000-00-00000."
        ) from None
    return percentiles_plus_1


def _add_percentiles(batch: pa.RecordBatch, percentiles_plus_1: dict[str, Any], path: str, row: int) -> None:
    percentile_column, documents = batch.columns
    is_sound = pc.fill_null(
        pc.and_(pc.match_substring_regex(documents, _PAGE), pc.less(percentile_column, 100)), False
    )
    if not pc.all(is_sound).as_py():
        first_unsound = pc.index(is_sound, False).as_py()
        line = f"{percentile_column[first_unsound].as_py()} {documents[first_unsound].as_py()}"
        raise InputError(
            path, f"{line!r} is not <percentile> <document of ClueWeb09>", row + first_unsound + 1
        )
    pages = pc.extract_regex(documents, _PAGE)
    files = pc.struct_field(pages, "file").dictionary_encode()
    page_numbers = pc.cast(pc.struct_field(pages, "number"), pa.int32()).to_numpy()
    indices, values = files.indices.to_numpy(), percentile_column.to_numpy() + np.uint8(1)
    run_borders = np.flatnonzero(np.diff(indices)) + 1
    for run_start, run_end in zip((0, *run_borders), (*run_borders, len(indices)), strict=True):
        name = files.dictionary[int(indices[run_start])].as_py()
        if name not in percentiles_plus_1:
            percentiles_plus_1[name] = np.zeros(_PAGES_PER_FILE, np.uint8)
        percentiles_plus_1[name][page_numbers[run_start:run_end]] = values[run_start:run_end]


LONGEST_LINE, MAX_HEADER_LINES = 1 << 16, 200
BREAKS_OFF = "file breaks off"
# Header that every record has; WARC-TREC-ID is that of TREC's crawls.
RECORD_ID = "WARC-Record-ID"
_VERSION = re.compile(rb"WARC/(\d\.\d{1,2})\s*$")
_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]{0,60})[ \t]*:(.*)", re.DOTALL)

# Begins a record, where it stands in the content of another.
_INNER_RECORD = re.compile(
    rb"^WARC/\d\.\d{1,2}\s*\n(?=(?:[A-Za-z-]+:[^\n]*\n){0,20}WARC-Type:)", re.MULTILINE | re.IGNORECASE
)

# Headers that no record has twice.
_UNIQUE = ("content-length", "warc-type", "warc-record-id", "warc-target-uri", "warc-trec-id", "warc-date")

# Types of records that hold no response (ISO 28500:2017, 5.5), without and with content of a page.
_WITHOUT_CONTENT = frozenset(("warcinfo", "request", "metadata", "revisit"))
_WITH_CONTENT = frozenset(("resource", "conversion", "continuation"))


@dataclass(frozen=True, slots=True)
class WarcRecord:
    position: int  # number of the record in the file, from 0
    offset: int  # byte of the unpacked file at which it begins
    headers: dict[str, str]  # by their names in small letters
    content: bytes

    @property
    def location(self) -> str:
        return _location(self.position, self.offset)

    def malformed(self, reason: str, detail: str, remedy: str = "Mend the record") -> Malformed:
        return Malformed(self.position, reason, detail, location=self.location, remedy=remedy)


@dataclass
class _Reader:
    stream: IO[bytes]
    offset: int = 0
    unread_line: bytes = b""  # a line that is read once more

    def line(self) -> bytes:
        line, self.unread_line = self.unread_line or self.stream.readline(LONGEST_LINE), b""
        self.offset += len(line)
        return line

    def unread(self, line: bytes) -> None:
        self.offset -= len(line)
        self.unread_line = line

    def bytes(self, byte_count: int) -> bytes:
        content = self.stream.read(byte_count)
        self.offset += len(content)
        return content

    def skip(self, byte_count: int) -> bool:
        """Read past so many bytes, with bounded memory; return whether they are there."""
        while byte_count and (content := self.bytes(min(byte_count, 1 << 20))):
            byte_count -= len(content)
        return not byte_count


def read_warc(path: Path) -> Iterator[WarcRecord | Malformed]:
    """Yield the records of one file, plain or compressed (whole or per record).

    Reading continues at the next record after a fault; a file that breaks off, or is no WARC, ends. A record's content
    is as long as its Content-Length says, whatever stands in it (ISO 28500). Where another text than WARC/<version>
    follows the content, that length is wrong, and content with a record in it is malformed.
    """
    with open_bytes(path) as stream:
        reader, position = _Reader(stream), 0
        record: WarcRecord | Malformed | None = None
        try:
            for position in count():
                start_offset = reader.offset
                version_offset, stray_text = _next_version(reader, position == 0)
                if record is not None:
                    yield _without_inner_record(record) if stray_text else record
                    record = None
                if stray_text:
                    reason = "text between records" if position else "no WARC"
                    detail = (
                        f"{stray_text[:40].decode('utf-8', 'replace')!r} stands where WARC/<version> should"
                    )
                    yield _malformed(position, start_offset, reason, detail)
                elif version_offset is None and position == 0:
                    yield _malformed(0, 0, "no WARC", "the file is empty")
                if version_offset is None:
                    return
                record = _record(reader, position, version_offset)
                if isinstance(record, Malformed) and record.reason == BREAKS_OFF:
                    yield record
                    return
        except DAMAGE as error:
            if record is not None:
                yield record
            detail = damage_text(path, error)
            yield _malformed(position, reader.offset, "damaged archive", detail)


def _next_version(reader: _Reader, at_beginning: bool) -> tuple[int | None, bytes]:
    """The first byte after the next record's first line, None if there is none; and the first text before it.

    At the beginning of a file such text ends the search: it is no WARC.
    """
    stray_text = b""
    while line := reader.line():
        if _VERSION.match(line):
            return reader.offset - len(line), stray_text
        stray_text = stray_text or line.strip()
        if stray_text and at_beginning:
            break
    return None, stray_text


def _record(reader: _Reader, position: int, offset: int) -> WarcRecord | Malformed:
    headers: dict[str, str] = {}
    in_response = False  # without a length: headers of HTTP follow, with a Content-Length of theirs
    for _ in range(MAX_HEADER_LINES):
        line = reader.line()
        if not line:
            return _malformed(position, offset, BREAKS_OFF, "in the headers of a record")
        if _VERSION.match(line):
            reader.unread(line)
            break
        if not line.strip():
            if "content-length" in headers:
                break
            continue
        in_response |= line.startswith(b"HTTP/")
        if not in_response and (header_match := _HEADER.match(line)):
            name = header_match[1].decode("ascii").lower()
            if name in headers and name.startswith(_UNIQUE):
                return _malformed(
                    position,
                    offset,
                    "several records in one",
                    f"1 record, but 2 × {header_match[1].decode()}",
                )
            headers[name] = header_match[2].decode("utf-8", "replace").strip()
    length = headers.get("content-length", "")
    if not re.fullmatch("[0-9]{1,12}", length):
        return _malformed(position, offset, "no length", f"the record's Content-Length is {length[:40]!r}")
    if int(length) > max_record_bytes():
        fault = too_large(position, location=_location(position, offset))
        return fault if reader.skip(int(length)) else replace(fault, loses_more=True)
    content = reader.bytes(int(length))
    if len(content) < int(length):
        detail = f"{len(content):,} of {int(length):,} bytes of a record are there"
        return _malformed(position, offset, BREAKS_OFF, detail)
    return WarcRecord(position, offset, headers, content)


def _without_inner_record(record: WarcRecord | Malformed) -> WarcRecord | Malformed:
    """Return a record of a wrong length; one that holds another record is malformed."""
    if isinstance(record, WarcRecord) and (inner_count := len(_INNER_RECORD.findall(record.content))):
        return several_records(record.position, inner_count + 1, "WARC/<version>", location=record.location)
    return record


def _malformed(position: int, offset: int, reason: str, detail: str) -> Malformed:
    location = _location(position, offset)
    ends_file = reason in (BREAKS_OFF, "no WARC", "damaged archive")
    return Malformed(position, reason, detail, location=location, remedy=GET_AGAIN, loses_more=ends_file)


class WarcDocumentOptions(Section):
    """Options of the format warc."""

    id_header: str = option("WARC-TREC-ID", "Header of the identifier.", min_length=1)
    spam: str | None = option(
        None,
        "File of spam rankings, lines `percentile document` (Waterloo's for ClueWeb09); null: no filter.",
        min_length=1,
    )
    spam_percentile: int = option(
        60, "Pages with a lower percentile are dropped and counted; 99 is the least spam.", ge=0, le=99
    )


def read(path: Path, options: WarcDocumentOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the responses of one file; a position is the number of the record in it, whatever its type."""
    for record in read_warc(path):
        if share(record.position):
            yield from [record] if isinstance(record, Malformed) else _responses(record, options)


def _responses(record: WarcRecord, options: WarcDocumentOptions) -> Iterator[AnyDocument]:
    """Yield the response, or why there is none; nothing of a record that belongs to a response."""
    record_type = record.headers.get("warc-type", "").lower()
    if record_type in _WITH_CONTENT:
        yield Skipped(
            record.position, f"{record_type} record, which is no response", location=record.location
        )
    elif record_type == "response":
        yield _document(record, options)
    elif record_type not in _WITHOUT_CONTENT:
        yield record.malformed("no type", f"the record's WARC-Type is {record_type[:40]!r}")


def _document(record: WarcRecord, options: WarcDocumentOptions) -> AnyDocument:
    identifier = record.headers.get(options.id_header.lower(), "").strip()
    if fault := identifier_fault(identifier):
        detail = f"{fault} (header {options.id_header})"
        return record.malformed("bad identifier", detail, _other_header(record, options))
    if options.spam is not None:
        percentile = percentile_of(identifier, Path(options.spam))
        if percentile is None:
            detail = f"{identifier} is not in {options.spam}"
            return record.malformed("no spam ranking", detail, "Get the whole file of rankings")
        if percentile < options.spam_percentile:
            return Skipped(record.position, "spam")
    headers, content = split_response(record.content)
    url = record.headers.get("warc-target-uri", "")
    try:
        text = unpack_content(headers, content, "warc-truncated" in record.headers)
    except (zlib.error, BrokenChunksError) as error:
        return record.malformed("damaged content", f"{identifier}: {error}")
    if isinstance(text, str):
        return Skipped(record.position, "content encoding is not read", f"{identifier}: {text}")
    return page(record.position, identifier, url, headers, text)


def _other_header(record: WarcRecord, options: WarcDocumentOptions) -> str:
    """Return how to name the header that every record has, where the one of identifiers is missing."""
    if options.id_header.lower() in record.headers or RECORD_ID.lower() not in record.headers:
        return "Mend the record"
    return cli_or_api(
        f"Take another header: id_header: {RECORD_ID} in the options, id_header={RECORD_ID!r} in Python",
        f"Take another header: --option id_header={RECORD_ID}",
    )


def _location(position: int, offset: int) -> str:
    return f"record {position + 1}, byte {offset:,}"


DOCUMENTS = Format(
    WarcDocumentOptions,
    read,
    suffixes=(".warc",),
    option_files=lambda options: [] if options.spam is None else [options.spam],
)
