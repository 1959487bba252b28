"""From the logits of windows to one answer a question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irpretrain.text.encoder_pieces import Pieces


class Candidate(NamedTuple):
    """A span of word pieces of a text, both ends included, and the sum of its two logits."""

    first: int
    last: int
    score: float


def best_span(starts: np.ndarray, ends: np.ndarray, longest: int) -> Candidate | None:
    """Return the span of at most `longest` word pieces with the largest sum of start and end logit; None without any.

    The search is exact. Of equal sums the shortest span counts, then the first.

    Args:
        starts, ends: float32 [pieces]; the logits of a window's word pieces, those of question and special tokens
            left out.
        longest: most word pieces.
    """
    best: Candidate | None = None
    for more in range(min(longest, len(starts))):
        sums = starts[: len(starts) - more] + ends[more:]
        place = int(np.argmax(sums))
        score = float(sums[place])
        if best is None or score > best.score:
            best = Candidate(place, place + more, score)
    return best


def answer_text(context: str, pieces: Pieces, span: Candidate) -> str:
    """Return the characters of a text that its word pieces `span.first` to `span.last` stand for."""
    return context[int(pieces.starts[span.first]) : int(pieces.ends[span.last])]
