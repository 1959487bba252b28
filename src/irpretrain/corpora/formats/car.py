"""TREC CAR (Dietz et al., 2017): paragraphs of Wikipedia as documents, its outlines as topics, both in CBOR.

A file is a header `["CAR", [type], provenance]` and a list of unknown length, or, in old releases, the items alone. A
paragraph is `[0, id, [body, ...]]`, a body a text `[0, text]` or a link `[1, [_, page, [section], target, anchor]]`. A
page of an outline is `[tag, name, id, [part, ...], ...]`, a section among its parts `[0, heading, id, [part, ...]]`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import cbor2

from irpretrain.corpora.checked import NoOptions, document, query
from irpretrain.corpora.registry import Format
from irpretrain.foundation.files import DAMAGE, GET_AGAIN, damage_text, open_bytes
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Malformed,
    Query,
    Share,
    Skipped,
    is_too_large,
    too_large,
)

DEEPEST = 100
BREAK = b"\xff"
OPEN_LIST = b"\x9f"
KINDS = {0: "articles", 1: "outlines", 2: "paragraphs"}
BROKEN, NO_FILE = "broken CBOR", "no CAR file"


class CarError(Exception):
    """Why a file cannot be read further: reason, detail, location if it is a part of the file, and what to do."""

    def __init__(self, reason: str, detail: str, location: str = "", remedy: str = GET_AGAIN) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail, self.location, self.remedy = reason, detail, location, remedy


class CborTooLargeError(Exception):
    """An item over the bounds of a record."""


class CborReader:
    """Reads items of a CBOR stream (RFC 8949) by cbor2, with bounds on depth and size; `offset` is how far it read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.offset = 0
        self._stream, self._ahead = stream, b""
        self._decoder = cbor2.CBORDecoder(cast(Any, self), max_depth=DEEPEST)

    def item(self) -> Any:
        """Return the next item.

        Raises:
            CarError, CborTooLargeError: the item cannot be read; the start of the next one is then unknown.
        """
        self.peek()
        try:
            return self._decoder.decode()
        except cbor2.CBORDecodeEOF:
            raise CarError(BROKEN, "the file breaks off") from None
        except (cbor2.CBORDecodeError, RecursionError, TypeError) as error:
            # Raised by the stream, within a text or bytes.
            if isinstance(error.__cause__, (*DAMAGE, CborTooLargeError)):
                raise error.__cause__ from None
            raise CarError(BROKEN, str(error)) from None

    def peek(self) -> bytes:
        """Return the byte with which the next item begins; nothing at the end."""
        self._start, self._reads = self.offset, 0
        self._ahead = self._ahead or self._stream.read(1)
        return self._ahead

    def read(self, byte_count: int) -> bytes:
        """Return the next bytes of the stream, which is what cbor2 asks for."""
        self._reads += 1  # at least one for each list, text or number in the item
        if is_too_large(self.offset + byte_count - self._start, self._reads):
            raise CborTooLargeError
        content, self._ahead = self._ahead, b""
        content += self._stream.read(byte_count - len(content))
        self.offset += len(content)
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        """cbor2 then reads no further than the item."""
        return False


def read_items(path: Path, content_kind: int) -> Iterator[tuple[int, Any] | Malformed]:
    """Yield the items of a file with their numbers, from 0; a fault ends it, as the start of the next item is unknown.

    `content_kind` is a key of `KINDS`: what the header must name, if there is a header.
    """
    item_number = 0
    with open_bytes(path) as stream:
        reader = CborReader(stream)
        try:
            for item in _items(reader, content_kind):
                yield item_number, item
                item_number += 1
            return
        except CborTooLargeError:
            yield too_large(item_number, location=_location(item_number, reader.offset), loses_more=True)
            return
        except CarError as error:
            fault = error
        except DAMAGE as error:
            fault = CarError("damaged archive", damage_text(path, error))
        location = fault.location or _location(item_number, reader.offset)
        yield Malformed(
            item_number, fault.reason, fault.detail, None, location, fault.remedy, loses_more=True
        )


