"""From the wikitext of a page to what the document table holds of it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import starmap
from operator import attrgetter
from typing import Any

from irpretrain.wikipedia.article import Article, Link, Section
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.rendering import Rendering

Parser = Callable[[str], "ParsedPage"]


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """An article, and whether it only lists articles of like name."""

    article: Article
    disambiguation: bool

    def __reduce__(self) -> tuple[object, ...]:
        # As plain tuples: pickling each section and link by itself would cost more than the rest of the way.
        article = self.article
        sections, links = list(map(_SECTION, article.sections)), list(map(_LINK, article.links))
        return _unpack, (article.text, sections, links, article.parts, self.disambiguation)


_SECTION = attrgetter("level", "heading", "start", "end", "role")
_LINK = attrgetter("target", "fragment", "start", "end", "section")


def _unpack(
    text: str, sections: list[Any], links: list[Any], parts: dict[str, int], disambiguation: bool
) -> ParsedPage:
    article = Article(text, tuple(starmap(Section, sections)), tuple(starmap(Link, links)), parts)
    return ParsedPage(article, disambiguation)


def article_parser(argument: tuple[WikiLanguage, Rendering]) -> Parser:
    """Return the parser of one wiki's pages, which shows what the rendering keeps."""
    language, rendering = argument

    def parse(wikitext: str) -> ParsedPage:
        return ParsedPage(parse_article(wikitext, language, rendering), language.is_disambiguation(wikitext))

    return parse
