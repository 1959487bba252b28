"""Terms and their definitions in a line: `; term : definition`.

MediaWiki's rule (`BlockLevelPass::findColonNoLinks`): the first colon ends the term that stands in no link, tag, bold,
italics or variant. Where one of these is not closed, no colon does.
"""

import re

from irpretrain.wikipedia.wikitext.links import ADDRESS
from irpretrain.wikipedia.wikitext.marks import NOTHING

_TERM = re.compile(r"\n([*#:;]*+)(?<=;)[^\n]*")
_VOID = "br|hr|wbr|img|meta|link"
_TOKEN = re.compile(
    rf"\[\[[^\[\]\n]*+\]\]|\[{ADDRESS}[^\]\n]*+\]|{ADDRESS}|<(?:{_VOID})(?=[\s/>])[^<>]*+>|<[^<>]*/>"
    r"|(<[a-zA-Z][^<>]*+>|-\{)|(</[a-zA-Z][^<>]*+>|\}-)|('{2,5})|:",
    re.IGNORECASE,
)
_OPENING, _CLOSING, _QUOTES = 1, 2, 3


def split_definitions(text: str) -> str:
    """Return `text` with a space in place of the colon between a term and its definition."""
    return _TERM.sub(_split, text) if ";" in text else text


def _split(line: re.Match[str]) -> str:
    depth, quoted = 0, 0
    for token in _TOKEN.finditer(line[0], 1 + len(line[1])):
        kind = token.lastindex
        if kind == _QUOTES:
            quoted ^= {2: 1, 3: 2, 4: 2, 5: 3}[len(token[0])]
        elif kind == _OPENING:
            depth += 1
        elif kind == _CLOSING:
            depth = max(0, depth - 1)
        elif token[0][-1] == ":" and not depth and not quoted:  # a colon alone, or behind an address
            return f"{line[0][: token.end() - 1]} {NOTHING}{line[0][token.end() :]}"
    return line[0]
