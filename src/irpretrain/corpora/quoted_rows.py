"""Rows of tables in CSV (RFC 4180), as spreadsheets write them: quoted cells may hold separators and line breaks.

A cell that begins with a quotation mark ends at the next single one; two stand for one. Cells are separated by commas,
semicolons, tabs or `|`, as the first row has them, or as a line `sep=;` before it says, which Excel reads and writes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from irpretrain.config.base import Section, option
from irpretrain.corpora.fields import ColumnNames, header_within_table, refuse_repeated
from irpretrain.foundation.characters import without_marks
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import (
    DAMAGE,
    GET_AGAIN,
    UNIX_LINES,
    Encoding,
    FieldLine,
    damage_text,
    encoding_fault,
    open_bytes,
    refuse_utf16,
)
from irpretrain.foundation.records import (
    WHOLE_FILE,
    Malformed,
    Share,
    is_too_large,
    max_record_bytes,
    too_large,
)

CLOSE_MARK = "Close each quotation mark, and write those of a text twice"

Separator = Literal[",", ";", "\t", "|"]
SEPARATORS: tuple[Separator, ...] = (",", ";", "\t", "|")

_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[ \r]*(?:\n|\Z)', re.IGNORECASE)
# The rest of a quoted cell behind its first quotation mark.
_QUOTED = re.compile(r'[^"]*+(?>(?:""[^"]*+)*)')


class CsvOptions(Section):
    """Options of the format csv."""

    columns: ColumnNames | None = option(
        None, "Column names in order, for files without a header; null: the first row.", min_length=1
    )
    separator: Separator | None = option(
        None,
        "Of cells; null: that of a first line such as `sep=;`, else comma, semicolon, tab or `|`, whichever the "
        "first row has most of.",
    )
    encoding: Encoding = option("utf-8", "Of the files.")


@dataclass
class _Row:
    """A row while its lines are read."""

    line: int
    separator: str
    lines: list[str] = field(default_factory=list)
    size: int = 0
    parts: int = 0
    is_open: bool = False  # whether its last line ends within quotation marks
    fault: Malformed | None = None

    def add(self, text: str) -> None:
        self.size += len(text) + 1
        self.parts += text.count(self.separator) + 1
        self.is_open = _ends_open(text, self.separator, self.is_open)
        if not self.is_too_large:
            self.lines.append(text)

    def text(self) -> str:
        return "\n".join(self.lines)

    def cells(self) -> list[str]:
        return split_row(self.text(), self.separator)

    @property
    def is_too_large(self) -> bool:
        return is_too_large(self.size, self.parts)


def _ends_open(line: str, separator: str, is_open: bool) -> bool:
    """Return whether a line ends within quotation marks, if it begins so."""
    if not is_open and '"' not in line:
        return False
    position = 0
    while True:
        if not is_open and line.startswith('"', position):
            is_open, position = True, position + 1
        if is_open:
            match = _QUOTED.match(line, position)
            assert match is not None
            if match.end() == len(line):
                return True
            is_open, position = False, match.end() + 1
        position = line.find(separator, position)
        if position < 0:
            return False
        position += 1


def split_row(text: str, separator: str) -> list[str]:
    """Return the cells of a whole row, without their quotation marks."""
    if '"' not in text:
        return text.split(separator)
    return [quoted + rest for quoted, rest in _cells(text, separator)]


def _cells(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a whole row: what stands in quotation marks, and what stands behind them."""
    position, end = 0, 0
    while end >= 0:
        quoted = ""
        if text.startswith('"', position) and (match := _QUOTED.match(text, position + 1)):
            quoted, position = match[0].replace('""', '"'), match.end() + 1
        end = text.find(separator, position)
        yield quoted, text[position:] if end < 0 else text[position:end]
        position = end + len(separator)


def _joins_rows(text: str, separator: str) -> bool:
    """Return whether a quoted cell of several lines has text behind it, as where a mark before it was not closed."""
    return any("\n" in quoted and rest.strip() for quoted, rest in _cells(text, separator))


def separator_of(text: str) -> Separator:
    """Return what separates the cells of a table's first row: whatever it has most of outside quotation marks."""
    return max(SEPARATORS, key=_unquoted(text).count)


def _unquoted(text: str) -> str:
    return re.sub(r'"[^"]*+(?>(?:""[^"]*+)*)"?', "", text)


def separator_line(beginning: str) -> tuple[Separator | None, str]:
    """Return the separator that a first line such as `sep=;` names, and what stands behind that line."""
    match = _SEPARATOR_LINE.match(beginning)
    return (cast(Separator, match[1]), beginning[match.end() :]) if match else (None, beginning)


