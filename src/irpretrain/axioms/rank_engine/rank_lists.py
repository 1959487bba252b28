"""The rank of a document: a query's lists, the order in which they are cut off, and the candidates that are looked up.

The lists of a query's terms: what is known of each, a document's score by them, and bounds of a posting's part.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.axioms.rank_engine.bm25 import part_of_score
from irpretrain.axioms.rank_engine.impacts import LEVELS
from irpretrain.axioms.rank_engine.postings import (
    DIRECTORY_FROM,
    Index,
    ScoreBounds,
    directory_shift,
    first_not_below,
    frequency_at,
)
from irpretrain.foundation.compiled import compiled, compiled_uncounted

# Added to g in bounds: far above the rounding of Lucene's floats (some 1e-7 of a weight), far below a level (4e-3).
SLACK = 1e-6

TERM, TIMES, START, END, DIRECTORY, SHIFT, TOP, CUTOFF, LONG, VERTEX, OTHER = range(11)

# Rows of the table of a query's lists, int64[ROWS, lists], the shortest list first:
#
#     TERM, TIMES        the term, and how often it occurs in the query
#     START, END         where its postings begin and end
#     DIRECTORY, SHIFT   where its directory begins, -1 without, and log2 of the documents in a run
#     TOP, CUTOFF        the highest level in the list, and the level above which postings are essential
#     LONG, VERTEX       its index among the long lists, -1 without, and the vertex of its hull at the cut-off
#     OTHER              for the list that is worked through, the others in the order of look-up
ROWS = 11


class RankQuery(NamedTuple):
    """The lists of a query's terms, and the document to rank."""

    table: np.ndarray  # int64[ROWS, lists], see `ROWS`
    weights: np.ndarray  # float32[lists]
    rest: np.ndarray  # float64[lists + 1], sums of what the others can add, in the order of look-up
    size: int  # how many lists there are
    target: int  # the document
    score: np.float32  # its score θ


@compiled_uncounted
def distinct_terms(query: np.ndarray, offsets: np.ndarray, table: np.ndarray) -> int:
    """Put the distinct terms that the collection holds into the table, the rarest first; return their number."""
    size = 0
    for term in query:
        if term < 0 or offsets[term] == offsets[term + 1]:
            continue
        at = 0
        while at < size and table[TERM, at] != term:
            at += 1
        if at < size:
            table[TIMES, at] += 1
            continue
        held = offsets[term + 1] - offsets[term]
        while at > 0 and held < table[END, at - 1] - table[START, at - 1]:
            for row in (TERM, TIMES, START, END):
                table[row, at] = table[row, at - 1]
            at -= 1
        table[TERM, at], table[TIMES, at] = term, 1
        table[START, at], table[END, at] = offsets[term], offsets[term + 1]
        size += 1
    return size


@compiled_uncounted
def describe_lists(index: Index, query: RankQuery) -> None:
    """Fill the rows of the table that follow from the terms, and their weights."""
    table, documents = query.table, len(index.norms)
    for at in range(query.size):
        term, held = table[TERM, at], table[END, at] - table[START, at]
        idf = np.float32(np.log(1 + (index.filled - held + 0.5) / (held + 0.5)))
        query.weights[at] = np.float32(table[TIMES, at]) * idf
        table[TOP, at], table[CUTOFF, at] = index.bounds.tops[term], 0
        table[LONG, at] = index.bounds.long_numbers[term]
        table[DIRECTORY, at], table[SHIFT, at] = -1, 0
        if held >= DIRECTORY_FROM:
            table[DIRECTORY, at] = index.lists.directory_offsets[term]
            table[SHIFT, at] = directory_shift(held, documents)


@compiled_uncounted
def _find(
    documents: np.ndarray, directory: np.ndarray, start: int, end: int, first: int, shift: int, target: int
) -> int:
    """Return the index of a document's posting in the list from `start` to `end`, -1 without one.

    `first` and `shift` are of the list's directory, as in the table.
    """
    low, high = start, end
    if first >= 0:
        run = first + (target >> shift)
        low, high = start + directory[run], start + directory[run + 1]
    position = first_not_below(documents, low, high, target)
    if position < high and documents[position] == target:
        return position
    return -1


