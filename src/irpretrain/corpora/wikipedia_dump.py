"""Format `wikipedia-dump`: the articles of a pages-articles XML dump, plain or compressed, in one or many files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.corpora.characters import clean_line, identifier_fault
from irpretrain.corpora.pieces import Damage, byte_of, place_in_words, read_pieces
from irpretrain.corpora.records import Document, Malformed, Redirect, Share, Skipped, everything
from irpretrain.errors import InputError
from irpretrain.wikipedia.article import MOST_SECTIONS
from irpretrain.wikipedia.dump import DamagedHeader, ForbiddenXml, SiteInfo, read_site
from irpretrain.wikipedia.guarded_parser import GuardedParser
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.multistream_index import pages_around
from irpretrain.wikipedia.names import Names
from irpretrain.wikipedia.pages import DAMAGED_ARCHIVE, Fault, Page, read_pages
from irpretrain.wikipedia.parse_worker import Failure, Settings
from irpretrain.wikipedia.redirect_target import redirect_target
from irpretrain.wikipedia.titles import TITLE_CASE

SUFFIXES = (".xml",)
PARSER = "irpretrain.wikipedia.article_parser:article_parser"
Record = Document | Redirect | Skipped | Malformed


class Options(Section):
    """Options of the format wikipedia-dump."""

    id_prefix: str | None = Field(
        None,
        description="Documents are called <prefix>/<page id>; null takes the dump's database name, such as enwiki.",
    )
    longest_page: int = Field(
        1_000_000,
        ge=1,
        description="Longer pages are skipped and counted; no article of Wikipedia is so long.",
        json_schema_extra={"unit": "characters"},
    )
    page_seconds: float = Field(
        60.0,
        gt=0,
        description="Processor time for parsing one page; a page that takes more is skipped, counted and named.",
        json_schema_extra={"unit": "s"},
    )
    page_memory_mb: int = Field(
        1000,
        ge=16,
        description="Memory for parsing one page; a page that takes more is skipped, counted and named.",
        json_schema_extra={"unit": "MB"},
    )
    leave_out: list[str] = Field(
        default_factory=list,
        description="Pages that are skipped and counted, each as <file name>:<record>. For a page that a dump holds "
        "twice: the check of the collection refuses it and names its places.",
    )
    names: Names = Field(
        default_factory=Names,
        description="Names of the wiki that are added to those known of its language and to the namespaces that the "
        "dump lists; see docs/methods/wikipedia.md.",
    )


@dataclass(frozen=True, slots=True)
class _ToParse:
    """An article whose wikitext goes to the parser."""

    page: Page
    identifier: str


def read(path: Path, options: Options, share: Share = everything) -> Iterator[Record]:
    """Yield what a share of one file holds; a position is the place of `<page>`, see `irpretrain.corpora.pieces`."""
    site, faults = _site(path)
    if share.number == 0:
        yield from faults
    language = WikiLanguage.of(site, options.names)
    settings = Settings(PARSER, language, options.page_seconds, options.page_memory_mb)
    with GuardedParser(settings) as parser:
        for found, parsed in parser.parse(_classified(path, site, language, options, share), _wikitext):
            yield _record(found, parsed, site) if isinstance(found, _ToParse) else found


def facts(path: Path) -> dict[str, str]:
    """Return what a dump says of its wiki that later stages must know: how titles are compared."""
    case = _site(path)[0].case
    return {TITLE_CASE: case} if case else {}


def _site(path: Path) -> tuple[SiteInfo, list[Malformed]]:
    try:
        return read_site(_beginning(path)), []
    except ForbiddenXml as error:
        remedy = "Dumps of Wikipedia never do; the file is not to be trusted."
        raise InputError(path, f"{error}, which is refused", error.line, remedy) from None
    except DamagedHeader as error:
        return error.site, [Malformed(0, "damaged XML", f"before the first page: {error}")]


def _beginning(path: Path) -> Iterator[bytes]:
    """Yield the text up to the first damage, which is reported by the share that it lies in."""
    for piece in read_pieces(path, everything):
        if isinstance(piece, Damage):
            return
        yield piece.text


def _classified(
    path: Path, site: SiteInfo, language: WikiLanguage, options: Options, share: Share
) -> Iterator[Record | _ToParse]:
    for page in read_pages(read_pieces(path, share), options.longest_page):
        if isinstance(page, Fault):
            yield _malformed(path, page)
        elif f"{path.name}:{page.position}" in options.leave_out:
            yield Skipped(page.position, "left out by the configuration", _name(page))
        else:
            yield _classify(page, site, language, options)


def _malformed(path: Path, fault: Fault) -> Malformed:
    detail = fault.detail
    if fault.reason == DAMAGED_ARCHIVE and (titles := pages_around(path, byte_of(path, fault.position))):
        detail += f"; {len(titles)} pages are there by the index, {titles[0]!r} to {titles[-1]!r}"
    return Malformed(fault.position, fault.reason, detail, place=place_in_words(path, fault.position))


def _classify(page: Page, site: SiteInfo, language: WikiLanguage, options: Options) -> Record | _ToParse:
    if page.namespace is None or not page.page_id.isdigit() or not page.title:
        return Malformed(page.position, "page without title, id or namespace", repr(page.title[:80]))
    if page.namespace != 0:
        return Skipped(page.position, "not in the article namespace")
    if (target := redirect_target(page.text, page.redirect, language.redirects)) is not None:
        if not target[0]:
            return Skipped(page.position, "redirect without a target")
        return Redirect(page.position, clean_line(page.title), *map(clean_line, target))
    if page.oversized:
        return Skipped(page.position, "page too long", _name(page))
    if page.text is None:
        return Skipped(page.position, "deleted text" if page.deleted else "empty text")
    identifier = f"{options.id_prefix or site.database or 'wiki'}/{page.page_id}"
    if fault := identifier_fault(identifier):
        return Malformed(page.position, "bad identifier", fault)
    return _ToParse(page, identifier)


def _wikitext(found: Record | _ToParse) -> str | None:
    return found.page.text if isinstance(found, _ToParse) else None


def _record(found: _ToParse, parsed: Any, site: SiteInfo) -> Document | Skipped:
    page = found.page
    if isinstance(parsed, Failure):
        return Skipped(page.position, "page cannot be parsed", f"{_name(page)}: {parsed.reason}")
    if (count := len(parsed.article.sections)) > MOST_SECTIONS:
        detail = f"{_name(page)}: {count:,} sections, more than {MOST_SECTIONS:,}"
        return Skipped(page.position, "too many sections", detail)
    if not parsed.article.text:
        return Skipped(page.position, "empty document")
    return Document(
        position=page.position,
        document_id=found.identifier,
        title=clean_line(page.title),
        url=_address(page.title, site),
        body=parsed.article.text,
        sections=parsed.article.sections,
        links=parsed.article.links,
        disambiguation=parsed.disambiguation,
    )


def _name(page: Page) -> str:
    return f"{page.title[:80]!r} (page id {page.page_id})"


def _address(title: str, site: SiteInfo) -> str:
    if "/" not in site.base:
        return ""
    return site.base.rsplit("/", 1)[0] + "/" + quote(title.replace(" ", "_"), safe="/:(),;'!*@&=+$~._-")
