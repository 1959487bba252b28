"""Last step: tidy lines, and where sections and anchors lie in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate, compress, repeat
from typing import TYPE_CHECKING

from irpretrain.foundation.records import Link, Role, Section
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.wikitext.lines import change_lines
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

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage

_CONJUNCTIONS = "or|and|oder|und|ou|et|o|y|e|lub|oraz|i|или|и|або|та|och|eller|og|nebo|és|vagy|sau|și|ve|veya"
_SEPARATOR = ",;:，；、：،؛"
_STOP = ".!?。！？．؟۔।"
_DASH = "–—-"
# What is left out in a row, as in `{{x}}, {{y}}`: one gap.
_GAPS = re.compile(rf"{DROPPED}(?>(?: *+[{_SEPARATOR}/{_DASH}]?+ *+{DROPPED})+)")
_NO_WORD = rf"[^\n\w{ANCHOR}{ANCHOR_END}]"
_LINE_WITHOUT_WORDS = re.compile(rf"\n(?={_NO_WORD}*+\n)(?=[^\n{DROPPED}]*+{DROPPED}){_NO_WORD}*+")
_BRACKETS = {"(": ")", "[": "]", "（": "）", "［": "］"}
_QUOTES = {"“": "”", "„": "“”", "«": "»", "「": "」", "『": "』", "《": "》", "〈": "〉", "【": "】"}
_PAIRS = _BRACKETS | _QUOTES
_CLOSING = frozenset(_BRACKETS.values())
# Brackets with nothing in them, within each other, that go.
_MAX_NESTED_BRACKETS = 4
_STRAIGHT = frozenset("\"'")
_OPEN, _CLOSE = re.escape("".join(_BRACKETS)), re.escape("".join(_CLOSING))
# An opening bracket and what follows it, up to the next bracket in the line; with a gap.
_BRACKETED = re.compile(
    rf"([{_OPEN}][^\n{DROPPED}{_OPEN}{_CLOSE}]*+{DROPPED}[^\n{_OPEN}{_CLOSE}]*+)(?=([{_OPEN}{_CLOSE}]))"
)
_GAPS_IN_BRACKETS = re.compile(
    rf"{DROPPED}(?>(?:(?>(?: *+[{_SEPARATOR}])?)(?>(?: ++(?:{_CONJUNCTIONS})(?= ))?) *+{DROPPED})+)"
)
_CONJUNCTION_AFTER = re.compile(rf"(?<=[{_OPEN}]){DROPPED}[ {_SEPARATOR}]*+(?:{_CONJUNCTIONS})(?= )")
# A sign of birth, death or marriage whose date is left out.
_SIGNED_GAP = re.compile(
    rf"(?:(?<=[{_OPEN}{_SEPARATOR}])|(?<=[{_SEPARATOR}] ))[*†✝⚭] *+{DROPPED}(?= *+(?:[{_SEPARATOR}]|$))"
)
_CONJUNCTION_BEFORE = re.compile(rf" (?:{_CONJUNCTIONS}) *$")
_LONGEST_CONJUNCTION = 24
_ANCHOR = re.compile(f"{ANCHOR}([^{ANCHOR_END}]*+){ANCHOR_END}")
_EMPTY_ANCHOR = re.compile(f"{ANCHOR}[{SPACES}]*+{ANCHOR_END}")
_LOOSE_AT_START = re.compile(rf"[ {_SEPARATOR}]*+(?:[{_STOP}](?=[ \n]|$)[ {_SEPARATOR}]*+)?")
_SPACES = re.compile("   *")  # faster than "  +"
_SPACE_AFTER_MARK = re.compile(f"{ANCHOR} ")
_SPACE_BEFORE_MARK = re.compile(f"{ANCHOR_END}(?<= {ANCHOR_END})")
_SECTION = re.compile(rf"\n{HEADING}([1-6]) ?")


def assemble(text: str, targets: Sequence[Target], language: WikiLanguage) -> Article:
    """Return the article of a text whose only markup are the marks (irpretrain.wikipedia.wikitext.marks).

    Args:
        text: with a mark before each heading and around each anchor.
        targets: of the anchors, in their order.
        language: says what a heading says of its section, and how titles begin.
    """
    if language.dots_capitals:
        targets = [(language.with_dotted_capital(title), fragment) for title, fragment in targets]
    text = text.replace(NOTHING, "").replace(APOSTROPHE, "'").replace(BREAK, "\n")
    for character in SPACE_CHARACTERS:
        text = text.replace(character, " ")
    if DROPPED in text:
        text = _close_gaps(text)
    if _EMPTY_ANCHOR.search(text):
        text, targets = _drop_empty_anchors(text, targets)
    return _article(_tidy(text), targets, language.role)


def _drop_empty_anchors(text: str, targets: Sequence[Target]) -> tuple[str, Sequence[Target]]:
    has_words = [bool(anchor.strip()) for anchor in _ANCHOR.findall(text)]
    return _EMPTY_ANCHOR.sub(" ", text), list(compress(targets, has_words))


def _close_gaps(text: str) -> str:
    """Return a text without the marks of what is left out, and without punctuation that only separated it."""
    # A word goes only within brackets: a conjunction between gaps, or between a gap and a bracket.
    text = _LINE_WITHOUT_WORDS.sub("\n", _GAPS.sub(DROPPED, text))
    text = change_lines(text, DROPPED, lambda line: _BRACKETED.sub(_without_conjunctions, line))
    line, *texts_after = text.split(DROPPED)
    pieces: list[str] = []
    for text_after in texts_after:
        if pieces and not line.strip(" "):  # between two gaps: what stands before the first one decides
            line = pieces.pop() + line
        text_before, text_after = _close_gap(line, text_after)
        pieces.append(text_before)
        line = text_after
    return "".join([*pieces, line])


def _without_conjunctions(bracketed: re.Match[str]) -> str:
    text = _SIGNED_GAP.sub(DROPPED, bracketed[1])
    text = _CONJUNCTION_AFTER.sub(DROPPED, _GAPS_IN_BRACKETS.sub(DROPPED, text), count=1)
    text_before = text.rstrip(" ")
    if bracketed[2] not in _CLOSING or text_before[-1] != DROPPED:
        return text
    text_before = text_before[:-1]
    conjunction = _CONJUNCTION_BEFORE.search(text_before[-_LONGEST_CONJUNCTION:])
    return text_before[: len(text_before) - len(conjunction[0] if conjunction else "")] + DROPPED


def _close_gap(before: str, after: str) -> tuple[str, str]:
    """Return what stands on both sides of a gap without loose punctuation; never a word or a mark of an anchor, so that
    anchors keep their places."""
    for _ in range(_MAX_NESTED_BRACKETS):
        last_character = before.rstrip(" ")[-1:]
        if last_character in _STRAIGHT and _quotes_nothing(before, after):
            before, after = before[:-1], after[1:]
            continue
        if last_character not in _PAIRS:
            break
        text_after = after.lstrip(" " + _SEPARATOR if last_character in _BRACKETS else " ")
        if text_after[:1] and text_after[0] in _PAIRS[last_character]:
            before, after = before.rstrip(" ")[:-1], text_after[1:]
        elif last_character in _BRACKETS:
            return before.rstrip(" "), text_after
        else:
            break
    if last_character in ("", "\n"):
        return before, _LOOSE_AT_START.sub("", after, count=1)
    next_character = after.lstrip(" ")[:1]
    if next_character in _CLOSING:
        return before.rstrip(" " + _SEPARATOR), after.lstrip(" ")
    if next_character in ("", "\n"):
        return _without_dash(before.rstrip(" ")), after
    if next_character in _SEPARATOR + _STOP:
        before, after = before.rstrip(" "), after.lstrip(" ")
        if last_character in _SEPARATOR:
            return before[:-1], after
        return before, after[1:] if last_character in _STOP and next_character in _STOP else after
    return before, after


def _quotes_nothing(before: str, after: str) -> bool:
    is_quoted = before[-1:] == after[:1] and not after[1:2].isalnum()
    return is_quoted and (before[-2:-1] in _PAIRS or not before[-2:-1].strip())


def _without_dash(line: str) -> str:
    if line[-1:] in _DASH and line[-2:-1] == " ":
        return line[:-2]
    return line[:-1] if line[-1:] in ",，、،" else line


def _tidy(text: str) -> str:
    """One space between words and none at the ends of anchors and lines; no blank lines."""
    text = _SPACES.sub(" ", text)
    if _SPACE_AFTER_MARK.search(text) or _SPACE_BEFORE_MARK.search(text):
        text = text.replace(f"{ANCHOR} ", f" {ANCHOR}").replace(f" {ANCHOR_END}", f"{ANCHOR_END} ")
        text = _SPACES.sub(" ", text)
    if " ," in text:
        text = text.replace(", , ", ", ").replace(" , ", ", ")
    if " ." in text:
        text = text.replace(" . ", ". ").replace(" .\n", ".\n")
    return "\n".join(filter(None, map(str.strip, text.split("\n"))))


def _article(text: str, targets: Sequence[Target], role_of: Callable[[str], Role]) -> Article:
    lead, *levels_and_contents = _SECTION.split(f"\n{text}")
    pieces: list[str] = []
    sections: list[Section] = []
    section_of_anchor: list[int] = []  # of each its section
    length = start = 0
    for section_number, (level, content) in enumerate(
        zip(["0", *levels_and_contents[::2]], [lead, *levels_and_contents[1::2]], strict=True)
    ):
        heading, _, body = content.partition("\n")
        for piece in (heading, body):
            start = length
            if piece:
                start += 1 if length else 0  # a line end
                anchor_count = piece.count(ANCHOR)
                length = start + len(piece) - anchor_count * len(ANCHOR + ANCHOR_END)
                section_of_anchor += repeat(section_number, anchor_count)
                pieces.append(piece)
        heading = heading.replace(ANCHOR, "").replace(ANCHOR_END, "")
        sections.append(
            Section(int(level), heading, start, length, role_of(heading) if section_number else "")
        )
    texts_and_anchors = (
        "\n".join(pieces).replace(ANCHOR_END, ANCHOR).split(ANCHOR)
    )  # text and anchors in turn
    ends = list(accumulate(map(len, texts_and_anchors)))
    # No loop around the links: a page has hundreds.
    titles, fragments = zip(*targets, strict=True) if targets else ((), ())
    links = map(Link._make, zip(titles, fragments, ends[::2], ends[1::2], section_of_anchor, strict=False))
    return Article("".join(texts_and_anchors), tuple(sections), tuple(links))
