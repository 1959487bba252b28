"""Files of consecutive documents between `<DOC>` and `</DOC>`: shared by the TREC formats.

A document reaches from its `<DOC>` to the next one, so that a page which quotes these tags stays whole; it must end
with `</DOC>`.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from irpretrain.corpora.checked import several_records
from irpretrain.foundation.characters import without_marks
from irpretrain.foundation.files import DAMAGE, damage_text, open_bytes
from irpretrain.foundation.records import Malformed, Share, is_too_large, max_record_bytes, too_large

OPENING, CLOSING = b"<DOC>", b"</DOC>"
CHUNK_BYTES = 1 << 20
REMEDY = "Get the file again, or mend it"
SMART_REMEDY = "This looks like a file of a SMART collection: give format: smart"
# How a file of another kind begins → what to do.
_OTHER_BEGINNINGS = {
    rb"\.I ": SMART_REMEDY,
    rb'<DOC id="': """As LDC's Gigaword: sed -E 's|<DOC id="([^"]*)"[^>]*>|<DOC><DOCNO>\\1</DOCNO>|' FILE""",
    rb"<doc>": "Write the tags in capitals: sed -E 's|<(/?)doc>|<\\1DOC>|' FILE",
    rb"<doc id=": "This looks like WikiExtractor's text: run it with --json, and give format: jsonl",
}


@dataclass(frozen=True, slots=True)
class DocBlock:
    """What stands between the tags of one document."""

    position: int  # number of the document in its file, from 0
    offset: int  # byte of the (unpacked) file at which its `<DOC>` stands, from 0
    content: bytes

    def malformed(self, reason: str, detail: str = "", remedy: str = REMEDY) -> Malformed:
        return Malformed(self.position, reason, detail, location=self.location, remedy=remedy)

    @property
    def location(self) -> str:
        return f"document {self.position + 1}, byte {self.offset:,}"


# In SGML, the language of TREC's files, case and blanks are free.
CDATA = re.compile(r"<!\[\s*CDATA\s*\[", re.IGNORECASE)


def escaped_cdata(markup: str) -> str:
    """Return markup with character references in place of `<![CDATA[` … `]]>`, whose content is text as it stands.

    One that is not closed stays.
    """
    text_before, *sections = CDATA.split(markup)
    pieces = [text_before]
    for piece in sections:
        content, end, text_after = piece.partition("]]>")
        pieces.append(html.escape(content, quote=False) + text_after if end else f"<![CDATA[{piece}")
    return "".join(pieces)


def read_blocks(
    path: Path, share: Share, unique_tag: bytes, followed_by: bytes = b""
) -> Iterator[DocBlock | Malformed]:
    """Yield the documents of a share.

    Args:
        unique_tag: name of the tag that each document has once; with two, the border of two documents is damaged.
        followed_by: what must follow a `<DOC>`, white space aside, to begin a document.
    """
    position = -1
    for offset, content in _split_at_openings(path, followed_by):
        if isinstance(content, Malformed):
            if share(max(position, 0)):
                yield content
            continue
        if position < 0:
            position = 0
            if (fault := _text_before_fault(content, offset)) and share(0):
                yield fault
            continue
        if share(position):
            yield _block(position, offset, content, unique_tag)
        position += 1
    if position == 0 and share(0):
        detail = "there is no <DOC> in it"
        remedy = "Leave such files out by `files` of the corpus"
        yield Malformed(0, "no documents", detail, location="its beginning", remedy=remedy)


def _text_before_fault(content: bytes, offset: int) -> Malformed | None:
    """The fault of text before the first document; a byte order mark is none."""
    text = without_marks(content).strip()
    if not text:
        return None
    detail = repr(text[:40].decode("utf-8", "replace"))
    fault = Malformed(0, "text before the first <DOC>", detail, location=f"byte {offset:,}", remedy=REMEDY)
    for beginning, remedy in _OTHER_BEGINNINGS.items():
        if re.match(beginning, text):
            return replace(fault, remedy=remedy, of_file=True)
    return fault


def _block(position: int, offset: int, content: bytes, unique_tag: bytes) -> DocBlock | Malformed:
    end = content.rfind(CLOSING)
    block = DocBlock(position, offset, content[len(OPENING) : end if end >= 0 else len(content)])
    if is_too_large(len(content), content.count(b"<")):
        return too_large(position, location=block.location)
    if end < 0:
        return block.malformed(
            "document is not closed", "there is no </DOC> before the next <DOC> or the file's end"
        )
    text_after = content[end + len(CLOSING) :].strip(b"\0\x1a \t\r\n\xef\xbb\xbf")
    if text_after:
        return block.malformed("text behind </DOC>", repr(text_after[:40].decode("utf-8", "replace")))
    tags = re.finditer(rb"<(/?)%b\b" % unique_tag, content, re.IGNORECASE)
    if (tag_count := max(Counter(bool(tag[1]) for tag in tags).values(), default=0)) > 1:
        return several_records(position, tag_count, f"<{unique_tag.decode()}>", location=block.location)
    return block


def _split_at_openings(path: Path, followed_by: bytes) -> Iterator[tuple[int, bytes | Malformed]]:
    """Yield the text before the first `<DOC>`, then each document with its tags, each with its first byte."""
    # A document beyond the size limit (`bounds`) is cut; damage comes after everything before it.
    buffer, start, search_start = bytearray(), 0, 0
    is_dropping, max_bytes = False, max_record_bytes()
    with open_bytes(path) as stream:
        while True:
            try:
                chunk = stream.read(CHUNK_BYTES)
            except DAMAGE as error:
                detail = damage_text(path, error)
                location = f"behind byte {start + len(buffer):,}"
                yield start, Malformed(0, "damaged archive", detail, None, location, REMEDY, loses_more=True)
                return
            buffer += chunk
            while (opening := _next_opening(buffer, search_start, followed_by, not chunk)) >= 0:
                if not is_dropping:
                    yield start, bytes(buffer[:opening])
                is_dropping = False
                del buffer[:opening]
                start, search_start = start + opening, 1
            if not chunk:
                if not is_dropping:
                    yield start, bytes(buffer)
                return
            search_start = max(search_start, len(buffer) - LOOK_BACK)
            if len(buffer) > max_bytes + LOOK_BACK:
                if not is_dropping:
                    yield start, bytes(buffer[: max_bytes + 1])
                is_dropping = True
                start += search_start
                del buffer[:search_start]
                search_start = 0


# Bytes at the end of a chunk that are searched again with the next: a tag, white space, and what must follow.
LOOK_BACK = 128


def _next_opening(buffer: bytearray, start: int, followed_by: bytes, at_end: bool) -> int:
    """The next `<DOC>` that begins a document; -1 if there is none, or more must be read to decide."""
    opening = buffer.find(OPENING, start)
    while opening >= 0 and followed_by:
        text_after = bytes(buffer[opening + len(OPENING) : opening + LOOK_BACK])
        if text_after.lstrip().startswith(followed_by):
            return opening
        if not at_end and opening + LOOK_BACK > len(buffer):
            return -1
        opening = buffer.find(OPENING, opening + 1)
    return opening
