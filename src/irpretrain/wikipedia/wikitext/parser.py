"""The steps from wikitext to an article. Each is one pass over the text, so that time is linear in its length."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irpretrain.corpora.characters import clean_text
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.wikitext.assembly import assemble
from irpretrain.wikipedia.wikitext.definitions import split_definitions
from irpretrain.wikipedia.wikitext.entities import decode_entities
from irpretrain.wikipedia.wikitext.hidden import remove_hidden
from irpretrain.wikipedia.wikitext.inline import (
    choose_variants,
    remove_magic_words,
    remove_quotes,
    remove_tags,
)
from irpretrain.wikipedia.wikitext.lines import join_lines, mark_headings, remove_line_marks, remove_tables
from irpretrain.wikipedia.wikitext.links import mark_links
from irpretrain.wikipedia.wikitext.raised import write_raised
from irpretrain.wikipedia.wikitext.rendering import Parts, Rendering

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage

# Prose alone.
PROSE = Rendering()


def parse_article(wikitext: str, language: WikiLanguage, rendering: Rendering = PROSE) -> Article:
    """Return the plain text, sections and links of a page's wikitext.

    Never fails: markup that is not balanced is text. docs/methods/wikipedia.md ("Plain text") says what is shown.
    """
    return parse_clean(clean_text(wikitext), language, rendering)


def parse_clean(wikitext: str, language: WikiLanguage, rendering: Rendering = PROSE) -> Article:
    """Do the same for a text of `clean_text`."""
    parts = Parts(rendering, language.images)
    text = remove_hidden(f"\n{wikitext}\n", language.templates, parts)
    text = remove_tables(text, parts)
    text = mark_headings(remove_magic_words(text, parts))
    text = split_definitions(text)
    text = choose_variants(text, language.code)
    text = remove_tags(text)
    text, targets = mark_links(text, language, parts)
    text = remove_line_marks(text)
    text = write_raised(text)
    text = remove_quotes(text)
    text = join_lines(text)
    text = decode_entities(text)
    article = assemble(text, targets, language)
    if not (parts.counts or parts.disambiguation):
        return article
    return replace(article, parts=dict(parts.counts), disambiguation=parts.disambiguation)
