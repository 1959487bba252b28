"""Format `trectext`: SGML between `<DOC>` and `</DOC>`, as on TREC disks 4 and 5 (FT, FR, FBIS, LA Times).

Of a document without any tag of a body, the body is what stands directly under its `<DOC>`.

This is no XML: tags may be unclosed, stand in each other, or have attributes without quotes, `&` and `<` occur in
texts, and entities are those of several publishers. So tags are found by their shape, whatever looks otherwise is text,
and nothing is ever declared or included.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import clean_line, clean_text, identifier_fault
from irpretrain.corpora.checked import converted
from irpretrain.corpora.doc_blocks import Block, read_blocks
from irpretrain.corpora.files import Encoding
from irpretrain.corpora.records import AnyDocument, Document, Share, Skipped, everything

# Files of the disks are called ft911_1 and fr940104.0; `files` of the corpus says which count.
SUFFIXES = ("",)
TITLES = ("HEADLINE", "TI", "DOCTITLE", "TITLE", "HEAD", "HL", "TTL")
BODIES = ("TEXT", "LEADPARA", "LP")

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,30})(?:\s[^<>]{0,300})?>")
_ENTITY = re.compile(r"&(blank|hyph|para);")
_OWN_ENTITIES = {"blank": " ", "hyph": "-", "para": "§"}
"""Of the Federal Register; HTML has another blank and knows no hyph."""
_BREAKS = frozenset(("P", "H3", "H4", "TABLE", "TR", *TITLES, *BODIES))
_TEXT_TAGS = frozenset(
    ("P", "BR", "HR", "B", "I", "U", "EM", "STRONG", "SUB", "SUP", "FONT", "A", "UL", "OL", "LI")
)
"""Tags within running text: what they enclose belongs to the text around them."""
NO_TEXT = "no text under title_tags and body_tags"
BARE_TEXT = "text outside body_tags left out"
"""What is counted of a document with a body tag and text directly under its <DOC>, which is not read."""


class Options(Section):
    """Options of the format trectext."""

    encoding: Encoding = option("utf-8", "Of the files; disks 4 and 5 are latin-1.")
    title_tags: list[str] = option(list(TITLES), "Title tags; the first that has text is used.")
    body_tags: list[str] = option(
        list(BODIES),
        "Tags of the body. Without any of them, the body is the text directly under <DOC>.",
        min_length=1,
    )


def read(path: Path, options: Options, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position is the number of the document in it."""
    return converted(read_blocks(path, share), lambda block: _document(block, options))


def _document(block: Block, options: Options) -> AnyDocument:
    try:
        markup = block.content.decode(options.encoding)
    except UnicodeDecodeError as error:
        byte = f"byte {block.byte + len(b'<DOC>') + error.start:,}"
        remedy = "Give the corpus its encoding in options, such as latin-1"
        return block.malformed(f"not valid {options.encoding}", byte, remedy)
    markup = _COMMENT.sub(" ", markup)
    marked = _Marked.of(markup, {*options.title_tags, *options.body_tags, "DOCNO"})
    identifier = clean_line(marked.texts("DOCNO")[0])
    if not identifier:
        return block.malformed("no identifier", "the document has no <DOCNO>")
    if fault := identifier_fault(identifier):
        return block.malformed("bad identifier", fault)
    titles = (clean_line(marked.texts(name)[0]) for name in options.title_tags)
    title = next(filter(None, titles), "")
    has_body = marked.has(*options.body_tags)
    bare_texts = _bare_texts(marked.rest() if has_body else markup)
    texts = marked.texts(*options.body_tags) if has_body else bare_texts
    body = clean_text("\n".join(filter(str.strip, texts)))
    if not title and not body.strip():
        return _empty(block, markup)
    parts = {BARE_TEXT: 1} if has_body and any(map(str.strip, bare_texts)) else {}
    return Document(block.position, identifier, title, "", body.strip(), parts=parts)


def _bare_texts(markup: str) -> list[str]:
    """Return the texts that stand under no tag but those of running text; a tag that is not closed encloses nothing."""
    names = {tag[2].upper() for tag in _TAG.finditer(markup)} - _TEXT_TAGS
    marked, texts, place, start = _Marked.of(markup, names), list[str](), 0, 0
    while place < len(marked.tags):
        tag, end = marked.tags[place], marked.ends.get(place, place)
        is_closed = (
            end < len(marked.tags) and marked.tags[end][1] and marked.tags[end][2].upper() == tag[2].upper()
        )
        texts.append(_plain(markup[start : tag.start()]))
        place = end if is_closed else place
        start = marked.tags[place].end()
        place += 1
    return [*texts, _plain(markup[start:])]


def _empty(block: Block, markup: str) -> Skipped:
    """A document without title and body; where other tags hold text, with their names."""
    names = dict.fromkeys(tag[2].upper() for tag in _TAG.finditer(markup))
    names.pop("DOCNO", None)
    if not names or not _plain(re.sub(r"<DOCNO>[^<]*", " ", markup, flags=re.IGNORECASE)).strip():
        return Skipped(block.position, "empty document", place=block.place)
    shown = ", ".join(list(names)[:10])
    return Skipped(block.position, NO_TEXT, place=f"{block.place}, whose tags are {shown}")


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
    def of(cls, markup: str, names: set[str]) -> Self:
        tag_names = {name.upper() for name in names}
        tags = [tag for tag in _TAG.finditer(markup) if tag[2].upper() in tag_names]
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

    def has(self, *names: str) -> bool:
        """Whether any of the tags is of some name."""
        tag_names = {name.upper() for name in names}
        return any(tag[2].upper() in tag_names for tag in self.tags)

    def texts(self, *names: str) -> list[str]:
        """Return the texts under the outermost tags of some names; one empty text where there are none."""
        tag_names = {name.upper() for name in names}
        return [_plain(self.markup[tag.end() : stop]) for tag, stop, _ in self._outermost(tag_names)] or [""]

    def rest(self) -> str:
        """Return the markup without what stands under the tags."""
        pieces, start = list[str](), 0
        for tag, _, end in self._outermost({tag[2].upper() for tag in self.tags}):
            pieces.append(self.markup[start : tag.start()])
            start = end
        return " ".join([*pieces, self.markup[start:]])

    def _outermost(self, names: set[str]) -> Iterator[tuple[re.Match[str], int, int]]:
        """Yield each outermost tag of some names, where what it encloses stops, and where its closing tag ends."""
        place = 0
        while place < len(self.tags):
            tag = self.tags[place]
            if tag[1] or tag[2].upper() not in names:
                place += 1
                continue
            place = self.ends[place]
            closing = self.tags[place] if place < len(self.tags) else None
            stop = closing.start() if closing else len(self.markup)
            yield tag, stop, closing.end() if closing and closing[1] else stop


def _plain(markup: str) -> str:
    """Return a piece of markup as text: tags become spaces or line ends, entities characters."""
    text = _TAG.sub(lambda tag: "\n" if tag[2].upper() in _BREAKS else " ", markup)
    return html.unescape(_ENTITY.sub(lambda entity: _OWN_ENTITIES[entity[1]], text))
