"""When two queries ask the same: their texts are equal but for case, white space and punctuation."""

import sys
import unicodedata
from functools import cache


def compared_text(text: str) -> str:
    """Return the text in the form in which queries are compared: case-folded, with one space for each run of white
    space, punctuation and symbols. A text of nothing else keeps its punctuation; "" has no words at all."""
    folded = text.casefold()
    return " ".join((folded.translate(_spaces()).split()) or folded.split())


@cache
def _spaces() -> dict[int, str]:
    """Map every character of Unicode's categories P, S and Z to a space; letters, marks and digits stay."""
    separates = (code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] in "PSZ")
    return dict.fromkeys(separates, " ")
