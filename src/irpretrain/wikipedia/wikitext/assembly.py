"""Last step: tidy lines, and where sections and anchors lie in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress

from irpretrain.wikipedia.article import Article, Link, Role, Section
from irpretrain.wikipedia.wikitext.links import Target
from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    APOSTROPHE,
    BREAK,
    HEADING,
    NOTHING,
    SPACE_CHARACTERS,
    SPACES,
)

_EMPTY_BRACKETS = re.compile(rf"\((?<=[\n{SPACES}]\()[{SPACES},;:]*+\)")
_EMPTY_START = re.compile(rf"\([{SPACES}]*+[,;][{SPACES},;]*+")
_ANCHOR = re.compile(f"{ANCHOR}([^{ANCHOR_END}]*+){ANCHOR_END}")
_EMPTY_ANCHOR = re.compile(f"{ANCHOR}[{SPACES}]*+{ANCHOR_END}")
_WIDE = re.compile("  +")
_LINE_ENDS = re.compile(r"\n[ \n]++")
_LEFT_BEHIND = (("; )", ")"), (", )", ")"), (" , ", ", "), (" . ", ". "), (" .\n", ".\n"))
"""Punctuation around a template that is not shown."""
_SECTION = re.compile(rf"(?:^|\n){HEADING}([1-6]) ?")


def assemble(text: str, targets: Sequence[Target], role_of: Callable[[str], Role]) -> Article:
    """Return the article of a text whose only markup are the marks (irpretrain.wikipedia.wikitext.marks).

    Args:
        text: with a mark before each heading and around each anchor.
        targets: of the anchors, in their order.
        role_of: what a heading says of its section.
    """
    text = text.replace(NOTHING, "").replace(APOSTROPHE, "'").replace(BREAK, "\n")
    text = _EMPTY_START.sub("(", _EMPTY_BRACKETS.sub("", text))
    if _EMPTY_ANCHOR.search(text):
        text, targets = _drop_empty_anchors(text, targets)
    return _Assembly(targets, role_of).article(_tidy(text))


def _drop_empty_anchors(text: str, targets: Sequence[Target]) -> tuple[str, Sequence[Target]]:
    kept = [bool(anchor.strip()) for anchor in _ANCHOR.findall(text)]
    return _EMPTY_ANCHOR.sub(" ", text), list(compress(targets, kept))


def _tidy(text: str) -> str:
    """One space between words and none at the ends of anchors and lines; no blank lines."""
    for character in SPACE_CHARACTERS:
        text = text.replace(character, " ")
    text = _WIDE.sub(" ", text)
    if f"{ANCHOR} " in text or f" {ANCHOR_END}" in text:
        text = text.replace(f"{ANCHOR} ", f" {ANCHOR}").replace(f" {ANCHOR_END}", f"{ANCHOR_END} ")
        text = _WIDE.sub(" ", text)
    for left, wanted in _LEFT_BEHIND:
        text = text.replace(left, wanted)
    return _LINE_ENDS.sub("\n", text.replace(" \n", "\n")).strip(" \n")


class _Assembly:
    """Puts the article together, piece by piece; knows how many characters it has."""

    def __init__(self, targets: Iterable[Target], role_of: Callable[[str], Role]) -> None:
        self._targets, self._role_of = iter(targets), role_of
        self._pieces: list[str] = []
        self._length = 0
        self._sections: list[Section] = []
        self._links: list[Link] = []

    def article(self, text: str) -> Article:
        """Return the article of a tidy text."""
        lead, *rest = _SECTION.split(text)
        start, end = self._lines(lead, 0)
        self._sections.append(Section(0, "", start, end))
        for level, content in zip(rest[::2], rest[1::2], strict=True):
            heading, _, body = content.partition("\n")
            number = len(self._sections)
            self._lines(heading, number)
            heading = heading.replace(ANCHOR, "").replace(ANCHOR_END, "")
            start, end = self._lines(body, number)
            self._sections.append(Section(int(level), heading, start, end, self._role_of(heading)))
        return Article("".join(self._pieces), tuple(self._sections), tuple(self._links))

    def _lines(self, text: str, section: int) -> tuple[int, int]:
        """Add lines; return where they are."""
        if not text:
            return self._length, self._length
        if self._length:
            text = "\n" + text
        pieces, at = self._pieces, self._length
        start = at + 1 if at else 0
        before, *rest = text.split(ANCHOR)
        pieces.append(before)
        at += len(before)
        for piece in rest:
            anchor, _, after = piece.partition(ANCHOR_END)
            end = at + len(anchor)
            self._links.append(Link(*next(self._targets), at, end, section))
            pieces += (anchor, after)
            at = end + len(after)
        self._length = at
        return start, at
