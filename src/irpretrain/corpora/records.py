"""What the readers of formats yield: records with their place, and what they had to leave out.

A reader never raises for one bad record; it yields `Malformed`, and `irpretrain.corpora.policy` decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from irpretrain.wikipedia.article import Link, Section

File = TypeVar("File")

BLOCK = 1024
"""Neighbouring records of a file that stay together when a file is spread over shards."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of `of` shares of a file, counted from 0: what a shard reads of it.

    Called with the position of a record it says whether the record belongs to the share: blocks of records are
    dealt out in turn, and readers skip the costly part of the others. Formats that can start in the middle of a file
    read a range of its bytes or rows instead.
    """

    number: int = 0
    of: int = 1

    def __call__(self, position: int) -> bool:
        return position // BLOCK % self.of == self.number

    def distance(self, position: int) -> int:
        """Return how many records lie before the next one of the share, from `position` on; 0 where that is one."""
        blocks = (self.number - position // BLOCK) % self.of
        return blocks * BLOCK - position % BLOCK if blocks else 0

    def range_of(self, size: int, grain: int = 1) -> range:
        """Return the share's places of `size`; all shares but the last begin and end with a multiple of `grain`."""
        first, end = (size * number // self.of // grain * grain for number in (self.number, self.number + 1))
        return range(first, size if self.number + 1 == self.of else end)


def share_of(part: int, files: int, shard: int, shards: int) -> Share | None:
    """Return which share of file `part` (of `files`) a shard reads; None where it reads nothing of it.

    With at least as many files as shards, a file is read by one shard; else every file is shared by all.
    """
    if files >= shards:
        return Share() if part % shards == shard else None
    return Share((shard - part) % shards, shards)


def parts_of_shard(files: Sequence[File], shard: int, shards: int) -> Iterator[tuple[int, File, Share]]:
    """Yield the files of a corpus that a shard reads: their numbers in it, themselves, which share of each."""
    for part, file in enumerate(files):
        if (share := share_of(part, len(files), shard, shards)) is not None:
            yield part, file, share


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `position` is its place in its file.

    `sections` and `links` are those of an article (characters of `body`); a text without known structure has none.
    `parts` counts what is no prose, by what became of it ("tables left out").
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


@dataclass(frozen=True, slots=True)
class Redirect:
    """A page that only leads to another; titles as written, `fragment` without its #."""

    position: int
    title: str
    target: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Query:
    """One query (topic)."""

    position: int
    query_id: str
    text: str
    line: int | None = None


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
    """One line of a run of others: a document that it retrieved for a query, with what places it there.

    Attributes:
        rank: as it stands in the file, None where it has none.
        score: likewise; at least one of both is given.
    """

    position: int
    query_id: str
    document_id: str
    rank: int | None
    score: float | None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question on a text, and where its answers stand in it.

    Attributes:
        answers: every accepted answer.
        spans: (first character, the one behind the last) of every answer that was found in the context.
    """

    position: int
    question_id: str
    question: str
    context: str
    answers: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A sentence or a pair of them; `label` is None where it is not given."""

    position: int
    texts: tuple[str, ...]
    label: str | None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that makes no document and stops no run.

    Attributes:
        position: its place in the file.
        reason: one of few short texts, by which such records are counted.
        detail: its name, where the screen shall name every such record.
        place: its place in words, where "record 7" does not help to find it; told of the first such record alone.
    """

    position: int
    reason: str
    detail: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read.

    Attributes:
        position: its place in the file.
        reason: one of few short texts, by which such records are counted.
        detail: what exactly is wrong here.
        line: 1-based line number, where the format has lines.
        place: its place in words, where "record 7" does not help to find it.
        remedy: what the user can do about it.
        loses_more: whether an unknown number of records is lost with it: an archive is damaged, a file breaks off.
    """

    position: int
    reason: str
    detail: str = ""
    line: int | None = None
    place: str = ""
    remedy: str = "Mend the record"
    loses_more: bool = False

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


AnyDocument = Document | Skipped | Malformed
"""What a reader of documents makes of a record."""
everything = Share()
"""The whole of a file."""
