"""Format `warc`: the responses in web archives, as in ClueWeb09; perhaps only those that are no spam."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.records import Document, Malformed, Skipped, Wanted, everything
from irpretrain.corpora.warc_records import WarcRecord, read_warc
from irpretrain.corpora.web_pages import page, split_response

SUFFIXES = (".warc",)


class Options(Section):
    """Options of the format warc."""

    id_header: str = option("WARC-TREC-ID", "Header of the identifier.", min_length=1)
    longest_page: int = option(1_000_000, "Maximum size read of a page.", unit="bytes", ge=1)
    spam: str | None = option(
        None,
        "File of spam rankings, lines `percentile document` (Waterloo's for ClueWeb09); null: no filter.",
        min_length=1,
    )
    spam_percentile: int = option(
        60, "Pages with a lower percentile are dropped and counted; 99 is the least spam.", ge=0, le=99
    )


def option_files(options: Options) -> list[str]:
    """Return the files that the options name."""
    return [] if options.spam is None else [options.spam]


def read(
    path: Path, options: Options, wanted: Wanted = everything
) -> Iterator[Document | Skipped | Malformed]:
    """Yield the responses of one file; a position is the number of the record in it, whatever its type."""
    for record in read_warc(path):
        if isinstance(record, Malformed):
            if wanted(record.position):
                yield record
        elif wanted(record.number) and record.headers.get("warc-type", "").lower() == "response":
            yield _document(record, options)


def _document(record: WarcRecord, options: Options) -> Document | Skipped | Malformed:
    identifier = record.headers.get(options.id_header.lower(), "").strip()
    if fault := identifier_fault(identifier):
        detail = f"{fault} (header {options.id_header})"
        return Malformed(record.number, "bad identifier", detail, place=_place(record))
    if options.spam is not None:
        from irpretrain.corpora.spam_rankings import (
            percentile_of,
        )  # loads pyarrow, so only where it is asked for

        percentile = percentile_of(identifier, Path(options.spam))
        if percentile is None:
            detail = f"{identifier} is not in {options.spam}"
            remedy = "Get the whole file of rankings"
            return Malformed(record.number, "no spam ranking", detail, place=_place(record), remedy=remedy)
        if percentile < options.spam_percentile:
            return Skipped(record.number, "spam")
    headers, content = split_response(record.content)
    url = record.headers.get("warc-target-uri", "")
    return page(record.number, identifier, url, headers, content, options.longest_page)


def _place(record: WarcRecord) -> str:
    return f"record {record.number + 1}, byte {record.byte:,}"