def _items(reader: CborReader, content_kind: int) -> Iterator[Any]:
    if not reader.peek():
        raise CarError(NO_FILE, "the file is empty", "its beginning")
    first_item = reader.item()
    has_header = isinstance(first_item, list) and first_item[:1] == ["CAR"]
    if has_header:
        match first_item:
            case [_, [int() as header_kind, *_], *_]:
                contents = KINDS.get(header_kind, "something else")
            case _:
                contents = "something else"
        if contents != KINDS[content_kind]:
            remedy = f"Give the file of {KINDS[content_kind]}"
            raise CarError("another CAR file", f"it holds {contents}", "its header", remedy)
        if reader.read(1) != OPEN_LIST:
            raise CarError(NO_FILE, "no list follows the header", "its header")
    else:
        yield first_item
    while reader.peek() not in (b"", BREAK):
        yield reader.item()
    if has_header and reader.read(1) != BREAK:
        raise CarError(BROKEN, "the file breaks off")
    if reader.peek():
        raise CarError(BROKEN, "there is more behind its end")


def _location(item_number: int, offset: int) -> str:
    return f"item {item_number + 1}, byte {offset:,}"


def _identifier(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


PARAGRAPHS = 2


def read_documents(path: Path, options: NoOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the paragraphs of one file; a position is the number of the paragraph in it."""
    for item in read_items(path, PARAGRAPHS):
        if isinstance(item, Malformed):
            if share(item.position):
                yield item
        elif share(item[0]):
            yield _document(*item)


def _document(position: int, item: Any) -> AnyDocument:
    match item:
        case [0, (bytes() | str()) as name, list() as bodies] if (text := _text(bodies)) is not None:
            return document(position, _identifier(name), "", text)
    return Malformed(position, "no paragraph", repr(item)[:60])


def _text(bodies: list[Any]) -> str | None:
    """Return the text of a paragraph's bodies: texts, and the anchors of links; None if one is neither."""
    texts = list[str]()
    for body in bodies:
        match body:
            case [0, str() as text] | [1, [_, _, _, _, str() as text, *_]]:
                texts.append(text)
            case _:
                return None
    return "".join(texts)


OUTLINES = 1

# Tags of the parts of a page beside sections: paragraph, picture, list.
OTHER_PARTS = (1, 2, 3)


def read_topics(path: Path, options: NoOptions) -> Iterator[Query | Skipped | Malformed]:
    """Yield the sections in the order of the file; a position is the number of the section in it."""
    position = 0
    for item in read_items(path, OUTLINES):
        if isinstance(item, Malformed):
            yield replace(item, position=position)
            return
        page_number, page = item
        location = f"page {page_number + 1}"
        match page:
            case [_, str() as title, (bytes() | str()) as name, list() as page_parts, *_]:
                for section in _sections(page_parts, [_identifier(name)], [title]):
                    if section is None:
                        yield Malformed(position, "no section", "a part has no heading", location=location)
                    else:
                        section_ids, headings = section
                        yield query("/".join(section_ids), " ".join(headings), position)
                    position += 1
            case _:
                yield Malformed(position, "no outline", repr(page)[:60], location=location)
                position += 1


def _sections(
    page_parts: list[Any], path: list[str], headings: list[str]
) -> Iterator[tuple[list[str], list[str]] | None]:
    """Yield the identifiers and the headings on the way to every section, in the order of the text; None for a part
    that is nothing that a page has."""
    for page_part in page_parts:
        match page_part:
            case [int() as tag, *_] if tag in OTHER_PARTS and tag is not True:
                continue
            case [int() as tag, str() as heading, (bytes() | str()) as name, list() as inner_parts, *_] if (
                tag == 0 and tag is not False
            ):
                path_and_headings = [*path, _identifier(name)], [*headings, heading]
                yield path_and_headings
                yield from _sections(inner_parts, *path_and_headings)
            case _:
                yield None


DOCUMENTS = Format(NoOptions, read_documents, suffixes=(".cbor",))
TOPICS = Format(NoOptions, read_topics)
