"""Format `wikipedia-dump`: the articles of a pages-articles XML dump, plain or compressed, in one or many files."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from irpretrain.config.base import Section, option
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import clean_line, identifier_fault
from irpretrain.foundation.errors import InputError, cli_or_api, naming_extras
from irpretrain.foundation.files import GET_AGAIN, refuse_packed
from irpretrain.foundation.pieces import Damage, Piece, offset_in_words, read_pieces
from irpretrain.foundation.progress import notice
from irpretrain.foundation.records import WHOLE_FILE, Document, Malformed, Redirect, Share, Skipped
from irpretrain.wikipedia.article import MAX_SECTIONS
from irpretrain.wikipedia.dump import DamagedHeader, ForbiddenXml, NoDump, SiteInfo, read_site
from irpretrain.wikipedia.guarded_parser import Failure, GuardedParser, Settings
from irpretrain.wikipedia.languages import (
    WikiLanguage,
    database_of,
    edition_of,
    language_code,
    names_are_known,
)
from irpretrain.wikipedia.names import Names
from irpretrain.wikipedia.pages import DAMAGED_ARCHIVE, DAMAGED_XML, Fault, Page, read_pages
from irpretrain.wikipedia.titles import TITLE_CASE, redirect_target
from irpretrain.wikipedia.wikitext.images import Part, Rendering

GIVE_A_DUMP = "Give a pages-articles dump: .xml, plain or as .bz2, .gz, .xz or .zst"

PARSERS = {
    "irpretrain": "irpretrain.wikipedia.wikitext:parse_article",
    "mwparserfromhell": "irpretrain.wikipedia.mwparserfromhell_parser:parse_article",
}
Record = Document | Redirect | Skipped | Malformed


class WikipediaDumpDocumentOptions(Section):
    """Options of the format wikipedia-dump."""

    wiki: str | None = option(
        None,
        "Database name of the wiki, such as enwiki, if the dump does not tell it.",
        pattern="[a-z0-9_]+",
    )
    id_prefix: str | None = option(
        None, "Document ids are <prefix>/<page id>; null: the wiki's database name."
    )
    longest_page: int = option(
        1_000_000,
        "Longer pages are skipped and counted.",
        unit="characters",
        ge=1,
    )
    page_seconds: float = option(
        60.0,
        "Limit of processor time per page; slower pages are skipped, counted and named.",
        unit="s",
        gt=0,
    )
    page_memory_mb: int = option(
        1000,
        "Limit of memory per page; pages that need more are skipped, counted and named.",
        unit="MB",
        ge=16,
    )
    leave_out: list[str] = option(
        [], "Pages to skip, as <file name>:<record>, such as a page that occurs twice."
    )
    keep: list[Part] = option(
        [], "Text to keep beside prose; tables have one line per row, galleries their captions."
    )
    formula_word: str = option(
        "",
        "Word in place of a formula that does not fit in a line; empty: nothing.",
        pattern=r"^[^\x00-\x1f]*$",
    )
    parser: Literal["irpretrain", "mwparserfromhell"] = option(
        "irpretrain",
        "Parser of wikitext. With mwparserfromhell, templates show nothing.",
    )
    names: Names = option(
        Names(),
        "Names added to those of the wiki's language and to the dump's namespaces; see "
        "docs/methods/wikipedia.md.",
    )

    def faults(self) -> Iterator[str]:
        if self.parser == "mwparserfromhell" and (self.keep or self.formula_word):
            yield "keep and formula_word have no effect with parser mwparserfromhell; remove them"


@dataclass(frozen=True, slots=True)
class Unparsed:
    """An article whose wikitext is yet to be parsed."""

    page: Page
    identifier: str


def read(path: Path, options: WikipediaDumpDocumentOptions, share: Share = WHOLE_FILE) -> Iterator[Record]:
    """Yield what a share of one file holds; a position is that of `<page>`, see `irpretrain.foundation.pieces`."""
    with naming_extras():  # here, not in the process that parses
        import_module(PARSERS[options.parser].partition(":")[0])
    header_site, fault = _read_site(path)
    if share.index == 0 and fault is not None:
        yield fault
    site, source = _with_database(path, header_site, options)
    if share.index == 0:
        if source:
            message = f"the dump does not say which wiki it is of: {site.database} is taken from {source}"
            notice(path.name, message)
        if fault is None:
            _log_unknown_names(path, site, options.names)
    language = WikiLanguage.of(site, options.names)
    rendering = Rendering(frozenset(options.keep), options.formula_word)
    settings = Settings(
        PARSERS[options.parser], (language, rendering), options.page_seconds, options.page_memory_mb
    )
    entries = _classified(path, site, language, options, share)
    headings = _Headings()
    with GuardedParser(settings) as parser:
        for entry, parse in parser.parse((entry, _wikitext(entry, language)) for entry in entries):
            record = _record(entry, parse, site) if isinstance(entry, Unparsed) else entry
            if isinstance(record, Document) and share.index == 0:
                headings.count(record)
            yield record
    if headings.match_few and names_are_known(language.code):
        notice(path.name, headings.warning())


# Of pages with headings in a share: so many are counted, fewer are not judged, and at least such a part of them has See
# Also lists or appendices by the names in languages.yaml (0.6 and more in the wikis that were counted).
_MAX_PAGES, _MIN_PAGES, _USUAL_SHARE = 10_000, 50, 0.25
# Headings that the warning names.
_NAMED_HEADINGS = 6


@dataclass(slots=True)
class _Headings:
    """How many pages have a heading of a known role, and the headings without one."""

    pages: int = 0
    matching: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def count(self, document: Document) -> None:
        headings = document.sections[1:]
        if not headings or self.pages == _MAX_PAGES:
            return
        self.pages += 1
        self.matching += any(section.role for section in headings)
        self.unknown.update(dict.fromkeys((s.heading for s in headings if not s.role), 1))

    @property
    def match_few(self) -> bool:
        return self.pages >= _MIN_PAGES and self.matching < _USUAL_SHARE * self.pages

    def warning(self) -> str:
        frequent = ", ".join(heading for heading, _ in self.unknown.most_common(_NAMED_HEADINGS))
        return (
            f"only {self.matching:,} of {self.pages:,} pages with headings have a See Also list or an appendix by the "
            f"names known of this wiki. Its most frequent other headings: {frequent}. Add those of lists and "
            "appendices by option `names` of the corpus (docs/corpora.md)"
        )


def _log_unknown_names(path: Path, site: SiteInfo, names: Names) -> None:
    """See Also lists that nobody looks for by their name are missed without a word; so there is one."""
    if names_are_known(language_code(site)) or names.see_also:
        return
    wiki = f"the wiki {site.database or site.base}" if site.database or site.base else "a wiki without a name"
    notice(
        path.name,
        f"no names of {wiki} are known: See Also headings, appendices and disambiguation templates are "
        "looked for by their English names. Add its own by option `names` of the corpus (docs/corpora.md)",
    )


def facts(path: Path, options: WikipediaDumpDocumentOptions) -> dict[str, str]:
    """Return the facts of a dump's wiki that later stages need: how titles are compared."""
    case = _with_database(path, _read_site(path)[0], options)[0].case
    return {TITLE_CASE: case} if case else {}


