"""CBOR (RFC 8949), read item by item from a stream, with the byte of every fault and bounds on depth and size.

Numbers, bytes, texts, lists and maps of known and unknown length, tags (whose item counts), and the simple values are
read. Nothing is built before the bytes that it needs are there.
"""

from __future__ import annotations

import struct
from typing import IO, Any, Final

DEEPEST = 100
LONGEST_ITEM = 64 << 20
"""Bytes of one item of the stream, everything in it included."""
_BREAK: Final = object()
_SIMPLE = {20: False, 21: True, 22: None, 23: None}


class CborError(Exception):
    """What cannot be read; `byte` is the place in the stream, `at_end` whether the stream ended there."""

    def __init__(self, reason: str, byte: int, at_end: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.byte, self.at_end = reason, byte, at_end


class CborReader:
    """Reads items of a stream; `byte` is how much of it has been read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.byte = 0
        self._read, self._start = stream.read, 0

    def item(self) -> Any:
        """Return the next item.

        Raises:
            EOFError: the stream has ended.
            CborError: the item cannot be read; where the next one begins is not known then.
        """
        self._start = self.byte
        first = self._read(1)
        if not first:
            raise EOFError
        self.byte += 1
        found = self._item(first[0], 0)
        if found is _BREAK:
            raise CborError("a break outside a list", self.byte - 1)
        return found

    def open_list(self) -> bool:
        """Read the beginning of a list of unknown length; return whether one begins here."""
        first = self._read(1)
        self.byte += len(first)
        return first == b"\x9f"

    def items(self) -> Any:
        """Yield the items up to the break that ends a list of unknown length, or to the end of the stream."""
        while first := self._read(1):
            self._start, self.byte = self.byte, self.byte + 1
            found = self._item(first[0], 0)
            if found is _BREAK:
                return
            yield found

    def _bytes(self, number: int) -> bytes:
        if self.byte + number - self._start > LONGEST_ITEM:
            raise CborError(f"an item of more than {LONGEST_ITEM:,} bytes", self._start)
        found = self._read(number)
        self.byte += len(found)
        if len(found) < number:
            raise CborError("the file breaks off", self.byte, at_end=True)
        return found

    def _item(self, first: int, depth: int) -> Any:
        kind, short = first >> 5, first & 31
        if depth > DEEPEST:
            raise CborError(f"items nested deeper than {DEEPEST}", self.byte - 1)
        if kind == 7:
            return self._simple(short)
        length = short if short < 24 else self._length(short, kind)
        if kind == 0:
            return length
        if kind == 1:
            return -1 - length
        if kind == 2:
            return self._bytes(length) if length >= 0 else b"".join(self._chunks(2))
        if kind == 3:
            return self._text(self._bytes(length)) if length >= 0 else "".join(self._chunks(3))
        if kind == 4:
            return self._list(length, depth)
        if kind == 5:
            return self._map(length, depth)
        return self._wanted(depth + 1)  # of a tag, the tagged item

    def _length(self, short: int, kind: int) -> int:
        """The number behind the first byte; -1 for an unknown length."""
        if short < 28:
            return int.from_bytes(self._bytes(1 << (short - 24)), "big")
        if short == 31 and kind in (2, 3, 4, 5):
            return -1
        raise CborError(f"byte 0x{kind << 5 | short:02x} begins no item", self.byte - 1)

    def _wanted(self, depth: int) -> Any:
        """The next item, which must not be a break."""
        found = self._item(self._bytes(1)[0], depth)
        if found is _BREAK:
            raise CborError("a break in the place of an item", self.byte - 1)
        return found

    def _list(self, length: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while length < 0 or len(found) < length:
            item = self._item(self._bytes(1)[0], depth + 1)
            if item is _BREAK:
                if length < 0:
                    return found
                raise CborError("a break in a list of known length", self.byte - 1)
            found.append(item)
        return found

    def _map(self, length: int, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        number = 0
        while length < 0 or number < length:
            key = self._item(self._bytes(1)[0], depth + 1)
            if key is _BREAK:
                if length < 0:
                    return found
                raise CborError("a break in a map of known length", self.byte - 1)
            if isinstance(key, list | dict):
                raise CborError("a list or a map as a key", self.byte - 1)
            found[key] = self._wanted(depth + 1)
            number += 1
        return found

    def _chunks(self, kind: int) -> Any:
        """Yield the parts of a text, or of bytes, of unknown length."""
        while (first := self._bytes(1)[0]) != 0xFF:
            short = first & 31
            if first >> 5 != kind or short == 31:
                raise CborError("a part of another kind than its whole", self.byte - 1)
            part = self._bytes(short if short < 24 else self._length(short, kind))
            yield part if kind == 2 else self._text(part)

    def _text(self, content: bytes) -> str:
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CborError("a text that is not UTF-8", self.byte - len(content) + error.start) from None

    def _simple(self, short: int) -> Any:
        if short == 31:
            return _BREAK
        if short in (25, 26, 27):
            return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[short], self._bytes(1 << (short - 24)))[0]
        if short == 24:
            return self._bytes(1)[0]
        if short in _SIMPLE:
            return _SIMPLE[short]
        raise CborError(f"simple value {short} is not known", self.byte - 1)