def split_beginning(text: str, separator: str) -> list[list[str]]:
    """Return the rows of the beginning of a table, without the last one, which may be cut off, unless it is alone."""
    rows = list[list[str]]()
    row = _Row(1, separator)
    for line in text.split("\n"):
        if not row.lines and not line.strip():
            continue
        row.add(line.removesuffix("\r"))
        if not row.is_open:
            rows.append(row.cells())
            row = _Row(1, separator)
    is_cut_off = not text.endswith("\n") and not row.lines
    return rows[:-1] if is_cut_off and len(rows) > 1 else rows


def column_names(path: Path, options: CsvOptions) -> list[str]:
    """Return the columns that are named, or the cells of the first row; none for an empty file."""
    if options.columns is not None:
        return list(options.columns)
    for row in _rows(path, options):
        if isinstance(row, Malformed):
            raise InputError(path, f"the header cannot be read: {row}", row.line, f"{row.remedy}.")
        names = [name.strip() for name in row.cells()]
        while names and not names[-1]:  # spreadsheets write empty columns behind the last one
            names.pop()
        refuse_repeated(path, names, row.line)
        return names
    return []


def separator_in(path: Path, options: CsvOptions) -> tuple[str, int]:
    """Return what separates the cells of a file's first row, and the number of that row's line."""
    row = next(row for row in _rows(path, options) if isinstance(row, _Row))
    return row.separator, row.line


def read_csv_rows(
    path: Path, options: CsvOptions, columns: Sequence[str], share: Share = WHOLE_FILE
) -> Iterator[FieldLine | Malformed]:
    """Yield the rows of a share behind the header; a position is the number of the row behind it, from 0.

    Rows may have empty cells behind the last column. Blank lines and rows of empty cells are passed over.
    """
    for position, row in enumerate(_rows(path, options), -1 if options.columns is None else 0):
        if position < 0 or not share(position):
            continue
        if isinstance(row, Malformed):
            yield replace(row, position=position)
            continue
        cells = row.cells()
        if not any(cell.strip() for cell in cells):
            continue  # spreadsheets write empty rows behind the last one
        while len(cells) > len(columns) and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(columns):
            detail = f"{len(cells):,} instead of {len(columns)}"
            yield Malformed(position, "wrong number of columns", detail, row.line)
        elif options.columns is None and [cell.strip() for cell in cells] == list(columns):
            yield header_within_table(position, row.line)
        else:
            yield FieldLine(position, row.line, dict(zip(columns, cells, strict=True)))


def _rows(path: Path, options: CsvOptions) -> Iterator[_Row | Malformed]:
    """Yield the rows; InputError where carriage returns alone end the lines."""
    separator, is_first = options.separator, True
    row: _Row | None = None
    fault: Malformed | None
    line_number, max_bytes = 0, max_record_bytes()
    with open_bytes(path) as stream:
        try:
            while raw := stream.readline(max_bytes + 1):
                line_number += 1
                if line_number == 1:
                    refuse_utf16(path, raw, options.encoding)
                    raw = without_marks(raw)
                if row is None and not raw.strip():
                    continue
                try:
                    text = raw.removesuffix(b"\n").removesuffix(b"\r").decode(options.encoding)
                    fault = None
                except UnicodeDecodeError as error:
                    text = raw.decode(options.encoding, "replace").rstrip("\r\n")
                    fault = encoding_fault(error, 0, line_number, options.encoding)
                if line_number == 1 and (named_separator := separator_line(text)[0]):
                    separator = separator or named_separator
                    continue
                if row is None:
                    row = _Row(line_number, separator or separator_of(text))
                    if is_first:
                        _refuse_carriage_returns(path, text, line_number)
                row.add(text)
                row.fault = row.fault or fault
                if row.is_open:
                    continue
                if is_first:  # whose first line may be the beginning of a quoted cell
                    separator = row.separator = separator or separator_of(row.text())
                    is_first = False
                if len(row.lines) > 1 and _joins_rows(row.text(), row.separator):
                    detail = f"behind a cell of lines {row.line} to {line_number}"
                    row.fault = row.fault or Malformed(
                        0, "text behind a closing quotation mark", detail, row.line, remedy=CLOSE_MARK
                    )
                yield too_large(0, row.line) if row.is_too_large else row.fault or row
                row = None
        except DAMAGE as error:
            detail = damage_text(path, error)
            yield Malformed(0, "damaged archive", detail, line_number + 1, remedy=GET_AGAIN, loses_more=True)
            return
    if row is not None:
        detail = "the file ends in the cell"
        yield Malformed(
            0, "quotation mark is not closed", detail, row.line, remedy=CLOSE_MARK, loses_more=True
        )


def _refuse_carriage_returns(path: Path, first_line: str, line_number: int) -> None:
    if "\r" in _unquoted(first_line).strip():
        remedy = f"{UNIX_LINES}; in Excel: CSV UTF-8."
        raise InputError(path, "several lines in one: only a line feed ends a line", line_number, remedy)
