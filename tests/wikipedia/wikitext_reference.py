"""An independent reading of wikitext, to compare our own with: a recursive walk over mwparserfromhell's tree.

It may take minutes or tens of gigabytes for a hostile page.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mwparserfromhell

from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.titles import is_file, normal_name

DROPPED = frozenset(
    {
        *("ref", "references", "table", "gallery", "math", "timeline", "source", "syntaxhighlight"),
        *("includeonly", "section", "hr"),
    }
)
"""Elements that show no prose."""
_TABLE_MARK = re.compile(r"(?m)^[:*# ]*\{\||^\s*\|\}")


@dataclass(frozen=True)
class HeadingRead:
    """A heading: its text, and the same without what references and other `DROPPED` elements hold."""

    level: int
    text: str
    without: str


@dataclass
class Reading:
    """What mwparserfromhell finds in a page."""

    language: WikiLanguage
    headings: list[HeadingRead] = field(default_factory=list)
    # (title, anchor) of links: of all, those within other links too; of those in arguments of templates, shown or not;
    # of those between {| and |} that it takes for text.
    links: list[tuple[str, str]] = field(default_factory=list)
    in_templates: list[tuple[str, str]] = field(default_factory=list)
    in_text_tables: list[tuple[str, str]] = field(default_factory=list)
    see_also: list[str] = field(default_factory=list)  # titles of the links of See Also lists, in order
    texts: list[str] = field(default_factory=list)  # what it finds no markup in
    arguments: set[str] = field(default_factory=set)  # what a reader sees of the arguments of templates
    _open_tables: int = 0

    @classmethod
    def of(cls, wikitext: str, language: WikiLanguage) -> Reading:
        """Read a page."""
        reading = cls(language)
        reading._walk(mwparserfromhell.parse(wikitext, skip_style_tags=True))
        return reading

    def leads_elsewhere(self, title: str) -> bool:
        """Whether a link's title is that of no article of this wiki."""
        prefix, colon, _ = title.partition(":")
        return bool(colon) and normal_name(prefix) in self._prefixes

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        """Names of namespaces, wikis and languages."""
        language = self.language
        return language.namespaces | language.wikis | language.languages | {language.code}

    def _walk(self, code: Any, template: str = "") -> None:
        """Read what stands in `code`, which the outermost template of that name holds, if any does."""
        nodes = list(code.nodes) if code is not None else []
        for position, node in enumerate(nodes):
            kind = type(node).__name__
            if kind == "Text":
                self._text(str(node))
            elif kind == "Wikilink":
                self._link(node, str(nodes[position + 1]) if position + 1 < len(nodes) else "", template)
            elif kind == "Heading":
                self._heading(node, template)
            elif kind == "ExternalLink":
                self._walk(node.title, template)
            elif kind == "Tag" and _name_of(node) not in DROPPED:
                self._walk(node.contents, template)
            elif kind == "Template":
                for parameter in node.params:
                    self.arguments.add(visible(parameter.value))
                    self._walk(parameter.value, template or normal_name(str(node.name)))

    def _text(self, text: str) -> None:
        self.texts.append(text)
        for mark in _TABLE_MARK.findall(text):
            self._open_tables = max(0, self._open_tables + (1 if "{" in mark else -1))

    def _heading(self, node: Any, template: str) -> None:
        self.headings.append(HeadingRead(node.level, visible(node.title), visible(node.title, DROPPED)))
        self._walk(node.title, template)

    def _link(self, node: Any, following: str, template: str) -> None:
        written = html.unescape(str(node.title)).replace("_", " ")
        prefix, _, after = written.lstrip().removeprefix(":").partition(":")
        displayed, written = (
            written,
            after if after and normal_name(prefix) == self.language.code else written,
        )
        elsewhere = self.leads_elsewhere(written)
        if normal_name(written.partition(":")[0]) in self.language.hidden or (
            is_file(written) and not elsewhere
        ):
            return
        anchor = (
            visible(node.text) if node.text is not None else " ".join(displayed.split()).removeprefix(":")
        )
        if letters := self.language.link_trail:
            anchor += re.match(f"[{letters}]*", following)[0]
        title = "#".join(" ".join(part.split()).removeprefix(":") for part in written.split("#"))
        if template:
            self.in_templates.append((title, anchor))
        else:
            self.links.append((title, anchor))
            if self._open_tables:
                self.in_text_tables.append((title, anchor))
            self._walk(node.text, template)
        role = self.language.role(self.headings[-1].text) if self.headings else ""
        is_listed = not template or bool(self.language.templates.pattern(template))
        if role == "see-also" and is_listed and not self.leads_elsewhere(title):
            self.see_also.append(title)


def visible(code: Any, dropped: frozenset[str] = frozenset()) -> str:
    """Return the text of a part of the tree that a reader sees, on one line, without that of `dropped` elements."""
    pieces = []
    for node in code.nodes if code is not None else ():
        kind = type(node).__name__
        if kind == "Text":
            pieces.append(re.sub("'{2,}", "", str(node)))
        elif kind == "HTMLEntity":
            pieces.append(node.normalize())
        elif kind == "Wikilink":
            pieces.append(visible(node.text or node.title, dropped))
        elif kind == "Tag" and _name_of(node) not in dropped:
            pieces.append(" " if node.self_closing else visible(node.contents, dropped))
        elif kind == "ExternalLink":
            pieces.append(visible(node.title, dropped) if node.title else str(node.url))
    return " ".join("".join(pieces).split())


def _name_of(tag: Any) -> str:
    return str(tag.tag).strip().lower()
