"""A large file in pieces: shards share one file, bzip2 included.

Blocks of a bzip2 file, each decompressed by itself, from any position in the file.

A stream is blocks of at most 900 kB of text that need no other block. A block, and the end of a stream, begins at any
bit with a mark of 48 bits (J. Seward's bzip2; `bzip2recover` uses the same). So a file can be read from the middle,
with one stream or, as Wikipedia's multistream dumps, one per 100 pages, and only a damaged block is lost.

Chance makes the 48 bits too, in one of a thousand dumps of the English Wikipedia: a block that cannot be decompressed
up to the next mark is tried up to the ones after it.
"""

import bz2
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import DAMAGE, compression_of, damage_text, open_bytes
from irpretrain.foundation.records import Share

_BLOCK, _STREAM_END = 0x314159265359, 0x177245385090
_MARK_BITS = 48
_HEADER = b"BZh9"

# Bytes that are searched for marks at a time.
WINDOW = 1 << 20

# Bytes. No block is longer: 900,000 symbols of at most 20 bits, and its tables.
LONGEST_BLOCK = 4 << 20

# Marks inside a block that are recognised as chance.
FALSE_MARKS = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of the text."""

    offset: int  # of the first byte; see the module's table
    text: bytes  # the bytes
    # Whether the piece belongs to the share that is read; others are needed to finish what begins in one.
    in_share: bool = True
    is_past: bool = False  # whether no piece of the share follows, nor is this one
    # Whether `offset` is that of a whole block, so that bytes within it have no place of their own.
    is_block: bool = False


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes are lost here. `where` is the place in words, `in_share` as of a piece."""

    offset: int
    where: str
    reason: str
    in_share: bool = True


def _pattern_of(mark: int, shift: int) -> re.Pattern[bytes]:
    """Return the pattern of a mark that begins `shift` bits into a byte, at the first of its whole bytes."""
    first_byte, *middle_bytes, last_byte = (mark << (8 - shift)).to_bytes(7, "big")
    middle_pattern = re.escape(bytes(middle_bytes))
    last_bits = last_byte >> (8 - shift)
    before_pattern = _byte_class(byte for byte in range(256) if byte & (0xFF >> shift) == first_byte)
    after_pattern = _byte_class(byte for byte in range(256) if byte >> (8 - shift) == last_bits)
    # The whole bytes come first, which `re` searches for fastest.
    pattern = b"%b(?<=%b%b)" % (middle_pattern, before_pattern, middle_pattern)
    return re.compile(pattern + b"(?=%b)" % after_pattern if shift else pattern)


def _byte_class(byte_values: Iterable[int]) -> bytes:
    return b"[%b]" % b"".join(b"\\x%02x" % byte for byte in byte_values)


# Bits into a byte, whether a block begins there, and the pattern.
_MARK_PATTERNS = [
    (shift, mark == _BLOCK, _pattern_of(mark, shift)) for mark in (_BLOCK, _STREAM_END) for shift in range(8)
]


def read_blocks(path: str | Path, share_bytes: range) -> Iterator[Piece | Damage]:
    """Yield the blocks that begin at byte `share_bytes.start` or later, in the order of the file.

    Damage is a block that cannot be decompressed, and the end of a stream that the next one does not follow.
    """
    with open(path, "rb", buffering=0) as file:
        marks = _marks(file.fileno(), share_bytes.start)
        next_marks: deque[tuple[int, bool]] = deque()
        while _read_marks(next_marks, marks, 1):
            bit, is_block = next_marks.popleft()
            is_past_share = bit >= 8 * share_bytes.stop
            text = _text(file.fileno(), bit, next_marks, marks) if is_block else None
            next_mark = next_marks[0][0] if _read_marks(next_marks, marks, 1) else None
            if text is not None:
                yield Piece(bit, text, not is_past_share, is_past_share, is_block=True)
            elif is_block or not _next_stream_follows(file.fileno(), bit, next_mark):
                where = f"the bzip2 block at byte {bit // 8:,}"
                until = "the end of the file" if next_mark is None else f"byte {next_mark // 8:,}"
                yield Damage(bit, where, f"cannot be decompressed, up to {until}", not is_past_share)


def _next_stream_follows(file: int, bit: int, next_mark: int | None) -> bool:
    """Whether only zeros lie between the end of a stream, marked at `bit`, and the next stream or the file's end."""
    # Else a block with a damaged mark is lost; `next_mark` is the next mark.
    offset = (bit + _MARK_BITS + 32 + 7) // 8  # a checksum, and bits up to a whole byte
    stop = os.fstat(file).st_size if next_mark is None else next_mark // 8 - len(_HEADER)
    if stop < offset or (next_mark or 0) % 8:
        return False
    while offset < stop and not (padding := os.pread(file, min(WINDOW, stop - offset), offset)).strip(b"\0"):
        offset += len(padding)
    return offset >= stop


def _text(
    file: int, bit: int, next_marks: deque[tuple[int, bool]], marks: Iterator[tuple[int, bool]]
) -> bytes | None:
    """The text of the block at `bit`; marks that proved to be inside it are removed from `next_marks`."""
    for false_marks in range(FALSE_MARKS + 1):
        if not _read_marks(next_marks, marks, false_marks + 1):
            return None
        end, _ = next_marks[false_marks]
        if (end - bit) // 8 > LONGEST_BLOCK:
            return None
        if (text := _decompress(_bits(file, bit, end), end - bit)) is not None:
            for _ in range(false_marks):
                next_marks.popleft()
            return text
    return None


