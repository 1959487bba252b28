"""Files of many documents between `<DOC>` and `</DOC>`, one document after the other: shared by the TREC formats.

A document reaches from its `<DOC>` to the next one, so that a page which quotes these tags stays whole; it must end
with `</DOC>`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from irpretrain.corpora.files import DAMAGE, damage_text, open_bytes
from irpretrain.corpora.records import Malformed, Share

OPENING, CLOSING = b"<DOC>", b"</DOC>"
CHUNK = 1 << 20
LONGEST = 64 << 20
"""Bytes. A longer document is malformed; the bound keeps memory flat on damaged input."""
REMEDY = "Get the file again, or mend it"
SMART = "This looks like a file of a SMART collection: give format: smart"


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between the tags of one document.

    Attributes:
        position: number of the document in its file, from 0.
        byte: of the (unpacked) file at which its `<DOC>` stands, from 0.
    """

    position: int
    byte: int
    content: bytes

    def malformed(self, reason: str, detail: str = "", remedy: str = REMEDY) -> Malformed:
        """Return a fault of this document, with its place."""
        return Malformed(self.position, reason, detail, place=self.place, remedy=remedy)

    @property
    def place(self) -> str:
        """The place of the document in words."""
        return f"document {self.position + 1}, byte {self.byte:,}"


def read_blocks(path: Path, share: Share, followed_by: bytes = b"") -> Iterator[Block | Malformed]:
    """Yield the documents of a share.

    Args:
        followed_by: what a `<DOC>` must be followed by, white space aside, to begin a document.
    """
    position = -1
    for byte, content in _pieces(path, followed_by):
        if isinstance(content, Malformed):
            if share(max(position, 0)):
                yield content
            continue
        if position < 0:
            position = 0
            if (fault := _outside(content, byte)) and share(0):
                yield fault
            continue
        if share(position):
            yield _block(position, byte, content)
        position += 1
    if position == 0 and share(0):
        detail = "there is no <DOC> in it"
        remedy = "Leave such files out by `files` of the corpus"
        yield Malformed(0, "no documents", detail, place="its beginning", remedy=remedy)


def _outside(content: bytes, byte: int) -> Malformed | None:
    """The fault of text before the first document; a byte order mark is none."""
    text = content.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        return None
    detail = repr(text[:40].decode("utf-8", "replace"))
    remedy = SMART if text.startswith(b".I ") else REMEDY
    return Malformed(0, "text before the first <DOC>", detail, place=f"byte {byte:,}", remedy=remedy)


def _block(position: int, byte: int, content: bytes) -> Block | Malformed:
    end = content.rfind(CLOSING)
    block = Block(position, byte, content[len(OPENING) : end if end >= 0 else len(content)])
    if len(content) > LONGEST:
        return block.malformed("document too long", f"more than {LONGEST:,} bytes")
    if end < 0:
        return block.malformed(
            "document is not closed", "there is no </DOC> before the next <DOC> or the file's end"
        )
    behind = content[end + len(CLOSING) :].strip(b"\0\x1a \t\r\n")
    if behind:
        return block.malformed("text behind </DOC>", repr(behind[:40].decode("utf-8", "replace")))
    return block


def _pieces(path: Path, followed_by: bytes) -> Iterator[tuple[int, bytes | Malformed]]:
    """Yield what stands before the first `<DOC>`, then each document with its tags, each with its first byte.

    A document over `LONGEST` is cut there; damage is told where it is met, after all that could be read before it.
    """
    buffer, start, searched = bytearray(), 0, 0
    dropping = False
    with open_bytes(path) as stream:
        while True:
            try:
                chunk = stream.read(CHUNK)
            except DAMAGE as error:
                detail = damage_text(path, error)
                where = f"behind byte {start + len(buffer):,}"
                yield start, Malformed(0, "damaged archive", detail, None, where, REMEDY, loses_more=True)
                return
            buffer += chunk
            while (opening := _next_opening(buffer, searched, followed_by, not chunk)) >= 0:
                if not dropping:
                    yield start, bytes(buffer[:opening])
                dropping = False
                del buffer[:opening]
                start, searched = start + opening, 1
            if not chunk:
                if not dropping:
                    yield start, bytes(buffer)
                return
            searched = max(searched, len(buffer) - LOOK_BACK)
            if len(buffer) > LONGEST + LOOK_BACK:
                if not dropping:
                    yield start, bytes(buffer[: LONGEST + 1])
                dropping = True
                start += searched
                del buffer[:searched]
                searched = 0


LOOK_BACK = 128
"""Bytes at the end of a chunk that are searched again with the next: a tag, white space, and what must follow."""


def _next_opening(buffer: bytearray, start: int, followed_by: bytes, at_end: bool) -> int:
    """The next `<DOC>` that begins a document; -1 where there is none, or more must be read to tell."""
    opening = buffer.find(OPENING, start)
    while opening >= 0 and followed_by:
        behind = bytes(buffer[opening + len(OPENING) : opening + LOOK_BACK])
        if behind.lstrip().startswith(followed_by):
            return opening
        if not at_end and opening + LOOK_BACK > len(buffer):
            return -1
        opening = buffer.find(OPENING, opening + 1)
    return opening
