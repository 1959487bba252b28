"""Format `wikipedia-dump`: the articles of a pages-articles XML dump, plain or compressed, in one or many files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.corpora.characters import clean_line, identifier_fault
from irpretrain.corpora.files import DAMAGE, open_bytes, refuse_if_disk_fault
from irpretrain.corpora.records import Document, Malformed, Skipped, Wanted, everything
from irpretrain.errors import InputError
from irpretrain.wikipedia.dump import DamagedDump, DumpReader, ForbiddenXml, Page, SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article

SUFFIXES = (".xml",)
_REDIRECT = re.compile(r"\s*#REDIRECT\s*:?\s*\[\[", re.IGNORECASE)


class Options(Section):
    """Options of the format wikipedia-dump."""

    id_prefix: str | None = Field(
        None,
        description="Documents are called <prefix>/<page id>; null takes the dump's database name, such as enwiki.",
    )
    longest_page: int = Field(
        1_000_000,
        ge=1,
        description="Longer pages are skipped and counted: the parser's cost can explode on them.",
        json_schema_extra={"unit": "characters"},
    )


def read(
    path: Path, options: Options, wanted: Wanted = everything
) -> Iterator[Document | Skipped | Malformed]:
    """Yield the articles of one file; a position counts all pages of the file from 0."""
    with open_bytes(path) as stream:
        reader = DumpReader(stream, options.longest_page)
        position, language = 0, None
        try:
            for page in reader.pages():
                language = language or WikiLanguage.of(reader.site)  # siteinfo comes before the first page
                position = page.position + 1
                if wanted(page.position):
                    yield _document(page, reader.site, language, options)
        except ForbiddenXml as error:
            remedy = "Dumps of Wikipedia never do; the file is not to be trusted."
            raise InputError(path, f"{error}, which is refused", error.line, remedy) from None
        except DamagedDump as error:
            if wanted(position):
                yield Malformed(
                    position, "damaged XML", f"{error.reason}, after {position:,} pages", error.line
                )
        except DAMAGE as error:
            refuse_if_disk_fault(path, error)
            if wanted(position):
                yield Malformed(position, "damaged archive", f"{error}, after {position:,} pages")


def _document(
    page: Page, site: SiteInfo, language: WikiLanguage, options: Options
) -> Document | Skipped | Malformed:
    if page.namespace is None or not page.page_id.isdigit() or not page.title:
        return Malformed(page.position, "page without title, id or namespace", repr(page.title[:80]))
    if page.namespace != 0:
        return Skipped(page.position, "not in the article namespace")
    if page.redirect is not None or (page.text is not None and _REDIRECT.match(page.text)):
        return Skipped(page.position, "redirect")
    if page.oversized:
        return Skipped(page.position, "page too large")
    if page.text is None:
        return Skipped(page.position, "deleted or empty text")
    identifier = f"{options.id_prefix or site.database or 'wiki'}/{page.page_id}"
    if fault := identifier_fault(identifier):
        return Malformed(page.position, "bad identifier", fault)
    body = parse_article(page.text, language).text
    if not body:
        return Skipped(page.position, "empty document")
    return Document(page.position, identifier, clean_line(page.title), _address(page.title, site), body)


def _address(title: str, site: SiteInfo) -> str:
    if "/" not in site.base:
        return ""
    return site.base.rsplit("/", 1)[0] + "/" + quote(title.replace(" ", "_"), safe="/:(),;'!*@&=+$~._-")
