"""Candidates: documents with an essential posting, looked up in the other lists until their bound falls below the
target's score or they are known to be above it.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.compiled import compiled, compiled_uncounted
from irpretrain.rank_engine.impacts import LEVELS
from irpretrain.rank_engine.postings import first_not_below
from irpretrain.rank_engine.rank_lists import (
    CUTOFF,
    DIRECTORY,
    END,
    LONG,
    OTHER,
    SHIFT,
    SLACK,
    START,
    TOP,
    Index,
    Query,
    lower_bound,
    score_of,
    upper_bound,
)

LARGEST_BATCH = 1024
"""Candidates that are looked up together at most."""
BLOCK = 64
"""Levels of a list that are compared at once."""


class Candidates(NamedTuple):
    """Documents with an essential posting that may be above the target; room for `LARGEST_BATCH`.

    Attributes:
        documents: int32.
        uppers, lowers: float64, bounds of their scores by the postings found so far.
        lows, highs: int64, where to look for the document in a list.
        peeks: int32, what stands there.
    """

    documents: np.ndarray
    uppers: np.ndarray
    lowers: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    peeks: np.ndarray


@compiled
def empty_candidates() -> Candidates:
    """Return the room of candidates."""
    documents, peeks = np.empty(LARGEST_BATCH, np.int32), np.empty(LARGEST_BATCH, np.int32)
    uppers, lowers = np.empty(LARGEST_BATCH, np.float64), np.empty(LARGEST_BATCH, np.float64)
    lows, highs = np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int64)
    return Candidates(documents, uppers, lowers, lows, highs, peeks)


@compiled_uncounted
def take_from_prefix(
    index: Index, query: Query, at: int, cursor: int, floor: int, wanted: int, candidates: Candidates
) -> tuple[int, int]:
    """Make candidates of the next `wanted` postings above the floor in the prefix of list `at`.

    Returns:
        Their number, and where to go on.
    """
    documents, levels = index.bounds.prefix_documents, index.bounds.prefix_levels
    end, weight = index.bounds.prefix_offsets[query.table[LONG, at] + 1], query.weights[at]
    taken = 0
    while taken < wanted and cursor < end:
        level = levels[cursor]
        if level <= floor:
            return taken, end
        candidates.documents[taken] = documents[cursor]
        candidates.uppers[taken], candidates.lowers[taken] = (
            upper_bound(weight, level),
            lower_bound(weight, level),
        )
        taken += documents[cursor] != query.target
        cursor += 1
    return taken, cursor


@compiled_uncounted
def take_from_list(
    index: Index, query: Query, at: int, cursor: int, floor: int, wanted: int, candidates: Candidates
) -> tuple[int, int]:
    """Make candidates of the next postings above the floor that are not in a prefix; as `take_from_prefix`."""
    documents, levels = index.lists.documents, index.bounds.levels
    end, weight, highest = query.table[END, at], query.weights[at], highest_listed(index, query, at)
    taken = 0
    while taken < wanted and cursor < end:
        stop = min(cursor + BLOCK, end)
        top = np.uint8(0)
        for place in range(cursor, stop):
            top = max(top, levels[place])
        if top <= floor:
            cursor = stop
            continue
        while taken < wanted and cursor < stop:
            level = levels[cursor]
            if floor < level <= highest:
                candidates.documents[taken] = documents[cursor]
                candidates.uppers[taken], candidates.lowers[taken] = (
                    upper_bound(weight, level),
                    lower_bound(weight, level),
                )
                taken += documents[cursor] != query.target
            cursor += 1
    return taken, cursor


@compiled_uncounted
def highest_listed(index: Index, query: Query, at: int) -> int:
    """Return the highest level of postings of list `at` that its prefix lacks."""
    long = query.table[LONG, at]
    top = query.table[TOP, at]
    return min(top, np.int64(index.bounds.floors[long])) if long >= 0 else top


@compiled_uncounted
def count_better(index: Index, query: Query, at: int, taken: int, candidates: Candidates) -> int:
    """Return how many candidates from list `at` are above the target and were not met in an earlier list."""
    score = query.score
    for number in range(query.size - 1):
        other = query.table[OTHER, number]
        most = query.table[CUTOFF, other] if other < at else LEVELS
        taken = look_up(index, query, other, most, score - query.rest[number + 1], taken, candidates)
    above = 0
    for number in range(taken):
        if candidates.lowers[number] > score * (1 + SLACK):
            above += 1
            continue
        document = candidates.documents[number]
        exact = score_of(index, query, document)
        if exact > score or (exact == score and document < query.target):
            above += 1
    return above


@compiled_uncounted
def look_up(
    index: Index, query: Query, at: int, most: int, needed: float, taken: int, candidates: Candidates
) -> int:
    """Add what list `at` adds to the candidates, and keep those that can still come to θ; return their number.

    Args:
        most: a candidate with a higher level was met in this list before.
        needed: the bound that a candidate must have now.
    """
    documents, levels, directory = index.lists.documents, index.bounds.levels, index.lists.directory
    table, weight = query.table, query.weights[at]
    start, end = table[START, at], table[END, at]
    first, shift = table[DIRECTORY, at], table[SHIFT, at]
    # Memory is slow, and a loop without branches that depend on it waits for many places at once.
    if first >= 0:
        for number in range(taken):
            run = first + (candidates.documents[number] >> shift)
            candidates.lows[number], candidates.highs[number] = (
                start + directory[run],
                start + directory[run + 1],
            )
        for number in range(taken):
            candidates.peeks[number] = documents[min(candidates.lows[number], end - 1)]
    else:
        candidates.lows[:taken], candidates.highs[:taken] = start, end
    kept = 0
    for number in range(taken):
        document = candidates.documents[number]
        upper, lower = candidates.uppers[number], candidates.lowers[number]
        high = candidates.highs[number]
        place = first_not_below(documents, candidates.lows[number], high, document)
        if place < high and documents[place] == document:
            level = int(levels[place])
            if level > most:
                continue
            upper += upper_bound(weight, level)
            lower += lower_bound(weight, level)
        candidates.documents[kept], candidates.uppers[kept], candidates.lowers[kept] = document, upper, lower
        kept += upper >= needed
    return kept