@compiled_uncounted
def score_of(index: Index, query: RankQuery, document: int) -> np.float32:
    """Return the exact score of a document, -1 if it holds no term of the query."""
    lists, table = index.lists, query.table
    score, held = 0.0, False
    for at in range(query.size):
        start, end = table[START, at], table[END, at]
        first, shift = table[DIRECTORY, at], table[SHIFT, at]
        position = _find(lists.documents, lists.directory, start, end, first, shift, document)
        if position >= 0:
            held = True
            frequency = np.float32(frequency_at(lists, position))
            part = part_of_score(query.weights[at], frequency, index.norms[document])
            score += np.float64(part)
    return np.float32(score) if held else np.float32(-1)


@compiled_uncounted
def upper_bound(weight: np.float32, level: int) -> float:
    """Return a bound of what a posting of this level adds; nothing without a posting (level 0)."""
    return np.float64(weight) * (level * (1.0 / LEVELS) + SLACK) if level > 0 else 0.0


@compiled_uncounted
def lower_bound(weight: np.float32, level: int) -> float:
    return np.float64(weight) * ((level - 1) * (1.0 / LEVELS) - SLACK)


# Cut-offs: which postings of a query's lists a document above the target must have one of, and in which order they
# are looked at.
#
# If each list has a cut-off, and what postings up to there add comes to less than the target's score, then a document
# above the target has a posting above the cut-off in at least one list. docs/methods/document-rank.md has more.


@compiled_uncounted
def _next_vertex(bounds: ScoreBounds, table: np.ndarray, at: int) -> tuple[int, int]:
    """Return (level of the next vertex of a list's hull, essential postings avoided up to there); (0, 0) at the top."""
    if table[CUTOFF, at] >= table[TOP, at]:
        return 0, 0
    # A short list is avoided as a whole.
    if table[LONG, at] < 0:
        return table[TOP, at], table[END, at] - table[START, at]
    vertex = bounds.hull_offsets[table[LONG, at]] + table[VERTEX, at]
    return bounds.hull_levels[vertex + 1], bounds.hull_above[vertex] - bounds.hull_above[vertex + 1]


@compiled_uncounted
def choose_cutoffs(bounds: ScoreBounds, query: RankQuery) -> None:
    """Choose cut-offs whose bounds sum to less than θ, with few essential postings.

    Greedily, the rise that avoids most postings for its part of θ first: the solution of the fractional knapsack
    problem, as hulls are convex. The rest of θ is spent on parts of rises.
    """
    table, weights = query.table, query.weights
    budget = np.float64(query.score) * (1 - SLACK)
    for at in range(query.size):
        table[VERTEX, at] = 0
    while True:
        best, best_rate, best_level = -1, 0.0, 0
        for at in range(query.size):
            level, skipped_lists = _next_vertex(bounds, table, at)
            cost = upper_bound(weights[at], level) - upper_bound(weights[at], table[CUTOFF, at])
            if skipped_lists > 0 and cost < budget and skipped_lists > best_rate * cost:
                best, best_rate, best_level = at, skipped_lists / cost, level
        if best < 0:
            break
        budget -= upper_bound(weights[best], best_level) - upper_bound(weights[best], table[CUTOFF, best])
        table[CUTOFF, best] = best_level
        table[VERTEX, best] += 1
    for at in range(query.size):
        if table[LONG, at] >= 0 and table[CUTOFF, at] < table[TOP, at]:
            now = upper_bound(weights[at], table[CUTOFF, at])
            level = int(LEVELS * ((now + budget) / np.float64(weights[at]) - 2 * SLACK))
            if level > table[CUTOFF, at]:
                table[CUTOFF, at] = min(level, table[TOP, at])
                budget -= upper_bound(weights[at], table[CUTOFF, at]) - now


@compiled_uncounted
def order_others(query: RankQuery, at: int) -> None:
    """Order the lists other than `at` by what they can add, and sum that up from the last to the first."""
    table, rest, count = query.table, query.rest, 0
    for other in range(query.size):
        if other == at:
            continue
        most = _most(query, other, at)
        position = count
        while position > 0 and most > _most(query, table[OTHER, position - 1], at):
            table[OTHER, position] = table[OTHER, position - 1]
            position -= 1
        table[OTHER, position] = other
        count += 1
    rest[count] = 0.0
    for position in range(count - 1, -1, -1):
        rest[position] = rest[position + 1] + _most(query, table[OTHER, position], at)


