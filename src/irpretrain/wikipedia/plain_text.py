"""Plain text of wikitext: prose, headings as lines; tables, references, templates, files and comments are dropped.

Parsed with mwparserfromhell. Links leave their visible text; list items and headings are lines of their own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

FILE_NAMESPACE, CATEGORY_NAMESPACE = 6, 14
DROPPED_NAMES = {"file", "image", "media", "category"}
"""English names of dropped namespaces, which every wiki understands."""

DROPPED_TAGS = frozenset(
    {
        "ref",
        "references",
        "table",
        "gallery",
        "math",
        "chem",
        "timeline",
        "score",
        "imagemap",
        "templatestyles",
    }
    | {
        "syntaxhighlight",
        "source",
        "graph",
        "mapframe",
        "maplink",
        "hiero",
        "inputbox",
        "includeonly",
        "indicator",
    }
    | {"section", "style", "script", "hr"}
)
LINE_TAGS = frozenset(
    {
        "br",
        "p",
        "div",
        "li",
        "dt",
        "dd",
        "ul",
        "ol",
        "dl",
        "blockquote",
        "center",
        "poem",
        "pre",
        "tr",
        "td",
        "th",
    }
    | {"h1", "h2", "h3", "h4", "h5", "h6"}
)

_LANGUAGE = re.compile(r"(?:[a-z]{2,3}|simple)(?:-[a-z]{2,12})*")
_QUOTES = re.compile(r"'{2,5}")
_MAGIC_WORD = re.compile(r"__[A-Z]{3,30}__")
_SPACES = re.compile(r"[^\S\n]+")
_TABLE_REMAINS = re.compile(r"^(?:\{\||\|).*$", re.MULTILINE)
_EMPTY_BRACKETS = re.compile(r"\(\s*[,;:]*\s*\)")


class UnparsableWikitext(Exception):
    """mwparserfromhell gave up."""


def dropped_names(namespaces: dict[int, str]) -> set[str]:
    """Return the lower-case names of namespaces whose links are no prose: files and categories."""
    own = {namespaces.get(number, "").lower() for number in (-2, FILE_NAMESPACE, CATEGORY_NAMESPACE)}
    return (own | DROPPED_NAMES) - {""}


def plain_text(wikitext: str, dropped: Iterable[str] = frozenset(DROPPED_NAMES)) -> str:
    """Return the prose of `wikitext`, one paragraph, list item or heading a line.

    Args:
        wikitext: source of a page.
        dropped: lower-case names of namespaces whose links disappear; see `dropped_names`.

    Raises:
        UnparsableWikitext: the parser failed.
    """
    import mwparserfromhell
    from mwparserfromhell.parser import ParserError

    try:
        # Bold and italics are left as quotes: parsing them costs time and explodes on unbalanced ones.
        code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
        text = "".join(_Walker(set(dropped)).nodes(code))
    except (ParserError, RecursionError, SystemError) as error:
        raise UnparsableWikitext(f"{type(error).__name__}: {error}") from None
    return _tidy(text)


class _Walker:
    """Walks the nodes of one page and yields pieces of text."""

    def __init__(self, dropped: set[str]) -> None:
        self.dropped = dropped

    def nodes(self, code: Any) -> Iterator[str]:
        if code is not None:
            for node in code.nodes:
                yield from self.node(node)

    def node(self, node: Any) -> Iterator[str]:
        kind = type(node).__name__
        if kind == "Text":
            yield str(node.value)
        elif kind == "Wikilink":
            yield from self.link(node)
        elif kind == "Heading":
            yield "\n"
            yield from self.nodes(node.title)
            yield "\n"
        elif kind == "ExternalLink":
            yield from self.nodes(node.title if node.brackets else node.url)
        elif kind == "HTMLEntity":
            yield _entity(node)
        elif kind == "Tag":
            yield from self.tag(node)
        # Template, Argument and Comment are no prose.

    def link(self, node: Any) -> Iterator[str]:
        target = str(node.title).strip()
        prefix, colon, _ = target.partition(":")
        prefix = prefix.strip().lower()
        if colon and not target.startswith(":"):
            if prefix in self.dropped:
                return
            if node.text is None and _LANGUAGE.fullmatch(prefix):
                return  # a link to the same article in another language
        if node.text is None:
            yield html.unescape(target.removeprefix(":"))
        else:
            yield from self.nodes(node.text)

    def tag(self, node: Any) -> Iterator[str]:
        name = str(node.tag).strip().lower()
        if name in DROPPED_TAGS:
            return
        if name in LINE_TAGS and not node.wiki_markup:
            yield "\n"
        yield from self.nodes(node.contents)
        if name in LINE_TAGS and not node.wiki_markup and not node.self_closing:
            yield "\n"


def _entity(node: Any) -> str:
    try:
        return str(node.normalize())
    except (ValueError, OverflowError, KeyError):
        return str(node)


def _tidy(text: str) -> str:
    text = _TABLE_REMAINS.sub("", _MAGIC_WORD.sub("", _QUOTES.sub("", text)))
    text = _SPACES.sub(" ", _EMPTY_BRACKETS.sub("", text))
    return "\n".join(line for line in (line.strip() for line in text.split("\n")) if line)
