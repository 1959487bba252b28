"""CBOR for tests, written by the standard's own rules (RFC 8949) and independent of the reader."""

from __future__ import annotations

import struct
from typing import Any


class Unknown(list):
    """A list, or several parts of a text or of bytes, written with unknown length."""


def head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes([kind << 5 | number])
    for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
        if number < 1 << 8 * size:
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError(number)


def dumps(value: Any) -> bytes:
    """Return a value as CBOR."""
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, Unknown):
        return b"\x9f" + b"".join(map(dumps, value)) + b"\xff"
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(dumps, value))
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(dumps(k) + dumps(v) for k, v in value.items())
    raise TypeError(value)
