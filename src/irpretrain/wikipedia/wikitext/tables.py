"""Tables of wikitext as lines of text: a row a line, cells with a bar between them."""

from __future__ import annotations

import re

_ATTRIBUTES = re.compile(r"^[^|\[\]{}\n]*(?<!\|)\|(?!\|)")
_CELLS = re.compile(r"\|\||!!")
_LINE = re.compile(r"[ \t:*#;]*(\{\||\|\}|\|-|\|\+|[|!])?(.*)", re.DOTALL)


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
