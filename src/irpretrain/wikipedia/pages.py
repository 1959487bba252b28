"""Pages of a pages-articles XML dump, from any piece of it on: streamed, memory flat.

In XML a `<` of a text is escaped, so the bytes `<page>` and `</page>` are the borders of pages wherever reading
starts. Each page is parsed by itself: what is wrong with one says nothing about the next, and no page depends on
where reading started.

Reading needs no index, as blocks are found by their marks (`irpretrain.foundation.pieces`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from irpretrain.foundation.pieces import Damage, Piece
from irpretrain.foundation.records import max_record_bytes
from irpretrain.wikipedia.dump import LONGEST_FIELD, integer

# Elements within each other; dumps have four in a page.
DEEPEST = 64
# Bytes between two pages that are looked at.
LONGEST_GAP = 4096
# Reasons of faults.
DAMAGED_ARCHIVE, DAMAGED_XML, BROKEN_PAGE = "damaged archive", "damaged XML", "page breaks off"

_BORDER = re.compile(rb"</?page>")
_BEGIN, _END, _DUMP_END = b"<page>", b"</page>", b"</mediawiki>"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its newest revision in the dump, by timestamp; the last one where timestamps are equal or missing."""

    position: int  # its place in the file, growing from page to page, the same whatever share is read
    title: str
    page_id: str  # MediaWiki's page id, empty where the dump has none
    namespace: int | None  # 0 holds articles; None where the dump does not say it (before 2012)
    redirect: str | None  # title that the page redirects to, None for other pages
    text: str | None  # wikitext; None where it is missing
    deleted: bool = False  # whether the text was hidden from the public
    oversized: bool = False  # whether the text was longer than the limit and therefore dropped
    model: str = ""  # what the text is, `wikitext` for articles; empty where the dump does not say it


@dataclass(frozen=True, slots=True)
class Fault:
    """A page, or a part of the dump, that cannot be read; reading goes on behind it."""

    position: int
    reason: str
    detail: str
    loses_more: bool = False  # whether nobody knows how many pages are lost with it


def read_pages(pieces: Iterable[Piece | Damage], longest_text: int) -> Iterator[Page | Fault]:
    """Yield the pages that begin in a share's own pieces, and each fault, in the order of the file.

    A page is reported by the share it begins in, lost bytes by the share that they lie in, the missing end of a dump by
    the share of its last piece: the reports of all shares together are those of one that reads the whole file.

    Args:
        pieces: those of a share and the ones that follow; they are read as far as needed.
        longest_text: characters; a longer text is dropped while it is read.
    """
    reader = _Reader(longest_text)
    piece: Piece | Damage | None = None
    for piece in pieces:
        if isinstance(piece, Damage):
            yield from reader.report_damage(piece)
        elif piece.in_share or not reader.idle:
            yield from reader.read(piece)
        if reader.idle and isinstance(piece, Piece) and piece.is_past:
            return
    yield from reader.end(piece)


@dataclass(slots=True)
class _Source:
    """A piece that is being read: where its first byte lies in the reader's text, and the pages begun in it."""

    piece: Piece
    start: int
    pages: int = 0

    def position(self, text_position: int) -> int:
        # A block's bits are more than the pages that fit into it: a page takes over a hundred bits of any dump.
        return self.piece.offset + (self.pages if self.piece.is_block else text_position - self.start)


