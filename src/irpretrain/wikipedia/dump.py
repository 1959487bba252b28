"""Pages of a pages-articles XML dump: streamed, memory flat, entities refused.

The dump's format is https://www.mediawiki.org/xml/export-0.10/ (0.3 to 0.11 differ in nothing that is read here).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat

CHUNK = 1 << 20
DEEPEST = 64
"""Elements within each other; dumps have six."""
LONGEST_SMALL_FIELD = 10_000
"""Characters of a title or number that are kept; the rest of a longer one is dropped."""


@dataclass
class SiteInfo:
    """What the dump says of its wiki."""

    database: str = ""
    base: str = ""
    namespaces: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its latest revision in the dump.

    Attributes:
        position: 0-based place among all pages of the file.
        page_id: MediaWiki's page id, empty where the dump has none.
        namespace: number of the namespace; 0 holds articles.
        redirect: title that the page redirects to, None for other pages.
        text: wikitext; None where it was deleted or is missing.
        oversized: whether the text was longer than the limit and therefore dropped.
    """

    position: int
    title: str
    page_id: str
    namespace: int | None
    redirect: str | None
    text: str | None
    oversized: bool


class DamagedDump(Exception):
    """The XML is broken or breaks off; pages before it are sound."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


class ForbiddenXml(Exception):
    """The XML declares a document type or entities, which no dump does and attacks do."""

    def __init__(self, line: int) -> None:
        super().__init__("the XML declares a document type or entities")
        self.line = line


class DumpReader:
    """Reads pages one by one; `site` is complete before the first page comes."""

    def __init__(self, stream: IO[bytes], longest_text: int) -> None:
        """Read from `stream`; texts of more than `longest_text` characters are dropped while they are read."""
        self.site = SiteInfo()
        self._stream, self._longest = stream, longest_text
        self._ready: list[Page] = []
        self._path: list[str] = []
        self._pages = 0
        self._target: str | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._page: dict[str, str] = {}
        self._oversized = False
        self._namespace_key: int | None = None
        self._parser = self._make_parser()

    def pages(self) -> Iterator[Page]:
        """Yield the pages in the order of the file.

        Raises:
            DamagedDump: broken or truncated XML, after the pages before it.
            ForbiddenXml: a document type or entity declaration.
        """
        ended = False
        while not ended:
            chunk = self._stream.read(CHUNK)
            ended = not chunk
            fault = self._feed(chunk, ended)
            yield from self._ready
            self._ready.clear()
            if fault is not None:
                raise fault

    def _feed(self, chunk: bytes, last: bool) -> DamagedDump | None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            return DamagedDump(expat.ErrorString(error.code), error.lineno)
        except DamagedDump as error:
            return error
        return None

    def _make_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._forbid
        parser.EntityDeclHandler = self._forbid
        parser.ExternalEntityRefHandler = self._forbid
        return parser

    def _forbid(self, *declaration: object) -> int:
        raise ForbiddenXml(self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) == DEEPEST:
            raise DamagedDump("elements are nested too deeply", self._parser.CurrentLineNumber)
        self._path.append(name)
        parent = self._path[-2] if len(self._path) > 1 else ""
        if name == "page":
            self._page, self._oversized = {}, False
        elif name == "redirect" and parent == "page":
            self._page["redirect"] = attributes.get("title", "")
        elif name == "namespace":
            self._namespace_key = _integer(attributes.get("key", ""))
        self._target = _target(parent, name)
        self._pieces.clear()
        self._length = 0

    def _characters(self, data: str) -> None:
        if self._target is None:
            return
        limit = self._longest if self._target == "text" else LONGEST_SMALL_FIELD
        self._length += len(data)
        if self._length <= limit:
            self._pieces.append(data)
        elif self._target == "text":
            self._pieces.clear()
            self._oversized = True

    def _end(self, name: str) -> None:
        self._path.pop()
        if self._target is not None:
            self._keep(self._target, "".join(self._pieces))
            self._target = None
        elif name == "page":
            self._ready.append(self._finish())

    def _keep(self, target: str, value: str) -> None:
        if target == "database":
            self.site.database = value.strip()
        elif target == "base":
            self.site.base = value.strip()
        elif target == "namespace":
            if self._namespace_key is not None:
                self.site.namespaces[self._namespace_key] = value.strip()
        else:
            self._page[target] = value

    def _finish(self) -> Page:
        position, page = self._pages, self._page
        self._pages += 1
        text = page.get("text")
        return Page(
            position=position,
            title=page.get("title", "").strip(),
            page_id=page.get("id", "").strip(),
            namespace=_integer(page.get("ns", "0")),
            redirect=page.get("redirect"),
            text=text or None,
            oversized=self._oversized,
        )


_TARGETS = {
    ("siteinfo", "dbname"): "database",
    ("siteinfo", "base"): "base",
    ("namespaces", "namespace"): "namespace",
    ("page", "title"): "title",
    ("page", "ns"): "ns",
    ("page", "id"): "id",
    ("revision", "text"): "text",
}


def _target(parent: str, name: str) -> str | None:
    return _TARGETS.get((parent, name))


def _integer(text: str) -> int | None:
    text = text.strip()
    return (
        int(text)
        if len(text) < 10 and text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()
        else None
    )
