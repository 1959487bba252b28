"""TensorBoard's event files: scalars by step, written without TensorBoard.

A file is a row of records: length (8 bytes, little endian), its checksum, the bytes, their checksum. The bytes are an
`Event` of TensorBoard's event.proto: wall time (field 1), step (2), version (3) or summary (5); a summary's values (1)
have a tag (1) and a number (2). Checksums are CRC-32C, rotated and with a constant added, as TFRecord has them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from irpretrain.atomic import atomic_file

FILE = "events.out.tfevents.0.irpretrain"
"""TensorBoard takes files whose names hold tfevents."""
VERSION = b"brain.Event:2"
POLYNOMIAL = 0x82F63B78
"""Of CRC-32C (Castagnoli), bits reversed."""
MASK = 0xA282EAD8


class Step(NamedTuple):
    """Scalars of one step; `time` in seconds since the epoch, or since anything: TensorBoard shows differences."""

    step: int
    time: float
    scalars: Mapping[str, float]


def write_events(steps: Iterable[Step], path: str | Path) -> int:
    """Write an event file, atomically; equal steps give equal bytes. Returns the number of steps."""
    count = 0
    with atomic_file(path) as temporary, open(temporary, "wb") as handle:
        handle.write(record(_event(0.0, 0, _field(3, VERSION))))
        for step in steps:
            summary = b"".join(_field(1, _value(tag, value)) for tag, value in step.scalars.items())
            handle.write(record(_event(step.time, step.step, _field(5, summary))))
            count += 1
    return count


def record(data: bytes) -> bytes:
    """Return the record that holds some bytes."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def masked(data: bytes) -> int:
    """Return the checksum of a record's part."""
    sum_ = crc32c(data)
    return ((sum_ >> 15 | sum_ << 17) + MASK) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes."""
    table, value = _table(), 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


def _event(time: float, step: int, content: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", time) + b"\x10" + _varint(step) + content


def _value(tag: str, value: float) -> bytes:
    return _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
