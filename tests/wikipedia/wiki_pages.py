"""Pages of Wikipedias, as tests write and see them."""

from functools import cache

from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article


@cache
def wiki(code: str) -> WikiLanguage:
    """The language of an edition, by a dump that says nothing but its name."""
    return WikiLanguage.of(SiteInfo(f"{code.replace('-', '_')}wiki"))


ENGLISH = wiki("en")


def text_of(wikitext: str, language: WikiLanguage = ENGLISH) -> str:
    """What a reader sees of a page that shows prose alone."""
    return parse_article(wikitext, language).text


def anchors_of(article: Article) -> list[tuple[str, str]]:
    """(anchor, title with fragment) of each link."""
    return [
        (article.text[link.start : link.end], link.target + ("#" + link.fragment if link.fragment else ""))
        for link in article.links
    ]


def links_of(wikitext: str, language: WikiLanguage = ENGLISH) -> list[tuple[str, str]]:
    """The same of a page."""
    return anchors_of(parse_article(wikitext, language))
