"""Format `trectext`: SGML between `<DOC>` and `</DOC>`, as on TREC disks 4 and 5 (FT, FR, FBIS, LA Times).

This is no XML: tags may be unclosed, stand in each other, or have attributes without quotes, `&` and `<` occur in
texts, and entities are those of several publishers. So tags are found by their shape, whatever looks otherwise is text,
and nothing is ever declared or included.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.corpora.characters import clean_line, clean_text, identifier_fault
from irpretrain.corpora.doc_blocks import Block, read_blocks
from irpretrain.corpora.files import Encoding
from irpretrain.corpora.records import Document, Malformed, Skipped, Wanted, everything

SUFFIXES = (
    "",
)  # files of the disks are called ft911_1 and fr940104.0; `files` of the corpus says which count
TITLES = ("HEADLINE", "TI", "DOCTITLE", "TITLE", "HEAD", "HL", "TTL")
BODIES = ("TEXT", "LEADPARA", "LP")

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,30})(?:\s[^<>]{0,300})?>")
_ENTITY = re.compile(r"&(blank|hyph|para);")
_OWN_ENTITIES = {"blank": " ", "hyph": "-", "para": "§"}
"""Of the Federal Register; HTML has another blank and knows no hyph."""
_BREAKS = frozenset(("P", "H3", "H4", "TABLE", "TR", *TITLES, *BODIES))


class Options(Section):
    """Options of the format trectext."""

    encoding: Encoding = Field("utf-8", description="Of the files; disks 4 and 5 are latin-1.")
    title_tags: list[str] = Field(
        list(TITLES), description="Tags whose text is the title: the first of them that has any."
    )
    body_tags: list[str] = Field(
        list(BODIES),
        min_length=1,
        description="Tags whose texts, in their order in the document, are the body.",
    )


def read(
    path: Path, options: Options, wanted: Wanted = everything
) -> Iterator[Document | Skipped | Malformed]:
    """Yield the documents of one file; a position is the number of the document in it."""
    for block in read_blocks(path, wanted):
        yield block if isinstance(block, Malformed) else _document(block, options)


def _document(block: Block, options: Options) -> Document | Skipped | Malformed:
    try:
        markup = block.content.decode(options.encoding)
    except UnicodeDecodeError as error:
        byte = f"byte {block.byte + len(b'<DOC>') + error.start:,}"
        remedy = "Give the corpus its encoding in options, such as latin-1"
        return block.malformed(f"not valid {options.encoding}", byte, remedy)
    marked = _Marked.of(_COMMENT.sub(" ", markup), {*options.title_tags, *options.body_tags, "DOCNO"})
    identifier = clean_line(marked.texts("DOCNO")[0])
    if not identifier:
        return block.malformed("no identifier", "the document has no <DOCNO>")
    if fault := identifier_fault(identifier):
        return block.malformed("bad identifier", fault)
    titles = (clean_line(marked.texts(name)[0]) for name in options.title_tags)
    title = next((found for found in titles if found), "")
    body = clean_text("\n".join(filter(str.strip, marked.texts(*options.body_tags))))
    if not title and not body.strip():
        return Skipped(block.position, "empty document")
    return Document(block.position, identifier, title, "", body.strip())


@dataclass(frozen=True)
class _Marked:
    """Markup, its tags of some names (in capitals), and the place in them of each one's end.

    A tag that is not closed reaches to the last closing tag of its name, where an inner one took its own; else to the
    next opening tag of any of the names; else to the end of the document.
    """

    markup: str
    tags: list[re.Match[str]]
    ends: dict[int, int]

    @classmethod
    def of(cls, markup: str, names: set[str]) -> _Marked:
        known = {name.upper() for name in names}
        tags = [tag for tag in _TAG.finditer(markup) if tag[2].upper() in known]
        ends, waiting, closings = dict[int, int](), defaultdict[str, list[int]](list), dict[str, int]()
        for place, tag in enumerate(tags):
            name = tag[2].upper()
            if not tag[1]:
                waiting[name].append(place)
                continue
            closings[name] = place
            if waiting[name]:
                ends[waiting[name].pop()] = place
        following = len(tags)
        for place in range(len(tags) - 1, -1, -1):
            if tags[place][1]:
                continue
            if place not in ends:
                last = closings.get(tags[place][2].upper(), -1)
                ends[place] = last if last > place else following
            following = place
        return cls(markup, tags, ends)

    def texts(self, *names: str) -> list[str]:
        """Return the texts under the outermost tags of some names; one empty text where there are none."""
        wanted, found, place = {name.upper() for name in names}, list[str](), 0
        while place < len(self.tags):
            tag = self.tags[place]
            if tag[1] or tag[2].upper() not in wanted:
                place += 1
                continue
            end = self.ends[place]
            stop = self.tags[end].start() if end < len(self.tags) else len(self.markup)
            found.append(_plain(self.markup[tag.end() : stop]))
            place = end
        return found or [""]


def _plain(markup: str) -> str:
    """Return a piece of markup as text: tags become spaces or line ends, entities characters."""
    text = _TAG.sub(lambda tag: "\n" if tag[2].upper() in _BREAKS else " ", markup)
    return html.unescape(_ENTITY.sub(lambda entity: _OWN_ENTITIES[entity[1]], text))
