"""One query from its identifier and text: the checks that all formats share."""

from __future__ import annotations

from irpretrain.corpora.characters import clean_line, identifier_fault
from irpretrain.corpora.records import Malformed, Query


def query(identifier: str, text: str, position: int, line: int | None = None) -> Query | Malformed:
    """Return the query, its text on one line; an identifier with white space or an empty text is malformed."""
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    cleaned = clean_line(text)
    if not cleaned:
        return Malformed(position, "empty query", f"query {identifier} has no text", line)
    return Query(position, identifier, cleaned, line)
