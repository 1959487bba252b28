"""What the readers of formats yield: records with their place, and what they had to leave out.

A reader never raises for one bad record; it yields `Malformed`, and `irpretrain.corpora.policy` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Wanted = Callable[[int], bool]
"""Says of a position whether this shard owns it; readers skip the costly part of the others."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `position` is its 0-based place in its file."""

    position: int
    document_id: str
    title: str
    url: str
    body: str


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
class Skipped:
    """A sound record that is no document by definition (a redirect, say); counted by reason."""

    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read.

    Attributes:
        position: its place in the file.
        reason: one of few short texts, by which such records are counted.
        detail: what exactly is wrong here.
        line: 1-based line number, where the format has lines.
    """

    position: int
    reason: str
    detail: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def everything(position: int) -> bool:
    """The `Wanted` of a reader that reads all."""
    return True
