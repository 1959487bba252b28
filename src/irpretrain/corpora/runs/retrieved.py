"""One line of a run from its parts: the checks that all formats share."""

from __future__ import annotations

import math
import re

from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.records import Malformed, Retrieved

_RANK = re.compile(r"[0-9]{1,9}")
_SCORE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def retrieved(
    query_id: str, document_id: str, rank: str | None, score: str | None, position: int, line: int | None
) -> Retrieved | Malformed:
    """Return the line; a rank is a whole number of 0 or more, a score a finite number in decimals."""
    for identifier in (query_id, document_id):
        if fault := identifier_fault(identifier):
            return Malformed(position, "bad identifier", fault, line)
    if rank is not None and not _RANK.fullmatch(rank):
        return Malformed(position, "rank is not a whole number", repr(rank[:40]), line)
    if score is not None and not (_SCORE.fullmatch(score) and math.isfinite(float(score))):
        return Malformed(position, "score is not a finite number", repr(score[:40]), line)
    return Retrieved(
        position,
        query_id,
        document_id,
        None if rank is None else int(rank),
        None if score is None else float(score),
        line,
    )