class _Reader:
    def __init__(self, longest_text: int) -> None:
        self._longest = longest_text
        self._page: _PageParser | None = None
        self._gap: bytes | None = None  # what followed the last page, which was our own
        self._gap_position = 0
        self._carried = b""  # of a piece: the beginning of a border, maybe
        self._sources: list[_Source] = []

    @property
    def idle(self) -> bool:
        return self._page is None and self._gap is None and not self._carried

    def read(self, piece: Piece) -> Iterator[Page | Fault]:
        self._sources.append(_Source(piece, len(self._carried)))
        text = self._carried + piece.text
        position = 0
        for border in _BORDER.finditer(text):
            if border[0] == _BEGIN:
                yield from self._begin(text[position : border.start()], border.start())
                position = border.start()
            elif self._page is not None:
                self._page.feed(text[position : border.end()])
                yield self._page.finish()
                self._gap, self._gap_position, self._page = b"", self._page.position, None
                position = border.end()
        passed_bytes = len(text) - _partial_border(text)
        self._take_text(text[position:passed_bytes])
        is_needed = piece.in_share or self._page is not None or self._gap is not None
        self._carry(text[passed_bytes:] if is_needed else b"", passed_bytes)

    def report_damage(self, damage: Damage) -> Iterator[Fault]:
        """Give up what bytes are missing of."""
        yield from self._cut_off(f"{damage.where} {damage.reason}")
        if damage.in_share:
            yield Fault(damage.offset, DAMAGED_ARCHIVE, f"{damage.where} {damage.reason}", loses_more=True)
        self._gap, self._carried, self._sources = None, b"", []

    def end(self, last_piece: Piece | Damage | None) -> Iterator[Fault]:
        yield from self._cut_off("the file ends", loses_more=True)
        if not isinstance(last_piece, Piece):
            return
        ending = last_piece.text[-LONGEST_GAP:].rstrip()
        is_whole = ending.endswith(_DUMP_END) or _DUMP_END.endswith(ending)
        if not is_whole and last_piece.in_share:
            yield Fault(
                last_piece.offset, DAMAGED_XML, "the dump does not end with </mediawiki>", loses_more=True
            )
        if is_whole and self._gap is not None:
            yield from self._close_gap((self._gap + self._carried).rstrip().removesuffix(_DUMP_END))

    def _begin(self, text_before: bytes, position: int) -> Iterator[Fault]:
        if self._gap is not None:
            yield from self._close_gap(self._gap + text_before[:LONGEST_GAP])
        if self._page is not None:
            self._page.feed(text_before)
            yield from self._cut_off("the next page begins")
        source = next(source for source in reversed(self._sources) if source.start <= position)
        if source.piece.in_share:
            self._page = _PageParser(source.position(position), self._longest)
        source.pages += 1

    def _close_gap(self, gap: bytes) -> Iterator[Fault]:
        if gap := gap.strip():
            excerpt = gap[:40].decode("utf-8", "replace")
            detail = f"after the page that begins here stands {excerpt!r}"
            yield Fault(self._gap_position, DAMAGED_XML, detail)
        self._gap = None

    def _cut_off(self, reason: str, loses_more: bool = False) -> Iterator[Fault]:
        if self._page is not None:
            self._page.close()
            yield Fault(self._page.position, BROKEN_PAGE, f"{self._page.name}: {reason}", loses_more)
            self._page = None

    def _take_text(self, text: bytes) -> None:
        if self._page is not None:
            self._page.feed(text)
        elif self._gap is not None and len(self._gap) < LONGEST_GAP:
            self._gap = (self._gap + text[:LONGEST_GAP]).lstrip()

    def _carry(self, carried_text: bytes, passed_bytes: int) -> None:
        self._carried = carried_text
        for source in self._sources:
            source.start -= passed_bytes
        self._sources = [source for source in self._sources if source.start + len(source.piece.text) > 0]


def _partial_border(text: bytes) -> int:
    for length in range(min(len(_END) - 1, len(text)), 0, -1):
        if any(border[:-1].startswith(text[-length:]) for border in (_BEGIN, _END)):
            return length
    return 0


class _XmlFault(Exception):
    """XML that no dump has, though it is well-formed."""


@dataclass(slots=True)
class _Revision:
    fields: dict[str, str] = field(default_factory=dict)  # timestamp, model and text, as far as it has them
    oversized: bool = False
    deleted: bool = False

    @property
    def time(self) -> str:
        # ISO 8601 in UTC: as text in the order of time.
        return self.fields.get("timestamp", "").strip()


