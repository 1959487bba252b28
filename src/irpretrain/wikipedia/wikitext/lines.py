"""What the beginning of a line means: tables, headings, list items."""

import re

from irpretrain.wikipedia.wikitext.marks import ANCHOR, ANCHOR_END, APOSTROPHE, BREAK, DROPPED, HEADING
from irpretrain.wikipedia.wikitext.rendering import Parts

_ATTRIBUTES = re.compile(r"^[^|\[\]{}\n]*(?<!\|)\|(?!\|)")
_CELLS = re.compile(r"\|\||!!")
_LINE = re.compile(r"[ \t:*#;]*(\{\||\|\}|\|-|\|\+|[|!])?(.*)", re.DOTALL)
_TABLE_MARK = re.compile(r"\n[ \t:*#;]*+(?:(\{\|)|\|\})")
_HEADING = re.compile(rf"\n(=[^\n]*=)[ \t{DROPPED}]*+(?=\n)")
_TABLE_REMAINS = re.compile(r"\n[ \t]*+(?:\{\||\|)([^\n]*)")
_OWN_LINE = re.compile(r"\n(?:[ \t]*+(?:[*#:;]+|-{4,}|(?<=[ \t])(?!\|)))([^\n]*+)")
"""A list item, a rule, preformatted text."""
_SOFT_BREAK = re.compile(rf"\n(?<=[^\n{BREAK}]\n)(?=[^\n{BREAK}])")
_DEFINITION = re.compile(r"\n[*#:]*+;[^\n]*")
_TERM_END = re.compile(rf"{ANCHOR}[^{ANCHOR_END}]*+{ANCHOR_END}|:(?!//)")
DEEPEST_HEADING = 6
_QUOTES = re.compile(r"'{2,}")


def rows_of_table(table: str) -> str:
    """Return the text of a table between `{|` and `|}`, one paragraph a row; a table within it is part of its cell."""
    rows: list[list[str]] = [[]]
    for line in table.strip().split("\n"):
        match = _LINE.match(line)
        mark, content = (match[1], match[2]) if match else ("", line)
        if mark in ("{|", "|}"):
            continue
        if mark == "|-":
            rows.append([])
        elif mark == "|+":
            rows += [[_without_attributes(content)], []]
        elif mark:
            cells = _CELLS.split(content) if mark == "!" else content.split("||")
            rows[-1] += [_without_attributes(cell) for cell in cells]
        elif rows[-1]:
            rows[-1][-1] += " " + line
    lines = (" | ".join(cell for cell in row if cell) for row in rows)
    return "".join(f"\n\n{line}\n" for line in lines if line)


def _without_attributes(cell: str) -> str:
    return _ATTRIBUTES.sub("", cell).strip()


def remove_tables(text: str, parts: Parts) -> str:
    """Return `text` without tables, or with their rows if `parts` keeps them.

    A table without an end stays and loses its marked lines later (`remove_line_marks`).
    """
    if "{|" not in text:
        return text
    opened: list[int] = []
    tables: list[tuple[int, int]] = []
    for mark in _TABLE_MARK.finditer(text):
        if mark[1]:
            opened.append(mark.start())
        elif opened:
            start = opened.pop()
            while tables and tables[-1][0] > start:
                tables.pop()  # it is inside this one
            tables.append((start, mark.end()))
    kept, at = [], 0
    for start, end in tables:
        rows = rows_of_table(text[start:end])
        kept.append(text[at:start] + (rows if rows and parts.keeps("tables") else ""))
        at = end
    return "\n\n".join([*kept, text[at:]])


def mark_headings(text: str) -> str:
    """Put HEADING and the level before each heading, in place of its equal signs."""
    return _HEADING.sub(_heading, text)


def _heading(line: re.Match[str]) -> str:
    content = line[1]
    left = len(content) - len(content.lstrip("="))
    if left == len(content):  # nothing but equal signs: the middle one or two are the heading
        left = (left - 1) // 2
        if not left:
            return line[0]
    right = len(content) - len(content.rstrip("="))
    level = min(left, right, DEEPEST_HEADING)
    return f"\n\n{HEADING}{level}{content[level:-level].strip()}\n"


def remove_line_marks(text: str) -> str:
    """Return `text` without marks of list items and rules, and without lines that are left of broken tables.

    There is a blank line on both sides of list items, rules and lines of preformatted text.
    """
    if "|" in text:
        text = _TABLE_REMAINS.sub(_only_anchor_marks, text)
    if ";" in text:
        text = _DEFINITION.sub(_split_definition, text)
    return _OWN_LINE.sub("\n\n\\1\n", text)


def join_lines(text: str) -> str:
    """Return `text` with one line a paragraph, list item and heading."""
    return _SOFT_BREAK.sub(" ", text)


def _only_anchor_marks(line: re.Match[str]) -> str:
    return "\n" + (ANCHOR + ANCHOR_END) * line[1].count(ANCHOR)


def _split_definition(line: re.Match[str]) -> str:
    """`; term: meaning` loses its colon."""
    for mark in _TERM_END.finditer(line[0], line[0].index(";")):
        if mark[0] == ":":
            return f"{line[0][: mark.start()]} {line[0][mark.end() :]}"
    return line[0]


def apostrophes(line: str) -> str:
    """Return a line in which apostrophes that a reader sees among those of bold and italics are APOSTROPHE.

    The rule of MediaWiki: of more than five the first are text, of four the first one is; where a line has an odd
    number both of bold and italic marks, one bold mark is an apostrophe and an italic mark: the first after a
    one-letter word, else the first after a longer word, else the first.
    """
    runs = [(mark.start(), len(mark[0])) for mark in _QUOTES.finditer(line)]
    text = {start: length - 5 if length > 5 else 1 for start, length in runs if length > 5 or length == 4}
    bold = [start + text.get(start, 0) for start, length in runs if length - text.get(start, 0) in (3, 5)]
    italic = [start for start, length in runs if length - text.get(start, 0) in (2, 5)]
    if len(bold) % 2 and len(italic) % 2:
        candidates = [start for start, length in runs if length - text.get(start, 0) == 3]
        if candidates:
            start = min(candidates, key=lambda place: _rank(line, place + text.get(place, 0)))
            text[start] = text.get(start, 0) + 1
    if not text:
        return line
    pieces, at = [], 0
    for start, count in sorted(text.items()):
        pieces += [line[at:start], APOSTROPHE * count]
        at = start + count
    return "".join([*pieces, line[at:]])


def _rank(line: str, place: int) -> int:
    if line[place - 1 : place] in ("", " "):
        return 2
    return 0 if line[place - 2 : place - 1] == " " else 1