def _read_marks(next_marks: deque[tuple[int, bool]], marks: Iterator[tuple[int, bool]], count: int) -> bool:
    while len(next_marks) < count:
        if (mark := next(marks, None)) is None:
            return False
        next_marks.append(mark)
    return True


def _marks(file: int, start: int) -> Iterator[tuple[int, bool]]:
    offset = start
    while window := os.pread(file, WINDOW + _MARK_BITS // 8, offset):  # a mark may reach so far beyond
        marks = [
            (8 * (offset + match.start() - 1) + shift, is_block)
            for shift, is_block, pattern in _MARK_PATTERNS
            for match in pattern.finditer(window)
            if match.start() <= WINDOW
        ]
        yield from sorted(marks)
        offset += WINDOW


def _bits(file: int, start: int, end: int) -> bytes:
    """The bits from `start` to `end` of the file, shifted to begin with a byte; the last byte's rest is noise."""
    import numpy as np  # here: its import would take a tenth of the time of a small dump that is not packed

    file_bytes: Any = np.frombuffer(os.pread(file, end // 8 - start // 8 + 1, start // 8), np.uint8)
    shift = start % 8
    if shift:
        next_bytes = np.append(file_bytes[1:], np.uint8(0))
        file_bytes = (file_bytes << shift) | (next_bytes >> (8 - shift))
    return file_bytes[: -(-(end - start) // 8)].tobytes()


def _decompress(block: bytes, bits: int) -> bytes | None:
    checksum = int.from_bytes(block[6:10], "big")  # of a stream of one block, the stream's is the block's
    last_bits = bits % 8
    whole_bytes, last_value = block[: bits // 8], block[bits // 8] >> (8 - last_bits) if last_bits else 0
    end = (((last_value << _MARK_BITS) | _STREAM_END) << 32) | checksum
    length = last_bits + _MARK_BITS + 32
    padding = -length % 8
    try:
        return bz2.decompress(
            _HEADER + whole_bytes + (end << padding).to_bytes((length + padding) // 8, "big")
        )
    except (OSError, ValueError):
        return None


# The text of a large file in pieces: shards read one file, each its share, and agree on every place in it.
#
# | file | a piece is | its place | a share is |
# |---|---|---|---|
# | plain | 1 MiB | byte of the file | a range of bytes, read alone |
# | bzip2, one stream or many | a block | bit of the file | the blocks that begin in a range of bytes, read alone |
# | gzip, xz, Zstandard | 1 MiB of the text | byte of the text | every n-th piece; all are decompressed |
#
# Places depend on the file alone, never on the shares.


# Bytes of a piece of a file that has no blocks.
PIECE = 1 << 20

# Bytes that are decompressed at a time: the most that is lost before the end of a truncated archive.
READ_BYTES = 1 << 16


def read_pieces(path: str | Path, share: Share) -> Iterator[Piece | Damage]:
    """Yield the pieces of a share in order, others between them, and then up to the end of the file: the caller stops.

    Raises:
        InputError: the file cannot be opened, or reading fails (disk, network).
    """
    try:
        compression = compression_of(path)
        size = os.stat(path).st_size
        if compression == "bzip2":
            yield from read_blocks(path, share.range_of(size))
        elif compression is None:
            yield from _plain(path, share, size)
        else:
            yield from _decompressed(path, share)
    except OSError as error:
        raise InputError(path, f"reading failed: {error.strerror or error}") from error


def offset_in_words(path: str | Path, offset: int) -> str:
    """Return a position in a file for a message."""
    compression = compression_of(path)
    if compression == "bzip2":  # a place is a bit
        return f"near byte {offset // 8:,}"
    return f"byte {offset:,}{'' if compression is None else ' of the text'}"


def _plain(path: str | Path, share: Share, size: int) -> Iterator[Piece | Damage]:
    share_bytes = share.range_of(size, PIECE)
    offset = share_bytes.start
    with open(path, "rb") as handle:
        handle.seek(offset)
        while text := handle.read(PIECE):
            yield Piece(offset, text, offset < share_bytes.stop, offset >= share_bytes.stop)
            offset += len(text)


def _decompressed(path: str | Path, share: Share) -> Iterator[Piece | Damage]:
    offset, fault = 0, None
    with open_bytes(path) as stream:
        while fault is None:
            text, fault = _read_piece(path, stream)
            is_in_share = offset // PIECE % share.count == share.index
            if text:
                yield Piece(offset, text, is_in_share)
            elif fault is None:
                return
            offset += len(text)
    is_in_share = offset // PIECE % share.count == share.index
    yield Damage(
        offset, f"what follows byte {offset:,} of the text", f"cannot be decompressed: {fault}", is_in_share
    )


def _read_piece(path: str | Path, stream: IO[bytes]) -> tuple[bytes, str | None]:
    """A whole piece, or what there is of it before the text ends or breaks off, and why it breaks off."""
    piece = bytearray()
    try:
        while len(piece) < PIECE and (text := stream.read(min(READ_BYTES, PIECE - len(piece)))):
            piece += text
    except DAMAGE as error:
        return bytes(piece), damage_text(path, error)
    return bytes(piece), None
