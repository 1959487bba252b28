"""Wikitext read by mwparserfromhell, for who wants its reading of markup: prose, sections and links as our parser has
them; templates, tables and files show nothing.
"""

import re
from dataclasses import replace
from typing import Any

import mwparserfromhell

from irpretrain.foundation.characters import clean_text
from irpretrain.wikipedia import wikitext as own_parser
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext.assembly import assemble
from irpretrain.wikipedia.wikitext.images import Rendering
from irpretrain.wikipedia.wikitext.lines import join_lines, remove_line_marks
from irpretrain.wikipedia.wikitext.links import Target, read_target
from irpretrain.wikipedia.wikitext.marks import ANCHOR, ANCHOR_END, BREAK, DROPPED, HEADING

# Elements that show no prose.
SKIPPED_TAGS = frozenset((
    "ref", "references", "table", "gallery", "math", "timeline", "source", "syntaxhighlight", "score",
    "imagemap",
))  # fmt: skip


def parse_article(wikitext: str, language: WikiLanguage, rendering: Rendering) -> Article:
    """Return what our own parser would (`irpretrain.wikipedia.wikitext`); the rendering has no effect."""
    page = _Page(language)
    text = page.render(mwparserfromhell.parse(clean_text(wikitext)))
    text = join_lines(remove_line_marks(f"\n{text}\n"))
    # What a page is needs no reading of its tree.
    disambiguation = own_parser.parse_article(wikitext, language).disambiguation
    return replace(assemble(text, page.targets, language), disambiguation=disambiguation)


class _Page:
    """What is shown of a page's tree, with the marks of `irpretrain.wikipedia.wikitext.marks`."""

    def __init__(self, language: WikiLanguage) -> None:
        self.language = language
        self.targets: list[Target] = []
        self._trail = re.compile(f"[{language.link_trail}]*" if language.link_trail else "")

    def render(self, code: Any) -> str:
        pieces: list[str] = []
        for node in code.nodes if code is not None else ():
            node_type = type(node).__name__
            if node_type == "Text":
                text = str(node)
                if pieces and pieces[-1].endswith(ANCHOR_END) and (trail := self._trail.match(text)):
                    pieces[-1] = pieces[-1].removesuffix(ANCHOR_END) + trail[0] + ANCHOR_END
                    text = text[trail.end() :]
                pieces.append(text)
            elif node_type == "HTMLEntity":
                pieces.append(clean_text(node.normalize() or ""))
            elif node_type == "Heading":
                title = " ".join(self.render(node.title).split())
                pieces.append(f"\n\n{HEADING}{node.level}{title}\n")
            elif node_type == "Wikilink":
                pieces.append(self._link(node))
            elif node_type == "ExternalLink":
                pieces.append(self.render(node.title) if node.brackets else str(node.url))
            elif node_type == "Tag":
                pieces.append(self._tag(node))
            elif node_type == "Template":
                pieces.append(DROPPED)
        return "".join(pieces)

    def _link(self, node: Any) -> str:
        target_text = str(node.title)
        target_kind, target = read_target(target_text, self.language, node.text is not None)
        if target_kind == "hidden":
            return DROPPED
        label = self.render(node.text) if node.text is not None else target_text.strip().removeprefix(":")
        label = " ".join(label.split())
        if target is None or not label.strip(DROPPED) or ANCHOR in label:  # a link in a link is the link
            return label
        self.targets.append(target)
        return f"{ANCHOR}{label}{ANCHOR_END}"

    def _tag(self, node: Any) -> str:
        name = str(node.tag).strip().lower()
        if name in SKIPPED_TAGS:
            return DROPPED
        if name == "br":
            return BREAK
        if node.wiki_markup and node.self_closing:  # of list items, rules
            return str(node.wiki_markup)
        return self.render(node.contents)
