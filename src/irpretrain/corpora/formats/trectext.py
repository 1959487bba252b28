"""Format `trectext`: SGML between `<DOC>` and `</DOC>`, as on TREC disks 4 and 5 (FT, FR, FBIS, LA Times).

Without any body tag, the body is the text directly under `<DOC>`. This is no XML: tags may be unclosed or nested
freely, attributes lack quotes, `&` and `<` occur in texts, and entities are those of several publishers. So tags are
found by their shape, everything else is text, and nothing is declared or included.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted
from irpretrain.corpora.doc_blocks import CDATA, DocBlock, escaped_cdata, read_blocks
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import clean_line, clean_text, identifier_fault, unescaped
from irpretrain.foundation.files import Encoding
from irpretrain.foundation.records import WHOLE_FILE, AnyDocument, Document, Share, Skipped

# Files of the disks are called ft911_1 and fr940104.0; `files` of the corpus says which count.
TITLES = ("HEADLINE", "TI", "DOCTITLE", "TITLE", "HEAD", "HL", "TTL")
BODIES = ("TEXT", "LEADPARA", "LP")

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,30})(?:\s[^<>]{0,300})?>")
_ENTITY = re.compile(r"&(blank|hyph|para);")

# Of the Federal Register; HTML has another blank and knows no hyph.
_REGISTER_ENTITIES = {"blank": " ", "hyph": "-", "para": "§"}
_BREAKS = frozenset(("P", "H3", "H4", "TABLE", "TR", *TITLES, *BODIES))

# Tags within running text: what they enclose belongs to the text around them.
_TEXT_TAGS = frozenset(
    ("P", "BR", "HR", "B", "I", "U", "EM", "STRONG", "SUB", "SUP", "FONT", "A", "UL", "OL", "LI")
)
NO_TEXT = "no text under title_tags and body_tags"

# What is counted of a document with text that is not read: directly under <DOC> beside a body tag, or, without any body
# tag, under other tags.
BARE_TEXT = "text outside body_tags left out"


class TrectextDocumentOptions(Section):
    """Options of the format trectext."""

    encoding: Encoding = option("utf-8", "Of the files; disks 4 and 5 are latin-1.")
    title_tags: list[str] = option(list(TITLES), "Title tags; the first that has text is used.")
    body_tags: list[str] = option(
        list(BODIES),
        "Tags of the body. Without any of them, the body is the text directly under <DOC>.",
        min_length=1,
    )


def read(path: Path, options: TrectextDocumentOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the documents of one file; a position is the number of the document in it."""
    return converted(read_blocks(path, share, b"DOCNO"), lambda block: _document(block, options))


def _document(block: DocBlock, options: TrectextDocumentOptions) -> AnyDocument:
    try:
        markup = block.content.decode(options.encoding)
    except UnicodeDecodeError as error:
        byte = f"byte {block.offset + len(b'<DOC>') + error.start:,}"
        remedy = "Give the corpus its encoding in options, such as latin-1"
        return replace(block.malformed(f"not valid {options.encoding}", byte, remedy), of_file=True)
    markup = _COMMENT.sub(" ", escaped_cdata(markup))
    if CDATA.search(markup):
        return block.malformed("damaged markup", "<![CDATA[ is not closed")
    tagged = _TaggedMarkup.of(markup, {*options.title_tags, *options.body_tags, "DOCNO"})
    identifier = clean_line(tagged.texts("DOCNO")[0])
    if not identifier:
        return block.malformed("no identifier", "the document has no <DOCNO>")
    if fault := identifier_fault(identifier):
        return block.malformed("bad identifier", fault)
    titles = (clean_line(text) for name in options.title_tags for text in tagged.texts(name))
    title = next(filter(None, titles), "")
    has_body = tagged.has(*options.body_tags)
    bare_texts = _bare_texts(tagged.outside_text() if has_body else markup)
    texts = tagged.texts(*options.body_tags) if has_body else bare_texts
    body = clean_text("\n".join(filter(str.strip, texts)))
    if not title and not body.strip():
        if not (tags := _unread_tags(markup, options)):
            return Skipped(block.position, "empty document", location=block.location, document_id=identifier)
        location = f"{block.location}, whose tags are {', '.join(tags[:10])}"
        return Skipped(block.position, NO_TEXT, location=location, document_id=identifier)
    has_unread_text = (
        any(map(str.strip, bare_texts)) if has_body else not body and bool(_unread_tags(markup, options))
    )
    parts = {BARE_TEXT: 1} if has_unread_text else {}
    return Document(block.position, identifier, title, "", body.strip(), parts=parts)


