"""Raised and lowered numbers: "10^24", "101_2" and "5 1/2" for what would be other numbers: 1024, 1012 and 51/2.

Whether a number stands before is decided on what a reader sees: `'''10'''<sup>6</sup>`, `[[10]]<sup>[[6]]</sup>`. So
this step comes when links and lines are done. Bold and italics are not: they tell a variable from an ordinal's end.
"""

import re
from html import unescape

from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    DROPPED,
    FRACTION,
    LOWERED,
    LOWERED_END,
    NOTHING,
    RAISED,
    RAISED_END,
)

_MARKS = RAISED + RAISED_END + LOWERED + LOWERED_END + FRACTION
_MARK = re.compile(f"([{_MARKS}])")
_ENDS = {RAISED_END: (RAISED, "^"), LOWERED_END: (LOWERED, "_")}
_INVISIBLE = f"'{NOTHING}{ANCHOR}{ANCHOR_END}"
_NOT_SEEN = re.compile(f"'{{2,}}|[{NOTHING}{ANCHOR}{ANCHOR_END}{DROPPED}]")
# An integer, a charge (SO4^2−), a variable; what else is raised needs brackets.
_PLAIN = re.compile(r"[+−–-]?[0-9]+|[0-9]+[+−–-]|[^\W\d_]")
_FIRST_DIGIT = re.compile(f"[{_INVISIBLE}]*[0-9]")
_OPERATORS = "-+−–±×·*/^"
# Letters alone, not words, and a number, an operator or italics. What else is raised are ends of ordinals, units
# (13th, 5h) and footnotes.
_EXPRESSION = re.compile(
    rf"(?!.*[^\W\d_]{{2}})(?=[0-9]|.*''|.*[{_OPERATORS}]\s*[\w(])[\w\s.,()'{_OPERATORS}]+"
)
_IN_BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)")
_LONGEST = 80
_MOST_PIECES = 24
# Bounds for hostile text, so that time stays linear.
_PIECES_BEFORE = 6


def write_raised(text: str) -> str:
    """Return `text` without marks of what is raised, lowered or a fraction.

    Exponents get a ^, indices behind a digit a _, fractions behind a digit a blank, and so do digits behind any of
    them.
    """
    if not any(mark in text for mark in _MARKS):  # faster than the split
        return text
    first, *rest = _MARK.split(text)
    pieces = [first]
    opened: dict[str, list[int]] = {RAISED: [], LOWERED: []}
    for mark, after in zip(rest[::2], rest[1::2], strict=True):
        if mark == FRACTION:
            pieces.append(" " if _seen_before(pieces, len(pieces)).isdecimal() else "")
        elif mark in opened:
            opened[mark].append(len(pieces))
        elif indices := opened[_ENDS[mark][0]]:
            index = indices.pop()
            if len(pieces) - index <= _MOST_PIECES:
                shifted = "".join(pieces[index:])
                before = _seen_before(pieces, index)
                joined = shifted.rstrip(_INVISIBLE)[-1:].isdecimal() and _FIRST_DIGIT.match(after) is not None
                if before.isdecimal() or (joined and before.isalpha()):
                    shifted = _in_line(shifted, _ENDS[mark][1])
                pieces[index:] = [shifted + " " if joined else shifted]
        # Apostrophes on both sides of a tag are two marks of italics.
        pieces.append(NOTHING + after if pieces[-1].endswith("'") else after)
    return "".join(pieces)


def _seen_before(pieces: list[str], index: int) -> str:
    for piece in reversed(pieces[max(0, index - _PIECES_BEFORE) : index]):
        if seen := piece.rstrip(_INVISIBLE):
            return seen[-1]
    return ""


def _in_line(shifted: str, sign: str) -> str:
    if len(shifted) > _LONGEST:
        return shifted
    seen = unescape(_NOT_SEEN.sub(lambda mark: "''" if len(mark[0]) in (2, 5) else "", shifted)).strip()
    letters = seen.replace("''", "")
    is_number = _PLAIN.fullmatch(letters) and not letters.isalpha()
    if letters.startswith("/") or "\n" in letters or not (is_number or _EXPRESSION.fullmatch(seen)):
        return shifted
    content = shifted.strip()
    after = shifted[len(shifted.rstrip()) :]
    if _PLAIN.fullmatch(letters) or _IN_BRACKETS.fullmatch(letters):
        return f"{sign}{content}{after}"
    return f"{sign}({content}){after}"
