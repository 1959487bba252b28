"""Format `car-outlines` of topics: every section of TREC CAR's outlines, as its page's title and the headings to it.

Its identifier is that of the hierarchical judgements: `enwiki:Green%20sea%20turtle/Habitat/Nesting`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from irpretrain.corpora.car import identifier, read_items
from irpretrain.corpora.checked import NoOptions, query
from irpretrain.corpora.records import Malformed, Query, Skipped

OPTIONS = NoOptions

OUTLINES = 1


def read(path: Path, options: NoOptions) -> Iterator[Query | Skipped | Malformed]:
    """Yield the sections in the order of the file; a position is the number of the section in it."""
    position = 0
    for item in read_items(path, OUTLINES):
        if isinstance(item, Malformed):
            yield replace(item, position=position)
            return
        number, page = item
        name = identifier(page[2]) if isinstance(page, list) and len(page) > 3 else None
        if name is None or not isinstance(page[1], str) or not isinstance(page[3], list):
            yield Malformed(position, "no outline", repr(page)[:60], location=f"page {number + 1}")
            position += 1
            continue
        for path_to, headings in _sections(page[3], [name], [page[1]]):
            yield query("/".join(path_to), " ".join(headings), position)
            position += 1


def _sections(
    parts: list[Any], path: list[str], headings: list[str]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the identifiers and the headings on the way to every section, in the order of the text."""
    for part in parts:
        if not isinstance(part, list) or len(part) < 4 or part[0] != 0:
            continue  # a paragraph, a picture, a list
        name = identifier(part[2])
        if name is None or not isinstance(part[1], str) or not isinstance(part[3], list):
            continue
        here = [*path, name], [*headings, part[1]]
        yield here
        yield from _sections(part[3], *here)
