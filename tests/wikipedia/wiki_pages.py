"""Pages of the English Wikipedia, as tests write and see them."""

from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article

ENGLISH = WikiLanguage.of(SiteInfo("enwiki"))


def article_of(wikitext: str, language: WikiLanguage = ENGLISH) -> Article:
    """The article of a page that shows prose alone."""
    return parse_article(wikitext, language)


def text_of(wikitext: str, language: WikiLanguage = ENGLISH) -> str:
    """What a reader sees of a page."""
    return article_of(wikitext, language).text


def links_of(wikitext: str, language: WikiLanguage = ENGLISH) -> list[tuple[str, str]]:
    """(anchor, title with fragment) of each link."""
    article = article_of(wikitext, language)
    return [
        (article.text[link.start : link.end], link.target + ("#" + link.fragment if link.fragment else ""))
        for link in article.links
    ]
