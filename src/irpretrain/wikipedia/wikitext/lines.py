"""What the beginning of a line means: tables, headings, list items."""

import re
from collections.abc import Callable, Iterator

from irpretrain.wikipedia.wikitext.images import PageRendering
from irpretrain.wikipedia.wikitext.marks import APOSTROPHE, BREAK, DROPPED, HEADING

_ATTRIBUTES = re.compile(r"^[^|\[\]{}\n]*(?<!\|)\|(?!\|)")
_CELLS = re.compile(r"\|\||!!")
_LINE = re.compile(r"[ \t:*#;]*(\{\||\|\}|\|-|\|\+|[|!])?(.*)", re.DOTALL)
_TABLE_MARK = re.compile(r"\n[ \t:*#;]*+(?:(\{\|)|\|\})")
# The closing tag of an HTML table, which `remove_hidden` leaves without an opening one, closes any table.
_TABLE_END_TAG = re.compile(r"()</(?i:table)\s*+>")
_HEADING = re.compile(rf"\n(=[^\n]*=)[ \t{DROPPED}]*+(?=\n)")
# Where no table is closed: what stands at the beginning of a line in tables only, unlike `|` and `!`.
_HALF_TABLE = re.compile(r"\n[ \t:*#;]*+(?:\{\||\|[-+}])")
# Lines without a blank line or a heading between, or the beginning of a heading.
_BLOCK = re.compile(r"(?>(?:\n(?!=[^\n]*=[ \t]*+\n)[ \t]*+(?=\S)[^\n]*+)+)|\n=")
_TABLE_LINE = re.compile(r"\n[ \t:*#;]*+(?:(\{\|)|(\|[-+])|(\|\})|[|!])")
# The beginning of a cell or caption that is not empty.
_CELL = re.compile(r"\n[ \t:*#;]*+(?:\|(?![-}])|!)[ \t|]*+[^\s|]")
_OPENING, _ROW, _CLOSING = 1, 2, 3
# A list item, a rule, preformatted text.
_SEPARATE_LINE = re.compile(r"\n(?:[*#:;]++|-{4,}|[ \t]++(?!\|))([^\n]*+)")
_SOFT_BREAK = re.compile(rf"\n(?<=[^\n{BREAK}]\n)(?=[^\n{BREAK}])")
DEEPEST_HEADING = 6
_QUOTES = re.compile(r"'{2,}")


def rows_of_table(table: str) -> str:
    """Return the text of a table between `{|` and `|}`, one paragraph a row; a table within it is part of its cell."""
    rows: list[list[list[str]]] = [[]]  # of each row the cells, of each cell its lines
    for line in table.strip().split("\n"):
        match = _LINE.match(line)
        mark, content = (match[1], match[2]) if match else ("", line)
        if mark in ("{|", "|}"):
            continue
        if mark == "|-":
            rows.append([])
        elif mark == "|+":
            rows += [[[_without_attributes(content)]], []]
        elif mark:
            cells = _CELLS.split(content) if mark == "!" else content.split("||")
            rows[-1] += [[_without_attributes(cell)] for cell in cells]
        elif rows[-1]:
            rows[-1][-1].append(line)
    lines = (" | ".join(filter(None, map(" ".join, row))) for row in rows)
    return "".join(f"\n\n{line}\n" for line in lines if line)


def _without_attributes(cell: str) -> str:
    return _ATTRIBUTES.sub("", cell).strip()


def remove_tables(text: str, page: PageRendering) -> str:
    """Return `text` without tables, or with their rows if `page` keeps them; see also `_half_tables`."""
    if _HALF_TABLE.search(text) is None:
        return text
    open_starts: list[int] = []
    tables: list[tuple[int, int]] = []
    marks = [*_TABLE_MARK.finditer(text), *_TABLE_END_TAG.finditer(text)]
    for mark in sorted(marks, key=re.Match.start):
        if mark[1]:
            open_starts.append(mark.start())
        elif open_starts:
            start = open_starts.pop()
            while tables and tables[-1][0] > start:
                tables.pop()  # it is inside this one
            tables.append((start, mark.end()))
    ends = [0, *(end for _, end in tables)]
    starts = [*(start for start, _ in tables), len(text)]
    half_tables = [half for gap in zip(ends, starts, strict=True) for half in _half_tables(text, *gap)]
    pieces, position = [], 0
    for start, end in sorted([*tables, *half_tables]):
        pieces.append(text[position:start])
        if _CELL.search(text, start, end) and page.keeps("tables"):
            pieces[-1] += rows_of_table(text[start:end])
        position = end
    return "\n\n".join([*pieces, text[position:]])


