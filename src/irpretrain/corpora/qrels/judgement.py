"""One judgement from its parts: the checks that all formats share."""

from __future__ import annotations

import re

from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.records import Judgement, Malformed

_RELEVANCE = re.compile(r"[+-]?[0-9]{1,9}")


def judgement(
    query_id: str, document_id: str, relevance: str, position: int, line: int | None = None
) -> Judgement | Malformed:
    """Return the judgement; relevance must be a whole number."""
    for identifier in (query_id, document_id):
        if fault := identifier_fault(identifier):
            return Malformed(position, "bad identifier", fault, line)
    if not _RELEVANCE.fullmatch(relevance):
        return Malformed(position, "relevance is not a whole number", repr(relevance[:40]), line)
    return Judgement(position, query_id, document_id, int(relevance), line)
