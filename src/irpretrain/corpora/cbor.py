"""CBOR (RFC 8949), read item by item by cbor2, with bounds on depth and size and the byte of every fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

import cbor2

DEEPEST = 100
LONGEST_ITEM = 64 << 20
"""Bytes of one item of the stream, everything in it included."""
BREAK = b"\xff"
OPEN_LIST = b"\x9f"


class CborError(Exception):
    """What cannot be read; `byte` is how far the stream was read."""

    def __init__(self, reason: str, byte: int) -> None:
        super().__init__(reason)
        self.reason, self.byte = reason, byte


class CborReader:
    """Reads items of a stream; `byte` is how much of it has been read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.byte = 0
        self._stream, self._start, self._ahead = stream, 0, b""
        self._decoder = cbor2.CBORDecoder(cast(Any, self), max_depth=DEEPEST)

    def item(self) -> Any:
        """Return the next item.

        Raises:
            EOFError: the stream has ended.
            CborError: the item cannot be read; where the next one begins is not known then.
        """
        self._start = self.byte
        if not self._peek():
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

    def _peek(self) -> bytes:
        self._ahead = self._ahead or self._stream.read(1)
        return self._ahead

    def read(self, number: int) -> bytes:
        """Return the next bytes of the stream, which is what cbor2 asks for."""
        if self.byte + number - self._start > LONGEST_ITEM:
            raise CborError(f"an item of more than {LONGEST_ITEM:,} bytes", self._start)
        content, self._ahead = self._ahead, b""
        content += self._stream.read(number - len(content))
        self.byte += len(content)
        return content

    def readable(self) -> bool:
        """cbor2 asks for this."""
        return True

    def seekable(self) -> bool:
        """cbor2 then reads no further than the item."""
        return False