class _PageParser:
    def __init__(self, position: int, longest_text: int) -> None:
        self.position = position
        self._longest = longest_text
        self._fault: str | None = None
        self._pending, self._fed_bytes, self._unfinished_bytes, self._last_bytes = bytearray(), 0, 0, b""
        self._open_elements: list[str] = []
        self._field_name: str | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._fields: dict[str, str] = {}  # of the page
        self._revision = self._newest_revision = _Revision()
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    @property
    def name(self) -> str:
        return f"page {self._fields['title'].strip()[:80]!r}" if self._fields.get("title") else "a page"

    def feed(self, text: bytes) -> None:
        if self._fault is not None:
            return
        self._pending += text
        # At every call expat reads an unfinished tag from its beginning: in small pieces a long one would take
        # quadratic time.
        if len(self._pending) >= self._unfinished_bytes:
            self._parse()

    def _parse(self) -> None:
        text, self._pending = bytes(self._pending), bytearray()
        self._fed_bytes += len(text)
        try:
            self._parser.Parse(text, False)
            self._unfinished_bytes = self._fed_bytes - self._parser.CurrentByteIndex
            if self._unfinished_bytes > max_record_bytes():
                raise _XmlFault(f"a tag of more than {max_record_bytes():,} bytes")
        except expat.ExpatError as error:
            self._fault = self._reason(error, text)
        except _XmlFault as fault:
            self._fault = str(fault)
        # A letter may begin in one piece and end in the next.
        self._last_bytes = (self._last_bytes + text[-4:])[-4:]

    def _reason(self, error: expat.ExpatError, text: bytes) -> str:
        text_near_fault = self._last_bytes + text
        offset = self._parser.ErrorByteIndex - self._fed_bytes + len(text_near_fault)
        # In UTF-8 such bytes are letters, which are allowed.
        if 0 <= offset < len(text_near_fault) and text_near_fault[offset] >= 0x80:
            return "bytes that are not UTF-8"
        return expat.ErrorString(error.code)

    def close(self) -> None:
        """Let go of the parser, whose handlers would keep it and the text alive for long."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None

    def finish(self) -> Page | Fault:
        if self._fault is None:
            self._parse()
        self.close()
        if self._fault is not None:
            return Fault(self.position, DAMAGED_XML, f"{self.name}: {self._fault}")
        namespace, revision = self._fields.get("ns"), self._newest_revision
        if namespace is not None and integer(namespace) is None:
            return Fault(self.position, DAMAGED_XML, f"{self.name}: its namespace is no number")
        return Page(
            position=self.position,
            title=self._fields.get("title", "").strip(),
            page_id=self._fields.get("id", "").strip(),
            namespace=None if namespace is None else integer(namespace),
            redirect=self._fields.get("redirect"),
            text=revision.fields.get("text") or None,
            deleted=revision.deleted,
            oversized=revision.oversized,
            model=revision.fields.get("model", "").strip(),
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open_elements) == DEEPEST:
            raise _XmlFault("elements are nested too deeply")
        parent = self._open_elements[-1] if self._open_elements else ""
        self._open_elements.append(name)
        if parent == "page" and name == "redirect":
            self._fields["redirect"] = attributes.get("title", "")
        self._field_name = _FIELDS.get((parent, name))
        if self._field_name == "title" and "title" in self._fields:
            raise _XmlFault("1 page, but 2 × <title>: the border between two pages is damaged")
        if name == "revision":
            self._revision = _Revision()
        if self._field_name == "text":
            self._revision.oversized, self._revision.deleted = False, "deleted" in attributes
        self._pieces.clear()
        self._length = 0

    def _characters(self, data: str) -> None:
        if self._field_name is None:
            return
        self._length += len(data)
        if self._length <= (self._longest if self._field_name == "text" else LONGEST_FIELD):
            self._pieces.append(data)
        elif self._field_name == "text":
            self._pieces.clear()
            self._revision.oversized = True

    def _end(self, name: str) -> None:
        self._open_elements.pop()
        if self._field_name is not None:
            fields = self._fields if self._open_elements[-1] == "page" else self._revision.fields
            fields[self._field_name] = "".join(self._pieces)
            self._field_name = None
        if name == "revision" and self._revision.time >= self._newest_revision.time:
            self._newest_revision = self._revision


_FIELDS = {
    ("page", "title"): "title",
    ("page", "ns"): "ns",
    ("page", "id"): "id",
    ("revision", "timestamp"): "timestamp",
    ("revision", "model"): "model",
    ("revision", "text"): "text",
}
