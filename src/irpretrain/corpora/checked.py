"""Records from their parts, with the checks that all formats share."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from irpretrain.config.base import Section
from irpretrain.corpora.characters import clean_line, clean_text, identifier_fault
from irpretrain.corpora.records import AnyDocument, Document, Judgement, Malformed, Query, Retrieved, Skipped

Entry = TypeVar("Entry")
Made = TypeVar("Made")

_RELEVANCE = re.compile(r"[+-]?[0-9]{1,9}")
_RANK = re.compile(r"[0-9]{1,9}")
_SCORE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


class Options(Section):
    """The format has no options."""


def converted(
    entries: Iterable[Entry | Malformed], convert: Callable[[Entry], Made]
) -> Iterator[Made | Malformed]:
    """Yield each entry converted; a malformed one passes as it is."""
    for entry in entries:
        yield entry if isinstance(entry, Malformed) else convert(entry)


def document(
    position: int, identifier: str, title: str, body: str, url: str = "", line: int | None = None
) -> AnyDocument:
    """Return the document; one with a bad identifier is malformed, one without title and body is skipped as empty."""
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    title, body = clean_line(title), clean_text(body)
    if not title and not body.strip():
        return Skipped(position, "empty document", place=f"document {identifier}")
    return Document(position, identifier, title, clean_line(url), body)


def query(identifier: str, text: str, position: int, line: int | None = None) -> Query | Malformed:
    """Return the query, its text on one line; an identifier with white space or an empty text is malformed."""
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    cleaned = clean_line(text)
    if not cleaned:
        return Malformed(position, "empty query", f"query {identifier} has no text", line)
    return Query(position, identifier, cleaned, line)


def judgement(
    query_id: str, document_id: str, relevance: str, position: int, line: int | None = None
) -> Judgement | Malformed:
    """Return the judgement; relevance must be a whole number."""
    if fault := identifier_fault(query_id) or identifier_fault(document_id):
        return Malformed(position, "bad identifier", fault, line)
    if not _RELEVANCE.fullmatch(relevance):
        return Malformed(position, "relevance is not a whole number", repr(relevance[:40]), line)
    return Judgement(position, query_id, document_id, int(relevance), line)


def retrieved(
    query_id: str, document_id: str, rank: str | None, score: str | None, position: int, line: int | None
) -> Retrieved | Malformed:
    """Return a line of a run; a rank is a whole number of 0 or more, a score a finite number in decimals."""
    if fault := identifier_fault(query_id) or identifier_fault(document_id):
        return Malformed(position, "bad identifier", fault, line)
    if rank is not None and not _RANK.fullmatch(rank):
        return Malformed(position, "rank is not a whole number", repr(rank[:40]), line)
    if score is not None and not (_SCORE.fullmatch(score) and math.isfinite(float(score))):
        return Malformed(position, "score is not a finite number", repr(score[:40]), line)
    whole, decimal = None if rank is None else int(rank), None if score is None else float(score)
    return Retrieved(position, query_id, document_id, whole, decimal, line)
