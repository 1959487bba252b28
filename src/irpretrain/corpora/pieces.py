"""The text of a large file in pieces: shards read one file, each its share, and agree on every place in it.

| file | a piece is | its place | a share is |
|---|---|---|---|
| plain | 1 MiB | byte of the file | a range of bytes, read alone |
| bzip2, one stream or many | a block | bit of the file | the blocks that begin in a range of bytes, read alone |
| gzip, xz, Zstandard | 1 MiB of the text | byte of the text | every n-th piece; all are decompressed |

Places depend on the file alone, never on the shares.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from irpretrain.corpora.bzip2_blocks import read_blocks
from irpretrain.corpora.files import DAMAGE, compression_of, damage_text, open_bytes
from irpretrain.corpora.records import Share
from irpretrain.errors import InputError

PIECE = 1 << 20
"""Bytes of a piece of a file that has no blocks."""
AT_ONCE = 1 << 16
"""Bytes that are decompressed at a time; so many at most are lost before the place where an archive breaks off."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of the text.

    Attributes:
        place: of the first byte; see the module's table.
        text: the bytes.
        own: whether the piece belongs to the share that is read; others are needed to finish what begins in one.
        past: whether no piece of the share follows, nor is this one.
        is_block: whether `place` is that of a whole block, so that bytes within it have no place of their own.
    """

    place: int
    text: bytes
    own: bool = True
    past: bool = False
    is_block: bool = False


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes are lost here. `where` is the place in words, `own` as of a piece."""

    place: int
    where: str
    reason: str
    own: bool = True


def read_pieces(path: str | Path, share: Share) -> Iterator[Piece | Damage]:
    """Yield the pieces of a share in order, and others between and after them.

    The pieces after the last one of a share go on to the end of the file: the caller stops when it has what it needs.

    Raises:
        InputError: the file cannot be opened, or reading fails (disk, network).
    """
    try:
        compression = compression_of(path)
        size = os.stat(path).st_size
        if compression == "bzip2":
            yield from _blocks(path, share, size)
        elif compression is None:
            yield from _plain(path, share, size)
        else:
            yield from _decompressed(path, share)
    except OSError as error:
        raise InputError(path, f"reading failed: {error.strerror or error}") from error


def byte_of(path: str | Path, place: int) -> int:
    """Return the byte near a place: of the file, or of its text where that is compressed without blocks."""
    return place // 8 if compression_of(path) == "bzip2" else place


def place_in_words(path: str | Path, place: int) -> str:
    """Return what a user is told of a place in a file."""
    compression = compression_of(path)
    near = "near " if compression == "bzip2" else ""
    whose = "" if compression in (None, "bzip2") else " of the text"
    return f"{near}byte {byte_of(path, place):,}{whose}"


def _blocks(path: str | Path, share: Share, size: int) -> Iterator[Piece | Damage]:
    own = share.range_of(size)
    for block in read_blocks(path, own.start):
        past = block.bit >= 8 * own.stop
        if block.text is None:
            where = f"the bzip2 block at byte {block.bit // 8:,}"
            until = "the end of the file" if block.following is None else f"byte {block.following // 8:,}"
            yield Damage(block.bit, where, f"cannot be decompressed, up to {until}", not past)
        else:
            yield Piece(block.bit, block.text, not past, past, is_block=True)


def _plain(path: str | Path, share: Share, size: int) -> Iterator[Piece | Damage]:
    own = share.range_of(size, PIECE)
    place = own.start
    with open(path, "rb") as handle:
        handle.seek(place)
        while text := handle.read(PIECE):
            yield Piece(place, text, place < own.stop, place >= own.stop)
            place += len(text)


def _decompressed(path: str | Path, share: Share) -> Iterator[Piece | Damage]:
    place, fault = 0, None
    with open_bytes(path) as stream:
        while fault is None:
            text, fault = _fill(path, stream)
            in_share = place // PIECE % share.of == share.number
            if text:
                yield Piece(place, text, in_share)
            elif fault is None:
                return
            place += len(text)
    in_share = place // PIECE % share.of == share.number
    yield Damage(
        place, f"what follows byte {place:,} of the text", f"cannot be decompressed: {fault}", in_share
    )


def _fill(path: str | Path, stream: IO[bytes]) -> tuple[bytes, str | None]:
    """A whole piece, or what there is of it before the text ends or breaks off, and why it breaks off."""
    piece = bytearray()
    try:
        while len(piece) < PIECE and (text := stream.read(min(AT_ONCE, PIECE - len(piece)))):
            piece += text
    except DAMAGE as error:
        return bytes(piece), damage_text(path, error)
    return bytes(piece), None