def _read_site(path: Path) -> tuple[SiteInfo, Malformed | None]:
    pieces = read_pieces(path, WHOLE_FILE)
    first_piece = next(pieces, None)
    if first_piece is None:
        raise InputError(path, "the file is empty", remedy=f"{GET_AGAIN}.")
    if isinstance(first_piece, Piece):
        refuse_packed(path, first_piece.text)
    try:
        return read_site(_beginning(chain([first_piece], pieces))), None
    except ForbiddenXml as error:
        remedy = "Dumps of Wikipedia never do; the file is not to be trusted."
        raise InputError(path, f"{error}, which is refused", error.line, remedy) from None
    except NoDump as error:
        raise InputError(path, f"this is not a dump: {error}", remedy=f"{GIVE_A_DUMP}.") from None
    except DamagedHeader as error:
        detail = f"before the first page: {error}"
        fault = Malformed(0, DAMAGED_XML, detail, remedy=GET_AGAIN, loses_more=True)
        return error.site, _at_location(path, fault)


def _with_database(path: Path, site: SiteInfo, options: WikipediaDumpDocumentOptions) -> tuple[SiteInfo, str]:
    """The site with a database name, and its source; "" if the dump has it.

    Raises:
        InputError: the wiki is unknown or contradicts the option; identifiers, addresses and names depend on it.
    """
    if site.database and options.wiki not in (None, site.database):
        raise InputError(
            path,
            f"the dump names the wiki {site.database} (<dbname>), but the option wiki is {options.wiki}",
            remedy=f"Remove the option wiki, or give a dump of {options.wiki}.",
        )
    if site.database:
        return site, ""
    code = language_code(site)
    edition = edition_of(site.language)
    for database, source in (
        (options.wiki, "the option wiki"),
        (database_of(code) if code else None, f"its address {site.base}"),
        (database_of(edition) if edition and not site.base else None, f"its xml:lang {site.language}"),
    ):
        if database:
            return replace(site, database=database, **_usual_site_values(site, database)), source
    damage = [piece for piece in islice(read_pieces(path, WHOLE_FILE), 2) if isinstance(piece, Damage)]
    raise InputError(
        path,
        f"{DAMAGED_ARCHIVE}: {damage[0].where} {damage[0].reason}; the name of the wiki (<dbname>) is lost"
        if damage
        else "the dump does not name its wiki (<dbname> in <siteinfo>); identifiers and names depend on it",
        remedy=cli_or_api(
            "Give its database name by the option wiki of the corpus, such as wiki: enwiki, or get the file again.",
            "Give its database name, such as --option wiki=enwiki, or get the file again.",
        ),
    )


