"""What the readers of formats yield: records with their location, and faults.

A reader never raises for one bad record; it yields `Malformed`, and `irpretrain.corpora.policy` decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring as quoted
from typing import Any, Literal, NamedTuple, TypeVar

File = TypeVar("File")

# Size from which on a record is malformed, in MB.
RECORD_MB = 64

# Neighbouring records of a file that stay together when a file is spread over shards.
BLOCK_RECORDS = 1024


@dataclass(frozen=True, slots=True)
class Share:
    """One of `count` shares of a file, counted from 0: what a shard reads of it.

    Called with a record's position, it returns whether the record belongs to the share: blocks of records are dealt out
    in turn. Formats that can start in the middle of a file read a range of bytes or rows instead.
    """

    index: int = 0
    count: int = 1

    def __call__(self, position: int) -> bool:
        return position // BLOCK_RECORDS % self.count == self.index

    def range_of(self, size: int, grain: int = 1) -> range:
        """Return the share's places of `size`; all shares but the last begin and end with a multiple of `grain`."""
        start, end = (size * index // self.count // grain * grain for index in (self.index, self.index + 1))
        return range(start, size if self.index + 1 == self.count else end)


def parts_of_shard(files: Sequence[File], shard: int, shards: int) -> Iterator[tuple[int, File, Share]]:
    """Yield the files of a corpus that a shard reads: their numbers in it, themselves, which share of each.

    With at least as many files as shards, one shard reads a file; else all shards share every file.
    """
    for part, file in enumerate(files):
        if len(files) < shards:
            yield part, file, Share((shard - part) % shards, shards)
        elif part % shards == shard:
            yield part, file, Share()


# What a heading says of its section: a list of related articles, no prose (references, links, notes), or nothing.
Role = Literal["", "see-also", "boilerplate"]


# Named tuples: a page has hundreds of links, and to make a dataclass of each takes longer.
class Section(NamedTuple):
    """One heading and the text of its own, without that of its subsections.

    Attributes:
        level: 0 for the lead section, else the number of equal signs: 2 for `==History==`.
        heading: plain text of the heading, empty for the lead section and where nothing of the heading is prose.
        start, end: characters of `Article.text`: after the heading's line, before the next heading; without line ends
            at either side, start == end where the section has no text.
        role: what its own heading says of it, in the language of its wiki; nothing of the headings above it.
    """

    level: int
    heading: str
    start: int
    end: int
    role: Role = ""


class Link(NamedTuple):
    """A link to an article.

    Attributes:
        target: title as written, entities and percent signs decoded, underscores as spaces, white space collapsed,
            without `#fragment` and leading colon, with the wiki's İ for a small i at the beginning; empty for a link
            within its own page (`[[#History]]`).
        fragment: what follows the first `#`, written the same way; mostly empty.
        start, end: characters of `Article.text`: `text[start:end]` is the anchor that a reader sees; start < end.
        section: index into `Article.sections` of the section whose text or heading holds the anchor.
    """

    target: str
    fragment: str
    start: int
    end: int
    section: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `position` is its index in its file.

    `sections` and `links` are those of an article (characters of `body`); `parts` counts what is no prose, by outcome
    ("tables left out"); `unread` names the fields of its record that are not read.
    """

    position: int
    document_id: str
    title: str
    url: str
    body: str
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    disambiguation: bool = False
    parts: Mapping[str, int] = field(default_factory=dict, compare=False)
    unread: tuple[str, ...] = field(default=(), compare=False)

    def row(self) -> dict[str, Any]:
        """Return its row of DOCUMENTS but for the part that the document lies in."""
        # Not asdict, which takes a fifth of a dump's time.
        return {
            "document_id": self.document_id,
            "position": self.position,
            "title": self.title,
            "url": self.url,
            "body": self.body,
            "sections": [
                {"level": s.level, "heading": s.heading, "start": s.start, "end": s.end, "role": s.role}
                for s in self.sections
            ],
            "links": [
                {
                    "target": k.target,
                    "fragment": k.fragment,
                    "start": k.start,
                    "end": k.end,
                    "section": k.section,
                }
                for k in self.links
            ],
            "disambiguation": self.disambiguation,
        }

    def to_json(self) -> str:
        """Return its row without the position as a JSON object."""
        # Not json.dumps of the row: dictionaries of hundreds of links take twice as long.
        sections = [
            f'{{"level": {level}, "heading": {quoted(heading)}, "start": {start}, "end": {end}, '
            f'"role": {quoted(role)}}}'
            for level, heading, start, end, role in self.sections
        ]
        links = [
            f'{{"target": {quoted(target)}, "fragment": {quoted(fragment)}, "start": {start}, "end": {end}, '
            f'"section": {section}}}'
            for target, fragment, start, end, section in self.links
        ]
        return (
            f'{{"document_id": {quoted(self.document_id)}, "title": {quoted(self.title)}, "url": {quoted(self.url)}, '
            f'"body": {quoted(self.body)}, "sections": [{", ".join(sections)}], "links": [{", ".join(links)}], '
            f'"disambiguation": {str(self.disambiguation).lower()}}}'
        )


@dataclass(frozen=True, slots=True)
class Redirect:
    """A page that only leads to another; titles as written, `fragment` without its #."""

    position: int
    title: str
    target: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Query:
    """One query (topic); `unread` names the fields of its record that are not read."""

    position: int
    query_id: str
    text: str
    line: int | None = None
    unread: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One relevance judgement; a relevance of 1 or more means relevant."""

    position: int
    query_id: str
    document_id: str
    relevance: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What judges passages for one question: any that holds one of the answers is relevant, with a relevance of 1."""

    position: int
    query_id: str
    answers: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One line of an external run: a document retrieved for a query, with its rank or score."""

    position: int
    query_id: str
    document_id: str
    rank: int | None  # as it stands in the file, None if it has none
    score: float | None  # likewise; at least one of both is given
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question on a text, and where its answers stand in it."""

    position: int
    question_id: str
    question: str
    context: str
    answers: tuple[str, ...]  # every accepted answer
    # (first character, the one behind the last) of every answer that was found in the context.
    spans: tuple[tuple[int, int], ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that makes no document and stops no run."""

    position: int  # its position in the file
    reason: str  # one of few short texts, by which such records are counted
    detail: str = ""  # its name, where the screen shall name every such record
    # Its location in words, where "record 7" does not help; reported for the first such record alone.
    location: str = ""
    document_id: str = ""  # its identifier, where the record is a document without text


# What can be done about a record where nothing else is known.
MEND_RECORD = "Mend the record"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read."""

    position: int  # its position in the file
    reason: str  # one of few short texts, by which such records are counted
    detail: str = ""  # what exactly is wrong here
    line: int | None = None  # 1-based line number, where the format has lines
    location: str = ""  # its location in words, where "record 7" does not help
    remedy: str = MEND_RECORD  # what the user can do about it
    # Whether an unknown number of records is lost with it: an archive is damaged, a file breaks off.
    loses_more: bool = False
    # Whether the file is at fault, in its encoding or format, so that to skip such records is no remedy: those with
    # accents would be missing.
    of_file: bool = False

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


# What a reader of documents makes of a record.
AnyDocument = Document | Skipped | Malformed

# The whole of a file.
WHOLE_FILE = Share()


# How large one record may be: a small packed file may hold a record that takes all memory, or minutes.


TOO_LARGE = "record too large"


def max_record_bytes() -> int:
    return RECORD_MB << 20


def max_record_parts() -> int:
    """Return how many tags, lists, objects, lines or fields a record may have: 8,192 per MB of the largest record."""
    return RECORD_MB << 13  # a tag or an empty list takes some 100 bytes of memory


def is_too_large(size: int, parts: int) -> bool:
    """Whether a record of this size is over the bounds."""
    return size > max_record_bytes() or parts > max_record_parts()


def too_large(
    position: int, line: int | None = None, location: str = "", loses_more: bool = False
) -> Malformed:
    parts = f"{max_record_parts():,} tags, lists, objects, lines or fields"
    detail = f"more than {max_record_bytes():,} bytes, or than {parts}"
    remedy = "Cut it into several if it is sound"
    return Malformed(position, TOO_LARGE, detail, line, location, remedy, loses_more)
