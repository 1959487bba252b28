"""From the wikitext of a page to what the document table holds of it."""

from collections.abc import Callable

from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.images import Rendering

Parser = Callable[[str], Article]


def article_parser(argument: tuple[WikiLanguage, Rendering]) -> Parser:
    """Return the parser of one wiki's pages, which shows what the rendering keeps."""
    language, rendering = argument
    return lambda wikitext: parse_article(wikitext, language, rendering)
