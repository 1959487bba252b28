"""Sentences of a text, by rules: for objectives that take a sentence as query or as an anchor's surroundings.

No sentence goes beyond its line. One ends at a full stop, `!`, `?` or `…`, to which closing quotes and brackets belong,
before white space that no lower-case letter follows, unless the full stop ends an abbreviation of the language or an
initial; marks of Chinese and Japanese end one anywhere. In other languages than English the marks of Arabic, Urdu and
Hindi end one too, and in some a full stop after a number of one or two digits ends none (3. Oktober).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from irpretrain.text.languages import ENGLISH, language

_LINE = re.compile(r"[^\n]+")
_NOT_SPACE = re.compile(r"\S")
_IDEOGRAPHIC = "。！？"

Characters = tuple[int, int]
"""Start and end (exclusive) of a piece of a text, in characters."""


@dataclass(frozen=True)
class _Rules:
    """What ends a sentence of a language.

    Attributes:
        end: marks with closing quotes and brackets, where white space follows or the marks need none.
        initial: a letter that may stand for a name.
        last_word: the word before a mark.
        abbreviations: as written; small letters stand for capitals too.
        ordinals: whether a full stop after a number of one or two digits ends none.
    """

    end: re.Pattern[str]
    last_word: re.Pattern[str]
    initial: re.Pattern[str]
    abbreviations: frozenset[str]
    ordinals: bool


def sentences(
    text: str, start: int = 0, end: int | None = None, language_name: str = ENGLISH
) -> list[Characters]:
    """Return the sentences of text[start:end] in order, as characters of `text`, without white space around them."""
    rules = _rules(language_name)
    spans = []
    for line in _LINE.finditer(text, start, len(text) if end is None else end):
        first = line.start()
        for last in [*_ends(text, line.start(), line.end(), rules), line.end()]:
            if stripped := strip(text, first, last):
                spans.append(stripped)
            first = last
    return spans


def strip(text: str, start: int, end: int) -> Characters | None:
    """Return the characters of text[start:end] without white space at either end, None where nothing is left."""
    first = _NOT_SPACE.search(text, start, end)
    if first is None:
        return None
    return first.start(), start + len(text[start:end].rstrip())


@cache
def _rules(language_name: str) -> _Rules:
    row = language(language_name)
    if language_name == ENGLISH:
        marks, closing, letter, initial = ".!?…", r"[\"'”’»)\]]*+", r"[^\W\d_]", "."
    else:
        marks, letter = ".!?…؟۔।॥", r"[^\s\d.,;:!?()\[\]\"'«»“”„]"
        # Quotes that open in English close in German („…“, »…«); French ones may stand apart.
        closing = r"[\"'”’»“‘«)\]]*+(?:[ \u00A0\u202F]»)?"
        initial = "[^\u1100-\U0010ffff]"  # Korean, Japanese and Chinese have words of one letter
    end = rf"(?<![{marks}])[{marks}]++{closing}(?=\s)|[{_IDEOGRAPHIC}]+[”’」』）]*"
    last_word = rf"{letter}+(?:\.{letter}+)*$"
    compiled = (re.compile(end), re.compile(last_word), re.compile(initial))
    return _Rules(*compiled, row.abbreviations, row.ordinals)


def _ends(text: str, start: int, end: int, rules: _Rules) -> Iterator[int]:
    for mark in rules.end.finditer(text, start, end):
        following = _NOT_SPACE.search(text, mark.end(), end)
        if text[mark.start()] in _IDEOGRAPHIC or not (
            following is None or following[0].islower() or _abbreviated(text, start, mark, rules)
        ):
            yield mark.end()


def _abbreviated(text: str, start: int, mark: re.Match[str], rules: _Rules) -> bool:
    if mark[0] != ".":
        return False
    # Looking back a bounded way: words are short, lines need not be.
    before = text[max(start, mark.start() - 20) : mark.start()]
    if rules.ordinals and _ORDINAL.search(before):
        return True
    word = rules.last_word.search(before)
    return word is not None and (
        (len(word[0]) == 1 and rules.initial.match(word[0]) is not None)
        or "." in word[0]
        or word[0] in rules.abbreviations
        or word[0].lower() in rules.abbreviations
    )


_ORDINAL = re.compile(r"(?<!\d)(?<!\d[.,])\d{1,2}$")