@compiled_uncounted
def _most(query: RankQuery, other: int, at: int) -> float:
    """Return what a list can add to a candidate from list `at`: its cut-off's bound where it was worked through."""
    return upper_bound(query.weights[other], query.table[CUTOFF if other < at else TOP, other])


@compiled_uncounted
def lowest_level(query: RankQuery, at: int) -> int:
    """Return the lowest essential level from which a document can come to θ with what the others add."""
    level = query.table[CUTOFF, at] + 1
    while (
        level <= query.table[TOP, at] and upper_bound(query.weights[at], level) + query.rest[0] < query.score
    ):
        level += 1
    return level


# Candidates: documents with an essential posting, looked up in the other lists until their bound falls below the
# target's score or they are known to be above it.


# Candidates that are looked up together at most.
LARGEST_BATCH = 1024

# Levels of a list that are compared at once.
BLOCK = 64


class RankCandidates(NamedTuple):
    """Documents with an essential posting that may be above the target; room for `LARGEST_BATCH`."""

    documents: np.ndarray  # int32
    # uppers, lowers: float64, bounds of their scores by the postings found so far.
    uppers: np.ndarray
    lowers: np.ndarray
    # lows, highs: int64, where to look for the document in a list.
    lows: np.ndarray
    highs: np.ndarray
    peeks: np.ndarray  # int32, what stands there


@compiled
def empty_candidates() -> RankCandidates:
    documents, peeks = np.empty(LARGEST_BATCH, np.int32), np.empty(LARGEST_BATCH, np.int32)
    uppers, lowers = np.empty(LARGEST_BATCH, np.float64), np.empty(LARGEST_BATCH, np.float64)
    lows, highs = np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int64)
    return RankCandidates(documents, uppers, lowers, lows, highs, peeks)


@compiled_uncounted
def take_from_prefix(
    index: Index, query: RankQuery, at: int, cursor: int, floor: int, wanted: int, candidates: RankCandidates
) -> tuple[int, int]:
    """Make candidates of the next `wanted` postings above the floor in list `at`'s prefix; return number and cursor."""
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
    index: Index, query: RankQuery, at: int, cursor: int, floor: int, wanted: int, candidates: RankCandidates
) -> tuple[int, int]:
    """Make candidates of the next postings above the floor that are not in a prefix; as `take_from_prefix`."""
    documents, levels = index.lists.documents, index.bounds.levels
    end, weight, highest = query.table[END, at], query.weights[at], highest_listed(index, query, at)
    taken = 0
    while taken < wanted and cursor < end:
        stop = min(cursor + BLOCK, end)
        top = np.uint8(0)
        for position in range(cursor, stop):
            top = max(top, levels[position])
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
def highest_listed(index: Index, query: RankQuery, at: int) -> int:
    """Return the highest level of postings of list `at` that its prefix lacks."""
    long = query.table[LONG, at]
    top = query.table[TOP, at]
    return min(top, np.int64(index.bounds.floors[long])) if long >= 0 else top


@compiled_uncounted
def count_better(index: Index, query: RankQuery, at: int, taken: int, candidates: RankCandidates) -> int:
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
    index: Index, query: RankQuery, at: int, most: int, needed: float, taken: int, candidates: RankCandidates
) -> int:
    """Add the parts of list `at` to the candidates, and keep those that can still reach θ; return their number.

    A candidate with a level above `most` was met in this list before; `needed` is the bound that a candidate must have.
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
    retained = 0
    for number in range(taken):
        document = candidates.documents[number]
        upper, lower = candidates.uppers[number], candidates.lowers[number]
        high = candidates.highs[number]
        position = first_not_below(documents, candidates.lows[number], high, document)
        if position < high and documents[position] == document:
            level = int(levels[position])
            if level > most:
                continue
            upper += upper_bound(weight, level)
            lower += lower_bound(weight, level)
        candidates.documents[retained], candidates.uppers[retained], candidates.lowers[retained] = (
            document,
            upper,
            lower,
        )
        retained += upper >= needed
    return retained