def _bare_texts(markup: str) -> list[str]:
    """Return the texts that stand under no tag but those of running text; a tag that is not closed encloses nothing."""
    names = {tag[2].upper() for tag in _TAG.finditer(markup)} - _TEXT_TAGS
    tagged, texts, tag_index, text_start = _TaggedMarkup.of(markup, names), list[str](), 0, 0
    while tag_index < len(tagged.tags):
        tag, end_index = tagged.tags[tag_index], tagged.ends.get(tag_index, tag_index)
        closing = tagged.tags[end_index] if end_index < len(tagged.tags) else None
        is_closed = closing is not None and closing[1] and closing[2].upper() == tag[2].upper()
        texts.append(_plain(markup[text_start : tag.start()]))
        tag_index = end_index if is_closed else tag_index
        text_start = tagged.tags[tag_index].end()
        tag_index += 1
    return [*texts, _plain(markup[text_start:])]


def _unread_tags(markup: str, options: TrectextDocumentOptions) -> list[str]:
    """Return the tags of a document without a body, if other tags than those of identifier and title hold text."""
    read_tags = {name.upper() for name in ("DOCNO", *options.title_tags)}
    names = dict.fromkeys(tag[2].upper() for tag in _TAG.finditer(markup))
    unread_markup = _TaggedMarkup.of(markup, read_tags).outside_text()
    return [name for name in names if name not in read_tags] if _plain(unread_markup).strip() else []


@dataclass(frozen=True)
class _TaggedMarkup:
    """Markup, its tags of some names (in capitals), and the index of each one's end among them.

    An unclosed tag reaches to the last closing tag of its name, if an inner tag took its own; else to the next opening
    tag of any of the names; else to the end of the document.
    """

    markup: str
    tags: list[re.Match[str]]
    ends: dict[int, int]

    @classmethod
    def of(cls, markup: str, names: set[str]) -> Self:
        tag_names = {name.upper() for name in names}
        tags = [tag for tag in _TAG.finditer(markup) if tag[2].upper() in tag_names]
        ends, open_tags, closings = dict[int, int](), defaultdict[str, list[int]](list), dict[str, int]()
        for index, tag in enumerate(tags):
            name = tag[2].upper()
            if not tag[1]:
                open_tags[name].append(index)
                continue
            closings[name] = index
            if open_tags[name]:
                ends[open_tags[name].pop()] = index
        next_tag = len(tags)
        for index in range(len(tags) - 1, -1, -1):
            if tags[index][1]:
                continue
            if index not in ends:
                last_closing = closings.get(tags[index][2].upper(), -1)
                ends[index] = last_closing if last_closing > index else next_tag
            next_tag = index
        return cls(markup, tags, ends)

    def has(self, *names: str) -> bool:
        tag_names = {name.upper() for name in names}
        return any(tag[2].upper() in tag_names for tag in self.tags)

    def texts(self, *names: str) -> list[str]:
        """Return the texts under the outermost tags of some names; one empty text where there are none."""
        tag_names = {name.upper() for name in names}
        return [_plain(self.markup[tag.end() : stop]) for tag, stop, _ in self._outermost(tag_names)] or [""]

    def outside_text(self) -> str:
        pieces, start = list[str](), 0
        for tag, _, end in self._outermost({tag[2].upper() for tag in self.tags}):
            pieces.append(self.markup[start : tag.start()])
            start = end
        return " ".join([*pieces, self.markup[start:]])

    def _outermost(self, names: set[str]) -> Iterator[tuple[re.Match[str], int, int]]:
        """Yield each outermost tag of some names, where what it encloses stops, and where its closing tag ends."""
        index = 0
        while index < len(self.tags):
            tag = self.tags[index]
            if tag[1] or tag[2].upper() not in names:
                index += 1
                continue
            index = self.ends[index]
            closing = self.tags[index] if index < len(self.tags) else None
            stop = closing.start() if closing else len(self.markup)
            yield tag, stop, closing.end() if closing and closing[1] else stop


def _plain(markup: str) -> str:
    """Return a piece of markup as text: tags become spaces or line ends, entities characters."""
    text = _TAG.sub(lambda tag: "\n" if tag[2].upper() in _BREAKS else " ", markup)
    return unescaped(_ENTITY.sub(lambda entity: _REGISTER_ENTITIES[entity[1]], text))


DOCUMENTS = Format(TrectextDocumentOptions, read, suffixes=("",))
