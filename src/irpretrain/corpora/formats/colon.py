"""Format `colon` of topics: `1:after school program evaluation`, a query a line (TREC's Million Query track).

The track's file of 2009 has a priority, one digit, between: `20001:1:obama family tree`. A file has priorities in most
lines or in none.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import query
from irpretrain.corpora.registry import Format
from irpretrain.foundation.files import Encoding, Line, read_lines
from irpretrain.foundation.progress import notice
from irpretrain.foundation.records import Malformed, Query


class ColonTopicOptions(Section):
    """Options of the format colon."""

    encoding: Encoding = option("utf-8", "Of the file; the track's own are latin-1.")


_PRIORITY = re.compile(r"([^:]*:)[1-9]:")
_BEHIND_A_WORD = re.compile(r"(?<=[^ \t0-9])[0-9]{1,9}(?=:)")


def read(path: Path, options: ColonTopicOptions) -> Iterator[Query | Malformed]:
    has_priorities = _has_priorities(path, options.encoding)
    if has_priorities:
        notice(str(path), "the digit behind each identifier is left out: a priority, as in 2009")
    lines = chain(read_lines(path, encoding=options.encoding), [None])
    for line, next_line in pairwise(lines):
        if line is not None:
            yield line if isinstance(line, Malformed) else _query(line, next_line, has_priorities)


def _has_priorities(path: Path, encoding: Encoding) -> bool:
    line_count = priority_count = 0
    for line in read_lines(path, encoding=encoding):
        line_count += 1
        priority_count += isinstance(line, Line) and bool(_PRIORITY.match(line.text))
    return 2 * priority_count > line_count


def _query(line: Line, next_line: Line | Malformed | None, has_priority: bool) -> Query | Malformed:
    if "\r" in line.text.strip():
        return line.joined()
    if has_priority and not _PRIORITY.match(line.text):
        return line.malformed("no priority", repr(line.text[:40]))
    text_without_priority = _PRIORITY.sub(r"\1", line.text, count=1) if has_priority else line.text
    identifier, colon, text = text_without_priority.partition(":")
    if not colon:
        return line.malformed("no colon", repr(line.text[:40]))
    next_identifier = next_line.text.partition(":")[0] if isinstance(next_line, Line) else ""
    if joined_number := _joined_identifier(identifier.strip(), text, next_identifier.strip()):
        return line.malformed("several queries in one line", f"query {joined_number} begins within it")
    return query(identifier, text, line.position, line.number)


def _joined_identifier(identifier: str, text: str, next_identifier: str) -> int | None:
    """Return the number, behind a word and before a colon, that lies between that of a query and that of the next line:
    the end of a line is lost there. Of the last query only the next number counts."""
    if not identifier.isdecimal():
        return None
    first_number = int(identifier)
    end = int(next_identifier) if next_identifier.isdecimal() else first_number + 2
    possible_numbers = (int(match[0]) for match in _BEHIND_A_WORD.finditer(text))
    return next((number for number in possible_numbers if first_number < number < end), None)


TOPICS = Format(ColonTopicOptions, read)
