"""An independent reading of wikitext: a recursive walk over mwparserfromhell's tree, and its comparison with ours.

The classes of difference are explained in docs/methods/wikipedia.md, "Against an independent parser".
"""

import html
import re
from collections import Counter
from dataclasses import dataclass, field

import mwparserfromhell

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


@dataclass(frozen=True)
class Edition:
    """What the walk must know of a wiki, written down by hand; names in small letters.

    Attributes:
        see_also: headings.
        hidden: namespaces whose links are not shown.
        elsewhere: other namespaces, wikis and languages.
        trail: the letters of anchors behind links, as a character class.
        made_by_templates: titles to which templates that are shown make links.
    """

    see_also: frozenset
    hidden: frozenset
    elsewhere: frozenset
    trail: str = "[a-z]*"
    made_by_templates: frozenset = frozenset()

    def leads_elsewhere(self, title):
        return ":" in title and title.partition(":")[0].strip().lower() in self.elsewhere


@dataclass
class Reference:
    """What mwparserfromhell finds in a page, with links recursively."""

    edition: Edition
    headings: list = field(default_factory=list)  # (level, text, the same without references)
    links: list = field(default_factory=list)  # (title, anchor)
    in_templates: list = field(default_factory=list)  # the same, in arguments of templates
    in_text_tables: list = field(
        default_factory=list
    )  # those of `links` between {| and |} that it takes for text
    see_also: list = field(default_factory=list)  # titles, also of a list in columns
    texts: list = field(default_factory=list)  # what it finds no markup in
    open_tables: int = 0

    def walk(self, code, template=""):
        nodes = list(code.nodes) if code is not None else []
        for place, node in enumerate(nodes):
            kind = type(node).__name__
            if kind == "Text":
                self.texts.append(str(node))
                for mark in re.findall(r"(?m)^[:*# ]*\{\||^\s*\|\}", str(node)):
                    self.open_tables = max(0, self.open_tables + (1 if "{" in mark else -1))
            elif kind == "Wikilink":
                self.link(node, str(nodes[place + 1]) if place + 1 < len(nodes) else "", template)
            elif kind == "Heading":
                self.headings.append((node.level, visible(node.title), visible(node.title, DROPPED)))
                self.walk(node.title, template)
            elif kind == "ExternalLink":
                self.walk(node.title, template)
            elif kind == "Tag" and name_of(node) not in DROPPED:
                self.walk(node.contents, template)
            elif kind == "Template":
                for parameter in node.params:
                    self.walk(parameter.value, template or str(node.name).strip().lower())
        return self

    def link(self, node, following, template):
        written = html.unescape(str(node.title)).replace("_", " ")
        if written.partition(":")[0].strip().lower() in self.edition.hidden:
            return
        anchor = visible(node.text) if node.text is not None else " ".join(written.split()).removeprefix(":")
        anchor += re.match(self.edition.trail, following)[0]
        title = "#".join(" ".join(part.split()).removeprefix(":") for part in written.split("#"))
        if template:
            self.in_templates.append((title, anchor))
        else:
            self.links.append((title, anchor))
            if self.open_tables:
                self.in_text_tables.append((title, anchor))
            self.walk(node.text, template)
        under = self.headings[-1][1].lower() if self.headings else ""
        elsewhere = self.edition.leads_elsewhere(title)
        if under in self.edition.see_also and template in ("", "columns-list") and not elsewhere:
            self.see_also.append(title)


def name_of(tag):
    return str(tag.tag).strip().lower()


def visible(code, dropped=frozenset()):
    """The text that a reader sees, on one line."""
    pieces = []
    for node in code.nodes if code is not None else ():
        kind = type(node).__name__
        if kind == "Text":
            pieces.append(re.sub("'{2,}", "", str(node)))
        elif kind == "HTMLEntity":
            pieces.append(node.normalize())
        elif kind == "Wikilink":
            pieces.append(visible(node.text or node.title, dropped))
        elif kind == "Tag" and name_of(node) not in dropped:
            pieces.append(" " if node.self_closing else visible(node.contents, dropped))
        elif kind == "ExternalLink":
            pieces.append(visible(node.title, dropped) if node.title else str(node.url))
    return " ".join("".join(pieces).split())


def read_both(pages, language, edition):
    """Our article and the reference of each (title, wikitext)."""
    return [
        (
            parse_article(text, language),
            Reference(edition).walk(mwparserfromhell.parse(text, skip_style_tags=True)),
        )
        for _, text in pages
    ]


def compare_headings(pairs):
    """Count headings by class; those that no class explains are returned too."""
    classes, unexplained = Counter(), []
    for article, reference in pairs:
        mine = [(part.level, part.heading) for part in article.sections[1:]]
        if len(mine) != len(reference.headings):
            unexplained.append((mine, reference.headings))
            continue
        for ours, (level, text, without) in zip(mine, reference.headings, strict=True):
            if ours == (level, text):
                classes["the same"] += 1
            elif ours == (level, without):
                classes["with a reference"] += 1
            else:
                unexplained.append((ours, level, text))
    return classes, unexplained


def compare_links(pairs, edition):
    """Count links by class; those that no class explains are returned too."""
    classes, unexplained = Counter(), []
    for article, reference in pairs:
        mine, theirs = links_of(article), Counter(reference.links)
        quoted, in_tables = Counter(reference.in_templates), Counter(reference.in_text_tables)
        more, less = mine - theirs, theirs - mine
        classes["the same"] += (mine & theirs).total()
        classes["inside a template that is shown"] += (more & quoted).total()
        more -= quoted
        for title, anchor in less.elements():
            completed = next((link for link in more if link[0] == title and link[1].startswith(anchor)), None)
            if edition.leads_elsewhere(title):
                classes["to another wiki or namespace"] += 1
            elif completed:
                classes["a template that is shown inside the anchor"] += 1
                more[completed] -= 1
            elif in_tables[title, anchor]:
                classes["in a table that mwparserfromhell takes for text"] += 1
                in_tables[title, anchor] -= 1
            else:
                unexplained.append((title, anchor))
        for title, anchor in more.elements():
            if title in edition.made_by_templates:
                classes["made by a template that is shown"] += 1
            elif any(f"[[{title}" in text for text in reference.texts):
                classes["a link that mwparserfromhell takes for text"] += 1
            else:
                unexplained.append((title, anchor))
    return +classes, unexplained


def links_of(article):
    return Counter((titled(link), article.text[link.start : link.end]) for link in article.links)


def titled(link):
    return link.target + ("#" + link.fragment if link.fragment else "")


def compare_see_also(pairs):
    """Count the links of See Also lists that are the same, in order too; lists that differ are returned as pairs."""
    count, different = 0, []
    for article, reference in pairs:
        mine = [titled(link) for link in article.links if article.sections[link.section].role == "see-also"]
        if mine == reference.see_also:
            count += len(mine)
        else:
            different.append((mine, reference.see_also))
    return count, different
