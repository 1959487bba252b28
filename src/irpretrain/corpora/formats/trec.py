"""TREC's formats: topics between `<top>` and `</top>`, judgements (qrels) and runs in columns.

Topics have `<num>`, `<title>`, `<desc>`, `<narr>`, or the later XML form `<topic number="1"> <query> <question> or
<description> <narrative>` (Web, TREC-COVID), or their title alone (Clinical Trials); the number may be an element
`<number>` (Health Misinformation) or `<id>`. Tags of the older form are not
closed: a tag's text ends at the next known tag. Further parts of TREC 1 to 3, such as `<dom>` and `<con>`, are left
out. CLEF's topics have `<identifier>`, or a language in the tags' names (`<EN-title>`). A third form is `<DOC>` with
`<DOCNO>`: the text under no other tag is the title.

Judgements are lines of query, iteration, document, relevance, separated by blanks or tabs. Lines of five columns are of
two kinds, of which a file has one. Prels (Million Query, Web 2009) are query, document, relevance, sampling method,
sampling probability. Others are query, iteration, document, relevance, weight. Method, probability and weight are
ignored.

Runs are lines of query, Q0, document, rank, score, tag. Comments in judgements and runs begin with `#`.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, get_args

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import (
    NoOptions,
    converted,
    judgement,
    query,
    record_or_comment,
    retrieved,
    several_records,
)
from irpretrain.corpora.doc_blocks import CDATA, SMART_REMEDY, escaped_cdata
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import NUMBER, WHOLE_NUMBER, displayed_names, unescaped
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.foundation.files import Line, read_lines, split_columns
from irpretrain.foundation.progress import notice
from irpretrain.foundation.records import (
    MEND_RECORD,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Skipped,
    is_too_large,
    too_large,
)

Part = Literal["title", "description", "narrative"]

# Opens or closes a topic.
_TOPIC_BORDER = re.compile(r"<(/?)(?:top|topic|doc)(?![\w-])([^<>\n]*)>", re.IGNORECASE)
_TOPIC_NUMBER = re.compile(
    r"""\s(?:number|num|(?:(?:query|topic)[-_]?|q)?id)\s*=\s*["']([^"']*)["']""", re.IGNORECASE
)
_TAG = re.compile(
    r"<(/?)(?:[a-z]{2}-)?(docno|text|num|number|identifier|title|desc|narr|query|question|description|narrative"
    r"|head|dom|smry|con|fac|nat|time|def)(?![\w-])[^<>]*>",  # topics of TREC 1 to 3 have these, which make no query
    re.IGNORECASE,
)
_ANY_TAG = re.compile(r"<[A-Za-z][^<>/\s]{0,40}>?")

# A tag within the text of a part, such as <i>.
_MARKUP = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,30}(?:\s[^<>]{0,300})?/?>")

# Tags of running text, which make no part.
_NO_PARTS = ("p", "br", "hr", "li", "i", "b", "u", "em", "strong")
# Tags of other parts, which begin lines; those of running text may do so too.
_OTHER_PART = re.compile(
    rf"^[^\S\n]*<(?!(?:{'|'.join(_NO_PARTS)})\b)([A-Za-z][\w-]{{0,40}})>", re.MULTILINE | re.IGNORECASE
)
# A part that is not read, wherever it begins.
_UNREAD_PART = re.compile(r"<([A-Za-z][\w-]{0,40})(?=[\s/>])")

# A topic's number where it has none under a name that TREC's own topics have.
_OTHER_NUMBER = re.compile(r"<(/?)(?:(?:q|query|topic)[-_]?)?(?:id|no|num|number)>", re.IGNORECASE)
_CLOSING = re.compile(r"</([A-Za-z][\w-]{0,40})")

_LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)
_FURNITURE = re.compile(
    r"<\?xml[^<>]*\?>|</?(?:topics|xml|parameters|webtrack[0-9]*)\b[^<>]*>", re.IGNORECASE
)
_PART_OF_TAG = {
    "docno": "num",
    "identifier": "num",
    "number": "num",
    "text": "title",
    "query": "title",
    "desc": "description",
    "question": "description",
    "narr": "narrative",
}

# Names of a topic's number and parts; no topic has one twice.
_UNIQUE_TAGS = {"title", "num", "narrative", "description", *_PART_OF_TAG}


class TrecTopicOptions(Section):
    """Options of the format trec."""

    fields: list[Part] = option(
        ["title"], "Parts of a topic that make its query, in this order.", min_length=1
    )


# How a file of topics of others begins → what makes topics of it.
OTHER_TOPICS = {
    ".I ": SMART_REMEDY,
    "<queries>": "If these are NTCIR's topics, write a table of them: python -c \"import xml.etree.ElementTree as x; "
    "[print(q.findtext('qid'), *q.findtext('content').split()) for q in x.parse('FILE').iter('query')]\" "
    "| sed 's/ /\\t/' > topics.tsv",
}


@dataclass
class _Block:
    """The lines of a topic, or those between topics: their numbers and texts."""

    line: int
    is_topic: bool = False
    number: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    parts: int = 0

    def add(self, line: int, text: str) -> None:
        """Add some text; that of a topic that is too large is counted alone."""
        self.size += len(text) + 1
        self.parts += 1 + text.count("<")
        if not is_too_large(self.size, self.parts):
            self.lines.append((line, text))

    def text(self) -> str:
        return "\n".join(text for _, text in self.lines)

    def fault_outside(self) -> Malformed | None:
        """Return the fault of text that belongs to no topic."""
        text_outside = _FURNITURE.sub("", _without_comments(self.text())).strip()
        if self.is_topic or not text_outside:
            return None
        first_line = text_outside.split("\n")[0]
        line = next((line_number for line_number, text in self.lines if first_line in text), self.line)
        fault = Malformed(0, "text outside a topic", first_line[:40], line)
        remedies = (
            remedy for beginning, remedy in OTHER_TOPICS.items() if text_outside.startswith(beginning)
        )
        remedy = next(remedies, "")
        return replace(fault, remedy=remedy, of_file=True) if remedy else fault


def read_topics(path: Path, options: TrecTopicOptions) -> Iterator[Query | Skipped | Malformed]:
    for position, topic in enumerate(_topics(path)):
        if isinstance(topic, Malformed):
            yield replace(topic, position=position)
        else:
            yield _query(topic, position, options.fields)


def _topics(path: Path) -> Iterator[_Block | Malformed]:
    block = _Block(1)
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        position = 0
        for border in _TOPIC_BORDER.finditer(line.text):
            block.add(line.number, line.text[position : border.start()])
            position, closes = border.end(), bool(border[1])
            if fault := block.fault_outside():
                yield fault
            elif block.is_topic and not closes:
                yield Malformed(0, "topic is not closed", "another begins before it ends", block.line)
            elif block.is_topic:
                yield block
            elif closes:
                yield Malformed(0, "text outside a topic", border[0], line.number)
            number_match = _TOPIC_NUMBER.search(border[2])
            block = _Block(line.number, not closes, unescaped(number_match[1]) if number_match else "")
        block.add(line.number, line.text[position:])
    if block.is_topic:
        yield Malformed(0, "topic is not closed", "the file ends in it", block.line)
    elif fault := block.fault_outside():
        yield fault


def _without_comments(text: str) -> str:
    """Return a text without `<!-- … -->`, in time that grows with its length; a comment without end stays."""
    kept_texts, position = [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept_texts.append(text[position:start])
        position = end + len("-->")
    return "".join([*kept_texts, text[position:]])


def _query(topic: _Block, position: int, fields: list[Part]) -> Query | Malformed:
    if is_too_large(topic.size, topic.parts):
        return too_large(position, topic.line)
    text = _without_comments(escaped_cdata(topic.text()))
    if CDATA.search(text):
        return Malformed(position, "damaged markup", "<![CDATA[ is not closed", topic.line)
    tags = list(_TAG.finditer(text))
    if not topic.number.strip() and not any(
        _PART_OF_TAG.get(tag[2].lower(), tag[2].lower()) == "num" for tag in tags
    ):
        text = _OTHER_NUMBER.sub(r"<\1num>", text)
        tags = list(_TAG.finditer(text))
    for tag, tag_count in _count_tags(tags).items():
        if tag_count > 1:
            return several_records(position, tag_count, f"<{tag}>", topic.line)
    is_title = bool(topic.number) and not _ANY_TAG.search(text)
    text_by_tag = {"title": unescaped(text).strip()} if is_title else _parts(text, tags)
    topic_number = topic.number.strip() or text_by_tag.get("num", "")
    if not topic_number:
        tag_names = displayed_names(dict.fromkeys(_ANY_TAG.findall(topic.text()))) or "none"
        requirement = "<num>, <number>, <id>, <docno>, <identifier>, or an attribute number or id is needed"
        detail = f"{requirement}; its tags are {tag_names}"
        return Malformed(position, "topic without a number", detail, topic.line)
    missing_fields = [name for name in fields if name not in text_by_tag]
    if missing_fields:
        detail = f"topic {topic_number} has no {missing_fields[0]}"
        remedy = _other_parts_remedy(text_by_tag, _unread_parts(text))
        return Malformed(position, "topic lacks a part", detail, topic.line, remedy=remedy)
    return query(topic_number, " ".join(text_by_tag[name] for name in fields), position, topic.line)


def _unread_parts(text: str) -> list[str]:
    return [
        name
        for name in _UNREAD_PART.findall(text)
        if name.lower() not in _NO_PARTS and not _TAG.match(f"<{name}>")
    ]


def _other_parts_remedy(topic_parts: Collection[str], unread_tags: Sequence[str]) -> str:
    """Return how to make queries of the parts that a topic has, or what to write if these are none that are read."""
    parts_present = [name for name in get_args(Part) if name in topic_parts]
    if not parts_present and unread_tags:
        tag_names = displayed_names(dict.fromkeys(unread_tags))
        return f"Its parts {tag_names} are not read; write lines of number, tab and query (format tsv)"
    if not parts_present:
        return MEND_RECORD
    option_text = cli_or_api(
        f"set options: {{fields: [{parts_present[0]}]}}", f"add --topics-option 'fields=[{parts_present[0]}]'"
    )
    return f"To make queries of its {' or '.join(parts_present)}, {option_text}"


def _count_tags(tags: list[re.Match[str]]) -> Counter[str]:
    """Count the beginnings of what no topic has twice: its number, and the parts that make queries."""
    names = [tag[2].lower() for tag in tags if not tag[1]]
    return Counter(
        name if name in ("text", "query") else _PART_OF_TAG.get(name, name)
        for name in names
        if name in _UNIQUE_TAGS
    )


def _parts(text: str, tags: list[re.Match[str]]) -> dict[str, str]:
    ends = [*(tag.start() for tag in tags[1:]), len(text)]
    closed_tags = {name.lower() for name in _CLOSING.findall(text)}
    text_by_tag: dict[str, str] = {}
    for tag, end in zip(tags, ends, strict=False):
        if not tag.group(1):
            label = _LABEL.match(text, tag.end(), end)
            start = label.end() if label else tag.end()
            # A part ends before a line that begins with the tag of another part, one that is not closed.
            other_parts = (
                other_part
                for other_part in _OTHER_PART.finditer(text, start, end)
                if other_part[1].lower() not in closed_tags
            )
            content = text[start : next((other_part.start() for other_part in other_parts), end)]
            name = tag.group(2).lower()
            text_by_tag.setdefault(_PART_OF_TAG.get(name, name), unescaped(_MARKUP.sub(" ", content)).strip())
        elif tag.group(2).lower() == "docno" and (untagged_title := text[tag.end() : end].strip()):
            text_by_tag.setdefault("title", unescaped(_MARKUP.sub(" ", untagged_title)))
    return text_by_tag


Layout = Literal["qrels", "prels", "weighted"]

LAYOUTS: dict[Layout, str] = {
    "qrels": "query iteration document relevance",
    "prels": "query document relevance method chance",
    "weighted": "query iteration document relevance weight",
}
WITHOUT_ITERATION = "awk '{print $1, 0, $2, $3}' makes TREC's columns of query, document, relevance"

THREE_COLUMNS = (
    "Three columns are read by format: tsv; scores need options: {columns: [query_id, document_id, score]}"
)

WITHOUT_TAG = "If the last column is missing: awk '{print $0, \"run\"}' FILE adds it"

_CHANCE = re.compile(r"[01](?:\.[0-9]*)?(?:[eE]-?[0-9]{1,3})?|\.[0-9]+")
_ITERATION = re.compile(r"Q?[0-9]{1,3}", re.IGNORECASE)


def read_judgements(path: Path, options: NoOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file.

    Raises:
        InputError: the third column is 0 on every line and documents are in the second, as in SMART collections.
    """
    facts = _Facts.of(path)
    facts.refuse_smart(path)
    layout = facts.layout()
    if layout != "qrels":
        notice(str(path), f"its lines of five columns are read as: {LAYOUTS[layout]}")
    for line in read_lines(path):
        yield line if isinstance(line, Malformed) else record_or_comment(line, _judgement(line, layout))


