"""What a pages-articles XML dump says of its wiki before the first page; entities are refused.

The format is https://www.mediawiki.org/xml/export-0.10/ (0.3 to 0.11 differ in nothing that is read here).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, cast
from xml.parsers import expat

from irpretrain.foundation.characters import without_marks
from irpretrain.wikipedia.titles import TitleCase

# Characters of a name that are kept; the rest of a longer one is dropped.
LONGEST_FIELD = 10_000
_PAGE = b"<page>"
# Bytes of a dump in which its first page is looked for.
LONGEST_HEADER = 16 << 20
# What the beginning of a damaged dump has in it.
_TAGS = (b"<mediawiki", _PAGE)
# Bytes that a user is shown of a file that is no dump.
SHOWN_BYTES = 20


@dataclass
class SiteInfo:
    """What the dump says of its wiki, empty where it does not say it."""

    database: str = ""  # such as enwiki
    base: str = ""  # address of the main page
    case: TitleCase | Literal[""] = ""
    namespaces: dict[int, str] = field(default_factory=dict)  # their names by number
    language: str = ""  # code of the language, from `xml:lang`


class ForbiddenXml(Exception):
    """The XML declares a document type or entities, which no dump does and attacks do."""

    def __init__(self, line: int) -> None:
        super().__init__("the XML declares a document type or entities")
        self.line = line


class DamagedHeader(Exception):
    """What stands before the first page is damaged; `site` is what could be read."""

    def __init__(self, site: SiteInfo, reason: str) -> None:
        super().__init__(reason)
        self.site = site


class NoDump(Exception):
    """The file is something else: a web page, JSON, SQL, another kind of XML."""


def read_site(pieces: Iterable[bytes]) -> SiteInfo:
    """Return what a dump, which comes in pieces from its beginning, says before its first page.

    Raises:
        ForbiddenXml: a document type or entity declaration.
        NoDump: the file begins as no dump does.
        DamagedHeader: broken XML, or an encoding other than UTF-8.
    """
    text = b""
    for piece in pieces:
        text += piece
        if _PAGE in text or len(text) > LONGEST_HEADER:
            break
    text = without_marks(text)
    _refuse_foreign(text)
    header = _Header()
    try:
        header.parse(text.partition(_PAGE)[0])
    except expat.ExpatError as error:
        raise DamagedHeader(header.site, f"{expat.ErrorString(error.code)} in line {error.lineno}") from None
    return header.site


def _refuse_foreign(text: bytes) -> None:
    start = text[:LONGEST_FIELD].lstrip()
    if not start or start.startswith(b"<") or any(tag in text for tag in _TAGS):
        return
    line = start.splitlines()[0][:SHOWN_BYTES]
    is_text = line.isascii() and line.decode().isprintable()
    raise NoDump(
        f"this is not XML; it begins with {repr(line.decode()) if is_text else start[:SHOWN_BYTES].hex(' ')}"
    )


class _Header:
    def __init__(self) -> None:
        self.site = SiteInfo()
        self._text = ""
        self._namespace_number: int | None = None
        self._root = ""
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._document_type
        parser.EntityDeclHandler = self._forbid
        parser.XmlDeclHandler = self._check_encoding

    def parse(self, text: bytes) -> None:
        self._parser.Parse(text, False)

    def _document_type(
        self, name: str, system: str | None, public: str | None, has_internal_subset: int
    ) -> None:
        if name.lower() == "html" and not has_internal_subset:
            raise NoDump("this is a web page (HTML)")
        self._forbid()

    def _forbid(self, *declaration: object) -> None:
        raise ForbiddenXml(self._parser.CurrentLineNumber)

    def _check_encoding(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8"):
            raise DamagedHeader(self.site, f"the encoding is {encoding}, not UTF-8")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._text = ""
        if not self._root:
            self._root = name
            if name != "mediawiki":
                raise NoDump(f"this begins with <{name[:40]}>, not with <mediawiki>")
            self.site.language = attributes.get("xml:lang", "")[:40]
        if name == "page":  # else it would be passed over in silence
            raise DamagedHeader(self.site, "the tag <page> has attributes, which no dump has")
        if name == "title":  # likewise; <siteinfo> has none
            raise DamagedHeader(self.site, "a <title> stands outside of <page>")
        if name == "namespace":
            self._namespace_number = integer(attributes.get("key", ""))

    def _characters(self, data: str) -> None:
        if len(self._text) < LONGEST_FIELD:
            self._text = (self._text + data)[:LONGEST_FIELD]

    def _end(self, name: str) -> None:
        value = self._text.strip()
        if name == "dbname":
            self.site.database = value
        elif name == "base":
            self.site.base = value
        elif name == "case" and value in ("first-letter", "case-sensitive"):
            self.site.case = cast(TitleCase, value)
        elif name == "namespace" and self._namespace_number is not None:
            self.site.namespaces[self._namespace_number] = value
        self._text = ""


def integer(text: str) -> int | None:
    """Return the number that `text` is, or None."""
    text = text.strip()
    return int(text) if len(text) < 10 and re.fullmatch("-?[0-9]+", text) else None
