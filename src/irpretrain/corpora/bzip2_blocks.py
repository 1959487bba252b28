"""Blocks of a bzip2 file, each decompressed by itself, from any place in the file.

A bzip2 file is one or many streams, a stream is blocks of at most 900 kB of text, and a block needs no other to be
decompressed. It begins, at any bit, with 48 bits that mark it, and so does the end of a stream (J. Seward's bzip2;
`bzip2recover` rests on the same). So a file can be read from the middle, whether it has one stream or, as
Wikipedia's multistream dumps, one for every 100 pages, and what lies behind a damaged block is not lost.

Chance makes the 48 bits too, in one of a thousand dumps of the English Wikipedia: a block that cannot be
decompressed up to the next mark is tried up to the ones after it.
"""

import bz2
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

_BLOCK, _STREAM_END = 0x314159265359, 0x177245385090
_MARK_BITS = 48
_HEADER = b"BZh9"
WINDOW = 1 << 20
"""Bytes that are searched for marks at a time."""
LONGEST_BLOCK = 4 << 20
"""Bytes. No block is longer: 900,000 symbols of at most 20 bits, and its tables."""
FALSE_MARKS = 2
"""Marks inside a block that are recognised as chance."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block.

    Attributes:
        bit: that it begins at.
        text: None where it cannot be decompressed.
        following: bit of the next mark behind it, None where there is none.
    """

    bit: int
    text: bytes | None
    following: int | None


@dataclass(frozen=True, slots=True)
class _Needle:
    """A mark that begins `shift` bits into a byte: its bits there, in the whole bytes that follow, and behind them."""

    shift: int
    is_block: bool
    first: int
    inside: bytes
    last: int

    @classmethod
    def of(cls, mark: int, shift: int) -> Self:
        first, *inside, last = (mark << (8 - shift)).to_bytes(7, "big")
        return cls(shift, mark == _BLOCK, first, bytes(inside), last >> (8 - shift) if shift else 0)


_NEEDLES = [_Needle.of(mark, shift) for mark in (_BLOCK, _STREAM_END) for shift in range(8)]


def read_blocks(path: str | Path, start: int = 0) -> Iterator[Block]:
    """Yield the blocks that begin at byte `start` or later, in the order of the file."""
    with open(path, "rb", buffering=0) as file:
        marks = _marks(file.fileno(), start)
        ahead: deque[tuple[int, bool]] = deque()
        while _fill(ahead, marks, 1):
            bit, is_block = ahead.popleft()
            if is_block:
                text = _text(file.fileno(), bit, ahead, marks)
                yield Block(bit, text, ahead[0][0] if ahead else None)


def _text(
    file: int, bit: int, ahead: deque[tuple[int, bool]], marks: Iterator[tuple[int, bool]]
) -> bytes | None:
    """The text of the block at `bit`; marks that proved to be inside it are removed from `ahead`."""
    for tried in range(FALSE_MARKS + 1):
        if not _fill(ahead, marks, tried + 1) or (ahead[tried][0] - bit) // 8 > LONGEST_BLOCK:
            return None
        text = _decompress(_bits(file, bit, ahead[tried][0]), ahead[tried][0] - bit)
        if text is not None:
            for _ in range(tried):
                ahead.popleft()
            return text
    return None


def _fill(ahead: deque[tuple[int, bool]], marks: Iterator[tuple[int, bool]], number: int) -> bool:
    while len(ahead) < number:
        if (mark := next(marks, None)) is None:
            return False
        ahead.append(mark)
    return True


def _marks(file: int, start: int) -> Iterator[tuple[int, bool]]:
    """Yield (bit, whether a block begins there; else a stream ends) in order."""
    place = start
    while window := os.pread(file, WINDOW + _MARK_BITS // 8, place):  # a mark may reach so far beyond
        marks = [
            (8 * (place + byte) + needle.shift, needle.is_block)
            for needle in _NEEDLES
            for byte in _occurrences(window, needle)
            if byte < WINDOW
        ]
        yield from sorted(marks)
        place += WINDOW


def _occurrences(window: bytes, needle: _Needle) -> Iterator[int]:
    """Yield the bytes of the window in which the needle's mark begins."""
    byte = window.find(needle.inside, 1)
    while byte >= 0:
        after = byte + len(needle.inside)
        if window[byte - 1] & (0xFF >> needle.shift) == needle.first and (
            needle.shift == 0 or (after < len(window) and window[after] >> (8 - needle.shift) == needle.last)
        ):
            yield byte - 1
        byte = window.find(needle.inside, byte + 1)


def _bits(file: int, start: int, end: int) -> bytes:
    """The bits from `start` to `end` of the file, shifted to begin with a byte; the last byte's rest is noise."""
    raw: Any = np.frombuffer(os.pread(file, end // 8 - start // 8 + 1, start // 8), np.uint8)
    shift = start % 8
    if shift:
        following = np.append(raw[1:], np.uint8(0))
        raw = (raw << shift) | (following >> (8 - shift))
    return raw[: -(-(end - start) // 8)].tobytes()


def _decompress(block: bytes, bits: int) -> bytes | None:
    """The text of a block of `bits` bits, made a stream of its own; None where it is damaged."""
    checksum = int.from_bytes(block[6:10], "big")  # of a stream of one block, the stream's is the block's
    rest = bits % 8
    whole, last = block[: bits // 8], block[bits // 8] >> (8 - rest) if rest else 0
    end = (((last << _MARK_BITS) | _STREAM_END) << 32) | checksum
    length = rest + _MARK_BITS + 32
    padding = -length % 8
    try:
        return bz2.decompress(_HEADER + whole + (end << padding).to_bytes((length + padding) // 8, "big"))
    except (OSError, ValueError):
        return None