def _usual_site_values(site: SiteInfo, database: str) -> dict[str, Any]:
    """What every Wikipedia has, where a dump describes nothing else."""
    code = language_code(SiteInfo(database))
    if site.base or not code:
        return {}
    return {"base": f"https://{code}.wikipedia.org/wiki/", "case": site.case or "first-letter"}


def _beginning(pieces: Iterable[Piece | Damage]) -> Iterator[bytes]:
    """Yield the text up to the first damage, which is reported by the share that it lies in."""
    for piece in pieces:
        if isinstance(piece, Damage):
            return
        yield piece.text


def _classified(
    path: Path, site: SiteInfo, language: WikiLanguage, options: WikipediaDumpDocumentOptions, share: Share
) -> Iterator[Record | Unparsed]:
    for page in read_pages(read_pieces(path, share), options.longest_page):
        if isinstance(page, Fault):
            fault = Malformed(
                page.position, page.reason, page.detail, remedy=GET_AGAIN, loses_more=page.loses_more
            )
            yield _at_location(path, fault)
        elif f"{path.name}:{page.position}" in options.leave_out:
            yield Skipped(page.position, "left out by the configuration", _name(page))
        else:
            entry = _classify(page, site, language, options)
            yield _at_location(path, entry) if isinstance(entry, Malformed) else entry


def _at_location(path: Path, fault: Malformed) -> Malformed:
    return replace(fault, location=offset_in_words(path, fault.position))


def _classify(
    page: Page, site: SiteInfo, language: WikiLanguage, options: WikipediaDumpDocumentOptions
) -> Record | Unparsed:
    if not re.fullmatch("[0-9]{1,18}", page.page_id) or not page.title:
        return Malformed(page.position, "page without title or id", repr(page.title[:80]))
    if language.in_other_namespace(page.title) if page.namespace is None else page.namespace != 0:
        return Skipped(page.position, "not in the article namespace", location=_name(page))
    if (target := redirect_target(page.text, page.redirect, language.redirects)) is not None:
        if not target[0]:
            return Skipped(page.position, "redirect without a target", location=_name(page))
        title, fragment = map(clean_line, target)
        return Redirect(page.position, clean_line(page.title), language.with_dotted_capital(title), fragment)
    if page.oversized:
        return Skipped(page.position, "page too long", _name(page))
    if page.model not in ("", "wikitext"):
        return Skipped(page.position, "no wikitext", f"{_name(page)}: {clean_line(page.model[:40])}")
    if page.text is None:
        return Skipped(page.position, "deleted text" if page.deleted else "empty text", location=_name(page))
    identifier = f"{options.id_prefix or site.database}/{page.page_id}"
    if fault := identifier_fault(identifier):
        return Malformed(page.position, "bad identifier", fault)
    return Unparsed(page, identifier)


def _wikitext(entry: Record | Unparsed, language: WikiLanguage) -> str | None:
    if not isinstance(entry, Unparsed) or entry.page.text is None:
        return None
    return language.with_page_names(entry.page.text, entry.page.title)


def _record(article: Unparsed, parse: Any, site: SiteInfo) -> Document | Skipped:
    page = article.page
    if isinstance(parse, Failure):
        return Skipped(page.position, "page cannot be parsed", f"{_name(page)}: {parse.reason}")
    if (count := len(parse.sections)) > MAX_SECTIONS:
        detail = f"{_name(page)}: {count:,} sections, more than {MAX_SECTIONS:,}"
        return Skipped(page.position, "too many sections", detail)
    if not parse.text:
        return Skipped(page.position, "empty document", location=_name(page), document_id=article.identifier)
    return Document(
        position=page.position,
        document_id=article.identifier,
        title=clean_line(page.title),
        url=_address(page.title, site),
        body=parse.text,
        sections=parse.sections,
        links=parse.links,
        disambiguation=parse.disambiguation,
        parts=parse.parts,
    )


def _name(page: Page) -> str:
    return f"{page.title[:80]!r} (page id {page.page_id})"


def _address(title: str, site: SiteInfo) -> str:
    if "/" not in site.base:
        return ""
    base_path, query, _ = site.base.partition("?title=")  # of wikis without short addresses
    start = base_path + query if query else site.base.rsplit("/", 1)[0] + "/"
    return start + quote(title.replace(" ", "_"), safe="/:(),;'!*@&=+$~._-")


DOCUMENTS = Format(WikipediaDumpDocumentOptions, read, suffixes=(".xml",), facts=facts)
