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
    DROPPED,
    HEADING,
    NOTHING,
    SPACE_CHARACTERS,
    SPACES,
)

_CONJUNCTIONS = "or|and|oder|und|ou|et|o|y|e|lub|oraz|i|или|и|або|та|och|eller|og|nebo|és|vagy|sau|și|ve|veya"
_GAPS = re.compile(rf"{DROPPED}(?:(?: *+[,;/]| ++(?:{_CONJUNCTIONS})(?= ))? *+{DROPPED})++")
"""What is left out in a row, as in `({{x}} or {{y}})`: one gap."""
_NO_WORD = rf"[^\n\w{ANCHOR}{ANCHOR_END}]"
_LINE_WITHOUT_WORDS = re.compile(rf"\n(?={_NO_WORD}*+\n)(?=[^\n{DROPPED}]*+{DROPPED}){_NO_WORD}*+")
_SEPARATORS = frozenset(",;:，；、")
_PUNCTUATION = _SEPARATORS | frozenset(".!?。")
_SEPARATORS_AFTER = re.compile(rf" *+(?:(?:[,;:，；、]|(?:{_CONJUNCTIONS})(?= )) *+)*+")
_SEPARATORS_BEFORE = re.compile(rf"(?: *[,;:，；、]| (?:{_CONJUNCTIONS})(?= *$)){{0,3}} *$")
_LONGEST_SEPARATORS = 24
_BRACKETS = {"(": ")", "[": "]", "（": "）"}
_CLOSING = frozenset(_BRACKETS.values())
_MOST_BRACKETS = 4
"""Brackets with nothing in them, within each other, that go."""
_ANCHOR = re.compile(f"{ANCHOR}([^{ANCHOR_END}]*+){ANCHOR_END}")
_EMPTY_ANCHOR = re.compile(f"{ANCHOR}[{SPACES}]*+{ANCHOR_END}")
_LINE_ENDS = re.compile(r"\n[ \n]++")
_LOOSE = ((" , ", ", "), (" . ", ". "), (" .\n", ".\n"))
"""Punctuation behind a space."""
_SECTION = re.compile(rf"(?:^|\n){HEADING}([1-6]) ?")


def assemble(text: str, targets: Sequence[Target], role_of: Callable[[str], Role]) -> Article:
    """Return the article of a text whose only markup are the marks (irpretrain.wikipedia.wikitext.marks).

    Args:
        text: with a mark before each heading and around each anchor.
        targets: of the anchors, in their order.
        role_of: what a heading says of its section.
    """
    text = text.replace(NOTHING, "").replace(APOSTROPHE, "'").replace(BREAK, "\n")
    for character in SPACE_CHARACTERS:
        text = text.replace(character, " ")
    if DROPPED in text:
        text = _close_gaps(text)
    if _EMPTY_ANCHOR.search(text):
        text, targets = _drop_empty_anchors(text, targets)
    return _Assembly(targets, role_of).article(_tidy(text))


def _drop_empty_anchors(text: str, targets: Sequence[Target]) -> tuple[str, Sequence[Target]]:
    kept = [bool(anchor.strip()) for anchor in _ANCHOR.findall(text)]
    return _EMPTY_ANCHOR.sub(" ", text), list(compress(targets, kept))


def _close_gaps(text: str) -> str:
    """Return a text without the marks of what is left out, and without punctuation that only separated it."""
    shown, *rest = _LINE_WITHOUT_WORDS.sub("\n", _GAPS.sub(DROPPED, text)).split(DROPPED)
    pieces: list[str] = []
    for after in rest:
        before, after = _close_gap(shown, after)
        pieces.append(before)
        shown = after
    return "".join([*pieces, shown])


def _close_gap(before: str, after: str) -> tuple[str, str]:
    """Return what stands on both sides of a gap without loose separators; never a mark of an anchor, and no word but
    conjunctions, so that anchors keep their places."""
    for _ in range(_MOST_BRACKETS):
        last = before.rstrip(" ")[-1:]
        if last not in _BRACKETS:
            break
        before, after = before.rstrip(" "), _without_separators(after)
        if after[:1] != _BRACKETS[last]:
            return before, after
        before, after = before[:-1], after[1:]
    if last in ("", "\n"):
        return before, _without_separators(after)
    following = after.lstrip(" ")[:1]
    if following in _CLOSING:
        separators = _SEPARATORS_BEFORE.search(before[-_LONGEST_SEPARATORS:])
        return before[: len(before) - len(separators[0] if separators else "")], after.lstrip(" ")
    if following in _PUNCTUATION:
        before = before.rstrip(" ")
        return before[:-1] if last in _SEPARATORS else before, after.lstrip(" ")
    return before, after


def _without_separators(text: str) -> str:
    separators = _SEPARATORS_AFTER.match(text)
    return text[separators.end() :] if separators else text


def _with_single_spaces(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _tidy(text: str) -> str:
    """One space between words and none at the ends of anchors and lines; no blank lines."""
    text = _with_single_spaces(text)
    if f"{ANCHOR} " in text or f" {ANCHOR_END}" in text:
        text = text.replace(f"{ANCHOR} ", f" {ANCHOR}").replace(f" {ANCHOR_END}", f"{ANCHOR_END} ")
        text = _with_single_spaces(text)
    for loose, tidy in _LOOSE:
        text = text.replace(loose, tidy)
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
        parts = text.replace(ANCHOR_END, ANCHOR).split(ANCHOR)  # text and anchors in turn
        at += len(parts[0])
        links, targets = self._links, self._targets
        for anchor, after in zip(parts[1::2], parts[2::2], strict=True):
            end = at + len(anchor)
            links.append(Link(*next(targets), at, end, section))
            at = end + len(after)
        pieces += parts
        self._length = at
        return start, at
