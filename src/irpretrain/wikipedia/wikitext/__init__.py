"""Wikitext to plain text with sections and links: `parse_article`.

Each step is one pass over the text, so that time is linear in its length whatever it holds.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from irpretrain.foundation.characters import clean_text
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.wikitext.assembly import assemble
from irpretrain.wikipedia.wikitext.hidden import remove_hidden
from irpretrain.wikipedia.wikitext.images import PageRendering, Rendering
from irpretrain.wikipedia.wikitext.inline import (
    choose_variants,
    decode_entities,
    remove_magic_words,
    remove_quotes,
    remove_tags,
    write_raised,
)
from irpretrain.wikipedia.wikitext.lines import join_lines, mark_headings, remove_line_marks, remove_tables
from irpretrain.wikipedia.wikitext.links import ADDRESS, mark_links
from irpretrain.wikipedia.wikitext.marks import NOTHING

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage


# Prose alone.
PROSE = Rendering()


def parse_article(wikitext: str, language: WikiLanguage, rendering: Rendering = PROSE) -> Article:
    """Return the plain text, sections and links of a page's wikitext.

    Never fails: markup that is not balanced is text. docs/methods/wikipedia.md ("Plain text") says what is shown.
    """
    page = PageRendering(rendering, language.images)
    text = remove_hidden(f"\n{clean_text(wikitext)}\n", language.templates, page)
    text = remove_tables(text, page)
    text = mark_headings(remove_magic_words(text, language, page))
    text = split_definitions(text)
    text = choose_variants(text, language.code)
    text = remove_tags(text)
    text, targets = mark_links(text, language, page)
    text = remove_line_marks(text)
    text = write_raised(text)
    text = remove_quotes(text)
    text = join_lines(text)
    text = decode_entities(text)
    article = assemble(text, targets, language)
    return replace(article, parts=dict(page.counts), disambiguation=page.disambiguation)


# Terms and their definitions in a line: `; term : definition`.
#
# MediaWiki's rule (`BlockLevelPass::findColonNoLinks`): the first colon ends the term that stands in no link, tag,
# bold, italics or variant. Where one of these is not closed, no colon does.

_TERM = re.compile(r"\n([*#:;]*+)(?<=;)[^\n]*")
_VOID = "br|hr|wbr|img|meta|link"
# With links in it: the caption of a file.
_LINK = r"\[\[(?>(?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\])*)\]\]"
_TOKEN = re.compile(
    rf"{_LINK}|\[{ADDRESS}[^\]\n]*+\]|{ADDRESS}|<(?:{_VOID})(?=[\s/>])[^<>]*+>|<[^<>]*/>"
    r"|(<[a-zA-Z][^<>]*+>|-\{)|(</[a-zA-Z][^<>]*+>|\}-)|('{2,5})|:",
    re.IGNORECASE,
)
_OPENING, _CLOSING, _QUOTES = 1, 2, 3


def split_definitions(text: str) -> str:
    """Return `text` with a space in place of the colon between a term and its definition."""
    return _TERM.sub(_split, text) if ";" in text else text


def _split(term_line: re.Match[str]) -> str:
    depth, quote_state = 0, 0
    for token in _TOKEN.finditer(term_line[0], 1 + len(term_line[1])):
        token_kind = token.lastindex
        if token_kind == _QUOTES:
            quote_state ^= {2: 1, 3: 2, 4: 2, 5: 3}[len(token[0])]
        elif token_kind == _OPENING:
            depth += 1
        elif token_kind == _CLOSING:
            depth = max(0, depth - 1)
        elif token[0][-1] == ":" and not depth and not quote_state:  # a colon alone, or behind an address
            return f"{term_line[0][: token.end() - 1]} {NOTHING}{term_line[0][token.end() :]}"
    return term_line[0]
