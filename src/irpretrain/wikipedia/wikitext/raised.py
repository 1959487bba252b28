"""Raised numbers: "10^24" and "5 1/2" for what would be other numbers as plain text, 1024 and 51/2.

Whether a number stands before is decided on what a reader sees: `'''10'''<sup>6</sup>`, `[[10]]<sup>[[6]]</sup>`. So
this step comes when links and lines are done. Bold and italics are not: they tell a variable from an ordinal's end.
"""

from __future__ import annotations

import re
from html import unescape

from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    DROPPED,
    FRACTION,
    NOTHING,
    RAISED,
    RAISED_END,
)

_MARK = re.compile(f"([{RAISED}{RAISED_END}{FRACTION}])")
_INVISIBLE = f"'{NOTHING}{ANCHOR}{ANCHOR_END}"
_NOT_SEEN = re.compile(f"'{{2,}}|[{NOTHING}{ANCHOR}{ANCHOR_END}{DROPPED}]")
_PLAIN = re.compile(r"[+−–-]?[0-9]+|[0-9]+[+−–-]|[^\W\d_]")
"""An integer, a charge (SO4^2−), a variable; what else is raised needs brackets."""
_OPERATORS = "-+−–±×·*/^"
_EXPRESSION = re.compile(
    rf"(?!.*[^\W\d_]{{2}})(?=[0-9]|.*''|.*[{_OPERATORS}]\s*[\w(])[\w\s.,()'{_OPERATORS}]+"
)
"""Letters alone, not words, and a number, an operator or italics. What else is raised are ends of ordinals, units
(13th, 5h) and footnotes."""
_IN_BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)")
_LONGEST = 80
_MOST_PIECES = 24
_PIECES_BEFORE = 6
"""Bounds for hostile text, so that time stays linear."""


def write_raised(text: str) -> str:
    """Return `text` without RAISED, RAISED_END and FRACTION: exponents get a ^, fractions behind a digit a blank."""
    if RAISED not in text and RAISED_END not in text and FRACTION not in text:
        return text
    first, *rest = _MARK.split(text)
    pieces, opened = [first], list[int]()
    for mark, after in zip(rest[::2], rest[1::2], strict=True):
        if mark == FRACTION:
            pieces.append(" " if _behind_digit(pieces, len(pieces)) else "")
        elif mark == RAISED:
            opened.append(len(pieces))
        elif opened:
            place = opened.pop()
            if len(pieces) - place <= _MOST_PIECES and _behind_digit(pieces, place):
                pieces[place:] = [_exponent("".join(pieces[place:]))]
        # Apostrophes on both sides of a tag are two marks of italics.
        pieces.append(NOTHING + after if pieces[-1].endswith("'") else after)
    return "".join(pieces)


def _behind_digit(pieces: list[str], place: int) -> bool:
    for piece in reversed(pieces[max(0, place - _PIECES_BEFORE) : place]):
        if seen := piece.rstrip(_INVISIBLE):
            return seen[-1].isdecimal()
    return False


def _exponent(raised: str) -> str:
    """Return what is raised behind a digit, as it is written in a line."""
    if len(raised) > _LONGEST:
        return raised
    seen = unescape(_NOT_SEEN.sub(lambda mark: "''" if len(mark[0]) in (2, 5) else "", raised)).strip()
    shown = seen.replace("''", "")
    if "\n" in shown or not (
        _EXPRESSION.fullmatch(seen) or (_PLAIN.fullmatch(shown) and not shown.isalpha())
    ):
        return raised
    exponent = raised.strip()
    after = raised[len(raised.rstrip()) :]
    if _PLAIN.fullmatch(shown) or _IN_BRACKETS.fullmatch(shown):
        return f"^{exponent}{after}"
    return f"^({exponent}){after}"