def _judgement(line: Line, layout: Layout) -> Judgement | Malformed:
    cells, columns = split_columns(line.text), LAYOUTS[layout].split()
    if len(cells) != len(columns):
        fault = line.wrong_columns(f"{len(cells)} instead of {len(columns)} ({LAYOUTS[layout]})")
        if len(cells) == 6 and cells[1].upper() == "Q0":
            return replace(fault, remedy="This looks like a run: give the judgements", of_file=True)
        if len(cells) != 3 or "\r" in line.text:
            return fault
        if WHOLE_NUMBER.fullmatch(cells[2]):
            return replace(fault, remedy=WITHOUT_ITERATION, of_file=True)
        header_advice = "This looks like a table with a header: give format: tsv"
        return replace(fault, remedy=cli_or_api(header_advice, "Give a file of judgements"), of_file=True)
    if layout != "qrels" and not (_CHANCE if layout == "prels" else NUMBER).fullmatch(cells[4]):
        return line.malformed("the fifth column is no chance or weight", repr(cells[4][:40]))
    row = dict(zip(columns, cells, strict=True))
    return judgement(row["query"], row["document"], row["relevance"], line.position, line.number)


@dataclass
class _Facts:
    """What tells the layouts of a file's lines apart; of the many lines only what differs is kept."""

    line_count: int = 0
    five_column_lines: int = 0
    prels_lines: int = 0
    weighted_lines: int = 0
    triples: set[tuple[str, str, str]] = field(default_factory=set)
    second_cells: set[str] = field(default_factory=set)  # columns of lines of four, at most two values each
    third_cells: set[str] = field(default_factory=set)
    all_grades_zero: bool = True
    has_decimal_grades: bool = False

    @classmethod
    def of(cls, path: Path) -> Self:
        facts = cls()
        for line in read_lines(path):
            if isinstance(line, Line) and not line.text.startswith("#"):
                facts.line_count += 1
                facts._add(split_columns(line.text))
        return facts

    def _add(self, cells: list[str]) -> None:
        if len(cells) == 5:
            self.five_column_lines += 1
            self.prels_lines += bool(WHOLE_NUMBER.fullmatch(cells[2]) and _CHANCE.fullmatch(cells[4]))
            self.weighted_lines += bool(WHOLE_NUMBER.fullmatch(cells[3]) and NUMBER.fullmatch(cells[4]))
            self.triples.add((cells[0], cells[1], cells[2]))
        elif len(cells) == 4 and len(self.third_cells) < 2:
            self.third_cells.add(cells[2])
            if len(self.second_cells) < 2:
                self.second_cells.add(cells[1])
            self.all_grades_zero &= bool(NUMBER.fullmatch(cells[3])) and float(cells[3]) == 0
            self.has_decimal_grades |= not WHOLE_NUMBER.fullmatch(cells[3])  # 0.000000

    def layout(self) -> Layout:
        """Return the kind of most lines; weighted if documents would be in the iteration's column.

        Of lines that can be both kinds, the second column decides: an iteration is one short number on all lines, or
        occurs with several documents of one query, which no document does.
        """
        if 2 * self.five_column_lines <= self.line_count or not self.prels_lines + self.weighted_lines:
            return "qrels"
        if 2 * abs(self.prels_lines - self.weighted_lines) > self.five_column_lines:  # fewer may be damaged
            return "prels" if self.prels_lines > self.weighted_lines else "weighted"
        pairs = {(query, second) for query, second, _ in self.triples}
        second_values = {second for _, second in pairs}
        is_iteration = len(second_values) == 1 and _ITERATION.fullmatch(min(second_values))
        return "weighted" if is_iteration or 2 * len(pairs) <= len(self.triples) else "prels"

    def refuse_smart(self, path: Path) -> None:
        if self.third_cells != {"0"}:
            return
        if len(self.second_cells) == 1 and not self.has_decimal_grades:
            return  # a corpus may have a document 0
        last_column, smart, relevance = (
            ("0", ", as in SMART collections", "1") if self.all_grades_zero else ("relevance", "", "$4")
        )
        remedy = (
            f"The columns seem to be query, document, 0, {last_column}{smart}; TREC's are query, 0, document, "
            "relevance: "
            f"awk '{{print $1, 0, $2, {relevance}}}' makes these."
        )
        raise InputError(path, "the third column, that of the document, is 0 on every line", remedy=remedy)


def read_runs(path: Path, options: NoOptions) -> Iterator[Retrieved | Skipped | Malformed]:
    return converted(read_lines(path), lambda line: record_or_comment(line, _retrieved(line)))


def _retrieved(line: Line) -> Retrieved | Malformed:
    cells = split_columns(line.text)
    if len(cells) != 6:
        fault = line.wrong_columns(f"{len(cells)} instead of 6 (query Q0 document rank score tag)")
        remedies = {3: THREE_COLUMNS, **({5: WITHOUT_TAG} if line.number == 1 else {})}
        remedy = remedies.get(len(cells)) if "\r" not in line.text else None
        return replace(fault, remedy=remedy, of_file=True) if remedy else fault
    return retrieved(cells[0], cells[2], cells[3], cells[4], line.position, line.number)


TOPICS = Format(TrecTopicOptions, read_topics)
JUDGEMENTS = Format(NoOptions, read_judgements)
RUNS = Format(NoOptions, read_runs)
