"""Format `trec` of topics: `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`, or the later XML form.

The XML form is `<topic number="1"> <query> <question> or <description> <narrative>` (Web, TREC-COVID). Tags of the
older form are not closed: a tag's text ends at the next known tag. Further parts of TREC 1 to 3, such as `<dom>` and
`<con>`, are left out. CLEF's topics have `<identifier>`, or a language in the tags' names (`<EN-title>`). A third form
is `<DOC>` with `<DOCNO>`: the text under no other tag is the title.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import displayed_names, unescaped
from irpretrain.corpora.checked import query, several_in_one
from irpretrain.corpora.doc_blocks import CDATA, SMART, escaped_cdata
from irpretrain.corpora.files import read_text
from irpretrain.corpora.records import (
    Malformed,
    Query,
    Skipped,
    is_too_large,
    most_bytes,
    most_parts,
    too_large,
)

Part = Literal["title", "description", "narrative"]

# Opens or closes a topic.
_BORDER = re.compile(r"<(/?)(?:top|topic|doc)\b([^<>\n]*)>", re.IGNORECASE)
_NUMBER = re.compile(r"""\s(?:number|id|qid)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TAG = re.compile(
    r"<(/?)(?:[a-z]{2}-)?(docno|text|num|identifier|title|desc|narr|query|question|description|narrative"
    r"|head|dom|smry|con|fac|nat|time|def)\b[^<>]*>",  # topics of TREC 1 to 3 have these, which make no query
    re.IGNORECASE,
)
_ANY_TAG = re.compile(r"<[A-Za-z][^<>/\s]{0,40}>?")

# A tag within the text of a part, such as <i>.
_MARKUP = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,30}(?:\s[^<>]{0,300})?/?>")

_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)
_FURNITURE = re.compile(
    r"<\?xml[^<>]*\?>|</?(?:topics|xml|parameters|webtrack[0-9]*)\b[^<>]*>", re.IGNORECASE
)
_NAMES = {
    "docno": "num",
    "identifier": "num",
    "text": "title",
    "query": "title",
    "desc": "description",
    "question": "description",
    "narr": "narrative",
}

# Names of a topic's number and parts; no topic has one twice.
_ONCE = {"title", "num", "narrative", "description", *_NAMES}


class TrecTopicOptions(Section):
    """Options of the format trec."""

    fields: list[Part] = option(
        ["title"], "Parts of a topic that make its query, in this order.", min_length=1
    )


OPTIONS = TrecTopicOptions


@dataclass
class _Topic:
    line: int
    number: str
    lines: list[str] = field(default_factory=list)
    size: int = 0
    parts: int = 0
    longest: int = field(default_factory=most_bytes)
    most: int = field(default_factory=most_parts)

    def add(self, text: str) -> None:
        """Add some text; that of a topic that is too large is counted alone."""
        self.size += len(text)
        self.parts += 1 + text.count("\n") + text.count("<")
        if self.parts <= self.most and self.size <= self.longest:
            self.lines.append(text)


def read(path: Path, options: TrecTopicOptions) -> Iterator[Query | Skipped | Malformed]:
    for position, topic in enumerate(_topics(path)):
        if isinstance(topic, Malformed):
            yield replace(topic, position=position)
        else:
            yield _query(topic, position, options.fields)


def _topics(path: Path) -> Iterator[_Topic | Malformed]:
    current: _Topic | None = None
    for piece in read_text(path):
        if isinstance(piece, Malformed):
            yield piece
            continue
        text, at, line = piece.text, 0, piece.number
        for border in chain(_BORDER.finditer(text), [None]):
            start, end = border.span() if border else (len(text), len(text))
            before, number = text[at:start], line
            line += text.count("\n", at, start)
            if current is not None:
                current.add(before)
            elif (fault := _outside(before, number)) or (border is not None and border[1]):
                # a closing tag without an opening one
                yield fault or Malformed(0, "text outside a topic", text[start:end], line)
            if border is not None and border[1]:
                if current is not None:
                    yield current
                current = None
            elif border is not None:
                if current is not None:
                    yield Malformed(0, "topic is not closed", "another begins before it ends", current.line)
                named = _NUMBER.search(border[2])
                current = _Topic(line, named[1] if named else "")
            line += text.count("\n", start, end)
            at = end
    if current is not None:
        yield Malformed(0, "topic is not closed", "the file ends in it", current.line)


def _outside(text: str, line: int) -> Malformed | None:
    """The fault of text that belongs to no topic; `line` is that of its beginning."""
    outside = _FURNITURE.sub("", _without_comments(text)).strip()
    if not outside:
        return None
    line += text.count("\n", 0, max(0, text.find(outside.split("\n")[0])))
    remedy = SMART if outside.startswith(".I ") else "Mend the record"
    return Malformed(0, "text outside a topic", outside[:40], line, remedy=remedy)


def _without_comments(text: str) -> str:
    """Return a text without `<!-- … -->`, in time that grows with its length; a comment without end stays."""
    retained, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin)) >= 0:
        retained.append(text[at:begin])
        at = end + len("-->")
    return "".join([*retained, text[at:]])


def _query(topic: _Topic, position: int, fields: list[Part]) -> Query | Malformed:
    if is_too_large(topic.size, topic.parts):
        return too_large(position, topic.line)
    text = _without_comments(escaped_cdata("\n".join(topic.lines)))
    if CDATA in text:
        return Malformed(position, "damaged markup", f"{CDATA} is not closed", topic.line)
    tags = list(_TAG.finditer(text))
    for tag, marks in _marks(tags).items():
        if marks > 1:
            return several_in_one(position, marks, f"<{tag}>", topic.line)
    parts = _parts(text, tags)
    number = topic.number.strip() or parts.get("num", "")
    if not number:
        here = displayed_names(dict.fromkeys(_ANY_TAG.findall("\n".join(topic.lines)))) or "none"
        detail = f"<num>, <docno>, <identifier>, or an attribute number or id is needed; its tags are {here}"
        return Malformed(position, "topic without a number", detail, topic.line)
    missing = [name for name in fields if name not in parts]
    if missing:
        return Malformed(position, "topic lacks a part", f"topic {number} has no {missing[0]}", topic.line)
    return query(number, " ".join(parts[name] for name in fields), position, topic.line)


def _marks(tags: list[re.Match[str]]) -> Counter[str]:
    """Count the beginnings of what no topic has twice: its number, and the parts that make queries."""
    names = [tag[2].lower() for tag in tags if not tag[1]]
    return Counter(
        name if name in ("text", "query") else _NAMES.get(name, name) for name in names if name in _ONCE
    )


def _parts(text: str, tags: list[re.Match[str]]) -> dict[str, str]:
    """Return the text under each tag."""
    ends = [*(tag.start() for tag in tags[1:]), len(text)]
    text_by_tag: dict[str, str] = {}
    for tag, end in zip(tags, ends, strict=False):
        if not tag.group(1):
            label = _LABEL.match(text, tag.end(), end)
            content = text[label.end() if label else tag.end() : end]
            name = tag.group(2).lower()
            text_by_tag.setdefault(_NAMES.get(name, name), unescaped(_MARKUP.sub(" ", content)).strip())
        elif tag.group(2).lower() == "docno" and (bare := text[tag.end() : end].strip()):
            text_by_tag.setdefault("title", unescaped(_MARKUP.sub(" ", bare)))
    return text_by_tag
