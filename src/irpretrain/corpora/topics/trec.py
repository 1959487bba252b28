"""Format `trec` of topics: `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`, or the later XML form.

The XML form is `<topic number="1"> <query> <question> or <description> <narrative>` (Web, TREC-COVID). Tags of
the older form are not closed. A tag's text ends at the next known tag. Topics of TREC 1 to 3 have more parts, such as
`<dom>` and `<con>`, which are left out. A third form is that of documents, `<DOC>` with `<DOCNO>`; there the text under
no other tag is the title.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import query
from irpretrain.corpora.doc_blocks import SMART
from irpretrain.corpora.files import read_lines
from irpretrain.corpora.records import Malformed, Query, Skipped

Part = Literal["title", "description", "narrative"]

_OPEN = re.compile(r"<(?:top|topic|doc)\b([^<>]*)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:top|topic|doc)\s*>", re.IGNORECASE)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TAG = re.compile(
    r"<(/?)(docno|text|num|title|desc|narr|query|question|description|narrative"
    r"|head|dom|smry|con|fac|nat|time|def)\b[^<>]*>",  # topics of TREC 1 to 3 have these, which make no query
    re.IGNORECASE,
)
_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)
_FURNITURE = re.compile(
    r"<\?xml[^<>]*\?>|</?(?:topics|xml|parameters|webtrack[0-9]*)\b[^<>]*>", re.IGNORECASE
)
_NAMES = {
    "docno": "num",
    "text": "title",
    "query": "title",
    "desc": "description",
    "question": "description",
    "narr": "narrative",
}


class Options(Section):
    """Options of the format trec."""

    fields: list[Part] = option(
        ["title"], "Parts of a topic that make its query, in this order.", min_length=1
    )


@dataclass
class _Topic:
    line: int
    number: str
    lines: list[str] = field(default_factory=list)


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the topics in the order of the file."""
    for position, topic in enumerate(_topics(path)):
        if isinstance(topic, Malformed):
            yield replace(topic, position=position)
        else:
            yield _query(topic, position, options.fields)


def _topics(path: Path) -> Iterator[_Topic | Malformed]:
    current: _Topic | None = None
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        rest = line.text
        while rest:
            if current is None:
                opening = _OPEN.search(rest)
                before = _without_comments(rest[: opening.start()] if opening else rest)
                outside = _FURNITURE.sub("", before).strip()
                if outside:
                    remedy = SMART if outside.startswith(".I ") else "Mend the record"
                    yield Malformed(0, "text outside a topic", outside[:40], line.number, remedy=remedy)
                if opening is None:
                    break
                number = _NUMBER.search(opening.group(1))
                current, rest = _Topic(line.number, number.group(1) if number else ""), rest[opening.end() :]
            elif closing := _CLOSE.search(rest):
                current.lines.append(rest[: closing.start()])
                yield current
                current, rest = None, rest[closing.end() :]
            elif opening := _OPEN.search(rest):
                yield Malformed(0, "topic is not closed", "another begins before it ends", current.line)
                current, rest = None, rest[opening.start() :]
            else:
                current.lines.append(rest)
                break
    if current is not None:
        yield Malformed(0, "topic is not closed", "the file ends in it", current.line)


def _without_comments(text: str) -> str:
    """Return a text without `<!-- … -->`, in time that grows with its length; a comment without end stays."""
    kept, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin)) >= 0:
        kept.append(text[at:begin])
        at = end + len("-->")
    return "".join([*kept, text[at:]])


def _query(topic: _Topic, position: int, fields: list[Part]) -> Query | Malformed:
    parts = _parts("\n".join(topic.lines))
    number = topic.number.strip() or parts.get("num", "")
    if not number:
        return Malformed(position, "topic without a number", "", topic.line)
    missing = [name for name in fields if name not in parts]
    if missing:
        return Malformed(position, "topic lacks a part", f"topic {number} has no {missing[0]}", topic.line)
    return query(number, " ".join(parts[name] for name in fields), position, topic.line)


def _parts(text: str) -> dict[str, str]:
    """Return the text under each tag; the first of a name counts."""
    tags = list(_TAG.finditer(text))
    ends = [*(tag.start() for tag in tags[1:]), len(text)]
    text_by_tag: dict[str, str] = {}
    for tag, end in zip(tags, ends, strict=False):
        if not tag.group(1):
            label = _LABEL.match(text, tag.end(), end)
            content = text[label.end() if label else tag.end() : end]
            name = tag.group(2).lower()
            text_by_tag.setdefault(_NAMES.get(name, name), html.unescape(content).strip())
        elif tag.group(2).lower() == "docno" and (bare := text[tag.end() : end].strip()):
            text_by_tag.setdefault("title", html.unescape(bare))
    return text_by_tag
