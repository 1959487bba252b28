"""Headings, links and See Also lists of the embedded excerpt against mwparserfromhell, an independent parser.

The classes of difference and their counts are explained in docs/methods/wikipedia.md, "Against an independent parser".
"""

import html
import re
from collections import Counter
from dataclasses import dataclass, field

import mwparserfromhell
import pytest

from irpretrain.wikipedia.wikitext import parse_article

DROPPED = {
    "ref",
    "references",
    "table",
    "gallery",
    "math",
    "timeline",
    "source",
    "includeonly",
    "section",
    "hr",
}


@dataclass
class Reference:
    """What mwparserfromhell finds in a page, with links recursively."""

    headings: list = field(default_factory=list)  # (level, text)
    links: list = field(default_factory=list)  # (title, anchor)
    in_templates: list = field(default_factory=list)  # the same, in arguments of templates
    see_also: list = field(default_factory=list)  # titles, also of a list in columns

    def walk(self, code, template=""):
        nodes = list(code.nodes) if code is not None else []
        for place, node in enumerate(nodes):
            kind = type(node).__name__
            if kind == "Wikilink":
                self.link(node, str(nodes[place + 1]) if place + 1 < len(nodes) else "", template)
            elif kind == "Heading":
                self.headings.append((node.level, visible(node.title)))
                self.walk(node.title, template)
            elif kind == "ExternalLink":
                self.walk(node.title, template)
            elif kind == "Tag" and str(node.tag).strip().lower() not in DROPPED:
                self.walk(node.contents, template)
            elif kind == "Template":
                for parameter in node.params:
                    self.walk(parameter.value, template or str(node.name).strip().lower())
        return self

    def link(self, node, following, template):
        written = html.unescape(str(node.title)).replace("_", " ")
        if re.match(r"\s*(file|image|category)\s*:", written, re.IGNORECASE):
            return
        anchor = visible(node.text) if node.text is not None else " ".join(written.split()).removeprefix(":")
        anchor += re.match("[a-z]*", following)[0]
        title = "#".join(" ".join(part.split()).removeprefix(":") for part in written.split("#"))
        if template:
            self.in_templates.append((title, anchor))
        else:
            self.links.append((title, anchor))
            self.walk(node.text, template)
        under = self.headings[-1][1].lower() if self.headings else ""
        if under == "see also" and template in ("", "columns-list") and not elsewhere(title):
            self.see_also.append(title)


def visible(code):
    """The text that a reader sees, on one line."""
    pieces = []
    for node in code.nodes if code is not None else ():
        kind = type(node).__name__
        if kind == "Text":
            pieces.append(re.sub("'{2,}", "", str(node)))
        elif kind == "HTMLEntity":
            pieces.append(node.normalize())
        elif kind == "Wikilink":
            pieces.append(visible(node.text or node.title))
        elif kind == "Tag":
            pieces.append(" " if node.self_closing else visible(node.contents))
        elif kind == "ExternalLink":
            pieces.append(visible(node.title) if node.title else str(node.url))
    return " ".join("".join(pieces).split())


@pytest.fixture(scope="module")
def pairs(excerpt):
    """Our article and the reference of each page."""
    pages, language = excerpt
    return [
        (
            parse_article(text, language),
            Reference().walk(mwparserfromhell.parse(text, skip_style_tags=True)),
        )
        for _, text in pages
    ]


def ours(article):
    return Counter(
        (link.target + ("#" + link.fragment if link.fragment else ""), article.text[link.start : link.end])
        for link in article.links
    )


def test_headings_are_the_same(pairs):
    count = 0
    for article, reference in pairs:
        assert [(part.level, part.heading) for part in article.sections[1:]] == reference.headings
        count += len(reference.headings)
    assert count == 2261


def test_links_are_the_same_but_for_classes_that_are_explained(pairs):
    classes, unexplained = Counter(), []
    for article, reference in pairs:
        mine, theirs = ours(article), Counter(reference.links)
        quoted = Counter(reference.in_templates)
        more, less = mine - theirs, theirs - mine
        classes["the same"] += (mine & theirs).total()
        classes["inside a template that is shown"] += (more & quoted).total()
        more -= quoted
        for title, anchor in less.elements():
            completed = next((link for link in more if link[0] == title and link[1].startswith(anchor)), None)
            if elsewhere(title):
                classes["to another wiki or namespace"] += 1
            elif completed:
                classes["a template that is shown inside the anchor"] += 1
                more[completed] -= 1
            else:
                unexplained.append((title, anchor))
        for title, anchor in more.elements():
            if title in MADE_BY_TEMPLATES:
                classes["made by a template that is shown"] += 1
            else:
                unexplained.append((title, anchor))
    assert unexplained == []
    assert classes == {
        "the same": 22611,
        "inside a template that is shown": 154,
        "made by a template that is shown": 12,
        "a template that is shown inside the anchor": 11,
        "to another wiki or namespace": 61,
    }


def elsewhere(title):
    return ":" in title and title.partition(":")[0].lower() in OTHER


OTHER = {
    *(
        "wikt",
        "wiktionary",
        "w",
        "s",
        "v",
        "commons",
        "wikisource",
        "special",
        "talk",
        "category",
        "be-x-old",
    ),
    *("de", "fr", "da", "bg", "es", "it", "he", "nl", "ja", "pl", "fi", "sv", "te", "th", "zh", "no"),
}
MADE_BY_TEMPLATES = {  # eleven flags and an article of another language edition
    *("Madeira", "Azores", "Canary Islands", "Guadeloupe", "French Guiana", "Saint Pierre and Miquelon"),
    *("Bonaire", "Martinique", "Saba", "Saint Barthélemy", "Sint Eustatius", "Gymnasium Ernestinum Gotha"),
}


def test_see_also_lists_are_the_same(pairs, excerpt):
    _, language = excerpt
    count = 0
    for article, reference in pairs:
        mine = [
            link.target + ("#" + link.fragment if link.fragment else "")
            for link in article.links
            if language.is_see_also(article.sections[link.section].heading)
        ]
        assert mine == reference.see_also
        count += len(mine)
    assert count == 633
