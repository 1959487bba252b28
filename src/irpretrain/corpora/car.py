"""TREC CAR (Dietz et al., 2017): paragraphs of Wikipedia as documents, its outlines as topics, both in CBOR.

A file is a header `["CAR", [type], provenance]` and a list of unknown length, or, in old releases, the items alone. A
paragraph is `[0, id, [body, ...]]`, a body a text `[0, text]` or a link `[1, [_, page, [section], target, anchor]]`. A
page of an outline is `[tag, name, id, [part, ...], ...]`, a section among its parts `[0, heading, id, [part, ...]]`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import cbor2

from irpretrain.corpora.files import DAMAGE, GET_AGAIN, damage_text, open_bytes
from irpretrain.corpora.records import Malformed, is_too_large, too_large

DEEPEST = 100
BREAK = b"\xff"
OPEN_LIST = b"\x9f"
KINDS = {0: "articles", 1: "outlines", 2: "paragraphs"}


class CborError(Exception):
    """What cannot be read; `byte` is how far the stream was read."""

    def __init__(self, reason: str, byte: int) -> None:
        super().__init__(reason)
        self.byte = byte


class CborTooLarge(CborError):
    """An item over the bounds of a record."""


class CborReader:
    """Reads items of a CBOR stream (RFC 8949) by cbor2, with bounds on depth and size; `byte` is how far it read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.byte = 0
        self._stream, self._start, self._reads, self._ahead = stream, 0, 0, b""
        self._decoder = cbor2.CBORDecoder(cast(Any, self), max_depth=DEEPEST)

    def has_ended(self) -> bool:
        return not self._peek()

    def item(self) -> Any:
        """Return the next item; EOFError at the end.

        Raises:
            CborError: the item cannot be read; the start of the next one is then unknown.
        """
        self._start, self._reads = self.byte, 0
        if self.has_ended():
            raise EOFError
        try:
            return self._decoder.decode()
        except cbor2.CBORDecodeEOF:
            raise CborError("the file breaks off", self.byte) from None
        except (cbor2.CBORDecodeError, RecursionError, TypeError) as error:
            raise CborError(str(error), self.byte) from None

    def open_list(self) -> bool:
        """Read the beginning of a list of unknown length; return whether one begins here."""
        return self.read(1) == OPEN_LIST

    def items(self) -> Iterator[Any]:
        """Yield the items up to the break that ends a list of unknown length, or to the end of the stream."""
        while self._peek() not in (b"", BREAK):
            yield self.item()

    def close_list(self) -> None:
        """Read the break that ends a list of unknown length; CborError without it, or if bytes follow."""
        self._start = self.byte
        if self.read(1) != BREAK:
            raise CborError("the file breaks off", self.byte)
        if not self.has_ended():
            raise CborError("there is more behind its end", self.byte)

    def _peek(self) -> bytes:
        self._ahead = self._ahead or self._stream.read(1)
        return self._ahead

    def read(self, number: int) -> bytes:
        """Return the next bytes of the stream, which is what cbor2 asks for."""
        self._reads += 1  # at least one for each list, text or number in the item
        if is_too_large(self.byte + number - self._start, self._reads):
            raise CborTooLarge("the item is too large", self._start)
        content, self._ahead = self._ahead, b""
        content += self._stream.read(number - len(content))
        self.byte += len(content)
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        """cbor2 then reads no further than the item."""
        return False


def read_items(path: Path, kind: int) -> Iterator[tuple[int, Any] | Malformed]:
    """Yield the items of a file with their numbers, from 0; a fault ends it, as the start of the next item is unknown.

    `kind` is a key of `KINDS`: what the header must name, if there is a header.
    """
    number = 0
    with open_bytes(path) as stream:
        reader = CborReader(stream)
        try:
            for item in _items(reader, kind):
                if isinstance(item, Malformed):
                    yield item
                    return
                yield number, item
                number += 1
        except CborTooLarge as error:
            yield too_large(number, location=_location(number, error.byte), loses_more=True)
        except CborError as error:
            where = _location(number, error.byte)
            yield Malformed(number, "broken CBOR", str(error), None, where, GET_AGAIN, loses_more=True)
        except DAMAGE as error:
            detail = damage_text(path, error)
            where = _location(number, reader.byte)
            yield Malformed(number, "damaged archive", detail, None, where, GET_AGAIN, loses_more=True)


def _items(reader: CborReader, kind: int) -> Iterator[Any]:
    if reader.has_ended():
        yield Malformed(0, "no CAR file", "the file is empty", location="its beginning", remedy=GET_AGAIN)
        return
    first = reader.item()
    if not (isinstance(first, list) and first[:1] == ["CAR"]):
        yield first
        yield from reader.items()
        return
    holds = first[1][0] if len(first) > 1 and isinstance(first[1], list) and first[1] else None
    if holds != kind:
        contents = KINDS.get(holds, "something else") if isinstance(holds, int) else "something else"
        remedy = f"Give the file of {KINDS[kind]}"
        yield Malformed(0, "another CAR file", f"it holds {contents}", location="its header", remedy=remedy)
        return
    if not reader.open_list():
        yield Malformed(
            0, "no CAR file", "no list follows the header", location="its header", remedy=GET_AGAIN
        )
        return
    yield from reader.items()
    reader.close_list()


def _location(number: int, byte: int) -> str:
    return f"item {number + 1}, byte {byte:,}"


def identifier(value: Any) -> str | None:
    """Return an identifier, which is bytes or a text; None for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None
