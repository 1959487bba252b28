"""From the wikitext of a page to what the document table holds of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from irpretrain.corpora.characters import clean_text
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article

Parser = Callable[[str], "ParsedPage"]


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """An article, and whether it only lists articles of like name."""

    article: Article
    disambiguation: bool


def article_parser(site: SiteInfo) -> Parser:
    """Return the parser of one wiki's pages."""
    language = WikiLanguage.of(site)

    def parse(wikitext: str) -> ParsedPage:
        wikitext = clean_text(wikitext)
        article = parse_article(wikitext, language)
        # Entities of wikitext can bring in what tables must not hold; offsets stay what they are.
        text = clean_text(article.text.replace("\r", " "))
        if text != article.text:
            article = replace(article, text=text)
        return ParsedPage(article, language.is_disambiguation(wikitext))

    return parse