def _half_tables(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where tables lie that a template opens or closes, between two places without a whole table."""
    # Such a table is known by a mark that stands in no prose, behind some template. Without one, lines that begin
    # with `|` or `!` are prose. It ends with `|}`, or before a heading or the first block of lines behind its last
    # mark that begins with neither.
    if _HALF_TABLE.search(text, start, end) is None:
        return
    is_inside = False
    template_position = text.find(DROPPED)
    blocks = list(_BLOCK.finditer(text, start, end))
    marks = [list(_TABLE_LINE.finditer(text, block.start(), block.end())) for block in blocks]
    certain_marks = [next((mark.lastindex for mark in row if mark.lastindex), None) for row in marks]
    next_mark: int | None = None  # first certain mark behind a block, before a heading
    continues_table = [False] * len(blocks)
    for block_number in range(len(blocks) - 1, -1, -1):
        continues_table[block_number] = next_mark in (_ROW, _CLOSING)
        next_mark = None if blocks[block_number][0] == "\n=" else certain_marks[block_number] or next_mark
    blocks_and_marks = zip(blocks, marks, certain_marks, continues_table, strict=True)
    for block, line_marks, mark, is_continued in blocks_and_marks:
        if block[0] == "\n=":
            is_inside = False
        begins_with_cell = bool(line_marks) and line_marks[0].start() == block.start()
        if mark is None:
            is_inside = is_inside and (begins_with_cell or is_continued)
            if is_inside:
                yield block.span()
            continue
        first_position = block.start() if is_inside else _first_row(line_marks)
        if mark != _OPENING and not is_inside and not -1 < template_position <= first_position:
            continue  # no template opens a table before it
        is_inside = line_marks[-1].lastindex != _CLOSING
        yield first_position, block.end() if is_inside else line_marks[-1].end()


def _first_row(lines: list[re.Match[str]]) -> int:
    row_index = next(row_index for row_index, line in enumerate(lines) if line.lastindex)
    while (
        row_index
        and "\n" not in lines[row_index].string[lines[row_index - 1].end() : lines[row_index].start()]
    ):
        row_index -= 1
    return lines[row_index].start()


def mark_headings(text: str) -> str:
    """Put HEADING and the level before each heading, in place of its equal signs."""
    return _HEADING.sub(_heading, text)


def _heading(line: re.Match[str]) -> str:
    content = line[1]
    left_marks = len(content) - len(content.lstrip("="))
    if left_marks == len(content):  # nothing but equal signs: the middle one or two are the heading
        left_marks = (left_marks - 1) // 2
        if not left_marks:
            return line[0]
    right_marks = len(content) - len(content.rstrip("="))
    level = min(left_marks, right_marks, DEEPEST_HEADING)
    return f"\n\n{HEADING}{level}{content[level:-level].strip()}\n"


def remove_line_marks(text: str) -> str:
    """Return `text` without marks of list items and rules.

    There is a blank line on both sides of list items, rules and lines of preformatted text.
    """
    return _SEPARATE_LINE.sub(lambda line: f"\n\n{line[1]}\n", text)  # faster than a template


def change_lines(text: str, mark: str, change: Callable[[str], str]) -> str:
    """Return `text` with those lines changed that hold a mark."""
    pieces, copied_to = [], 0
    position = text.find(mark)
    while position >= 0:
        start = text.rfind("\n", copied_to, position) + 1 or copied_to
        end = text.find("\n", position)
        end = end if end >= 0 else len(text)
        pieces += [text[copied_to:start], change(text[start:end])]
        copied_to = end
        position = text.find(mark, end)
    return "".join([*pieces, text[copied_to:]])


def join_lines(text: str) -> str:
    """Return `text` with one line a paragraph, list item and heading."""
    return _SOFT_BREAK.sub(" ", text)


def apostrophes(line: str) -> str:
    """Return a line in which apostrophes that a reader sees among those of bold and italics are APOSTROPHE.

    The rule of MediaWiki: of more than five the first are text, of four the first one is; where a line has an odd
    number both of bold and italic marks, one bold mark is an apostrophe and an italic mark: the first after a
    one-letter word, else the first after a longer word, else the first.
    """
    runs = [(mark.start(), len(mark[0])) for mark in _QUOTES.finditer(line)]
    text_counts = {
        start: length - 5 if length > 5 else 1 for start, length in runs if length > 5 or length == 4
    }
    mark_lengths = [length - text_counts.get(start, 0) for start, length in runs]
    bold_count = sum(length in (3, 5) for length in mark_lengths)
    italic_count = sum(length in (2, 5) for length in mark_lengths)
    if bold_count % 2 and italic_count % 2:
        candidates = [start for (start, _), length in zip(runs, mark_lengths, strict=True) if length == 3]
        if candidates:
            start = min(candidates, key=lambda start: _rank(line, start + text_counts.get(start, 0)))
            text_counts[start] = text_counts.get(start, 0) + 1
    if not text_counts:
        return line
    pieces, copied_to = [], 0
    for start, count in sorted(text_counts.items()):
        pieces += [line[copied_to:start], APOSTROPHE * count]
        copied_to = start + count
    return "".join([*pieces, line[copied_to:]])


def _rank(line: str, position: int) -> int:
    if position and line[position - 1] == " ":
        return 2
    return 0 if position > 1 and line[position - 2] == " " else 1
