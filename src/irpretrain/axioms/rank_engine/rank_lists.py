"""The rank of a document: a query's lists, the order in which they are cut off, and the candidates that are looked up.

The lists of a query's terms: what is known of each, a document's score by them, and bounds of a posting's part.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.axioms.rank_engine.bm25 import term_score
from irpretrain.axioms.rank_engine.impacts import LEVELS
from irpretrain.axioms.rank_engine.postings import (
    MIN_DIRECTORY_POSTINGS,
    Index,
    Lists,
    ScoreBounds,
    directory_shift,
    first_not_below,
    frequency_at,
)
from irpretrain.foundation.compiled import compiled, compiled_uncounted

# Added to g in bounds: far above the rounding of Lucene's floats (some 1e-7 of a weight), far below a level (4e-3).
SLACK = 1e-6

TERM, TIMES, START, END, DIRECTORY, SHIFT, TOP, CUTOFF, LONG, VERTEX, ORDER = range(11)

# Rows of the table of a query's lists, int64[ROWS, lists], the shortest list first:
#
#     TERM, TIMES        the term, and how often it occurs in the query
#     START, END         where its postings begin and end
#     DIRECTORY, SHIFT   where its directory begins, -1 without, and log2 of the documents in a run
#     TOP, CUTOFF        the highest level in the list, and the level above which postings are essential
#     LONG, VERTEX       its index among the long lists, -1 without, and the vertex of its hull at the cut-off
#     ORDER              for the list that is worked through, the others in the order of look-up
ROWS = 11


class RankQuery(NamedTuple):
    """The lists of a query's terms, and the document to rank."""

    table: np.ndarray  # int64[ROWS, lists], see `ROWS`
    weights: np.ndarray  # float32[lists]
    bound_sums: np.ndarray  # float64[lists + 1], sums of what the others can add, in the order of look-up
    list_count: int  # how many lists there are
    target: int  # the document
    score: np.float32  # its score θ


@compiled_uncounted
def distinct_terms(query: np.ndarray, offsets: np.ndarray, table: np.ndarray) -> int:
    """Put the distinct terms that the collection holds into the table, the rarest first; return their number."""
    list_count = 0
    for term in query:
        if term < 0 or offsets[term] == offsets[term + 1]:
            continue
        slot = 0
        while slot < list_count and table[TERM, slot] != term:
            slot += 1
        if slot < list_count:
            table[TIMES, slot] += 1
            continue
        postings = offsets[term + 1] - offsets[term]
        while slot > 0 and postings < table[END, slot - 1] - table[START, slot - 1]:
            for row in (TERM, TIMES, START, END):
                table[row, slot] = table[row, slot - 1]
            slot -= 1
        table[TERM, slot], table[TIMES, slot] = term, 1
        table[START, slot], table[END, slot] = offsets[term], offsets[term + 1]
        list_count += 1
    return list_count


@compiled_uncounted
def describe_lists(index: Index, query: RankQuery) -> None:
    """Fill the rows of the table that follow from the terms, and their weights."""
    table, document_count = query.table, len(index.norms)
    for slot in range(query.list_count):
        term, posting_count = table[TERM, slot], table[END, slot] - table[START, slot]
        idf = np.float32(np.log(1 + (index.filled_documents - posting_count + 0.5) / (posting_count + 0.5)))
        query.weights[slot] = np.float32(table[TIMES, slot]) * idf
        table[TOP, slot], table[CUTOFF, slot] = index.bounds.tops[term], 0
        table[LONG, slot] = index.bounds.long_numbers[term]
        table[DIRECTORY, slot], table[SHIFT, slot] = -1, 0
        if posting_count >= MIN_DIRECTORY_POSTINGS:
            table[DIRECTORY, slot] = index.lists.directory_offsets[term]
            table[SHIFT, slot] = directory_shift(posting_count, document_count)


@compiled_uncounted
def _find(lists: Lists, table: np.ndarray, slot: int, document: int) -> int:
    """Return the index of a document's posting in list `slot`, -1 without one."""
    low, high = table[START, slot], table[END, slot]
    if table[DIRECTORY, slot] >= 0:
        run = table[DIRECTORY, slot] + (document >> table[SHIFT, slot])
        low, high = low + lists.directory[run], low + lists.directory[run + 1]
    position = first_not_below(lists.documents, low, high, document)
    return position if position < high and lists.documents[position] == document else -1


@compiled_uncounted
def score_of(index: Index, query: RankQuery, document: int) -> np.float32:
    """Return the exact score of a document, -1 if it holds no term of the query."""
    score, holds_term = 0.0, False
    for slot in range(query.list_count):
        position = _find(index.lists, query.table, slot, document)
        if position >= 0:
            holds_term = True
            frequency = np.float32(frequency_at(index.lists, position))
            score += np.float64(term_score(query.weights[slot], frequency, index.norms[document]))
    return np.float32(score) if holds_term else np.float32(-1)


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
def _next_vertex(bounds: ScoreBounds, table: np.ndarray, slot: int) -> tuple[int, int]:
    """Return (level of the next vertex of a list's hull, essential postings avoided up to there); (0, 0) at the top."""
    if table[CUTOFF, slot] >= table[TOP, slot]:
        return 0, 0
    # A short list is avoided as a whole.
    if table[LONG, slot] < 0:
        return table[TOP, slot], table[END, slot] - table[START, slot]
    vertex = bounds.hull_offsets[table[LONG, slot]] + table[VERTEX, slot]
    return bounds.hull_levels[vertex + 1], bounds.hull_above[vertex] - bounds.hull_above[vertex + 1]


@compiled_uncounted
def choose_cutoffs(bounds: ScoreBounds, query: RankQuery) -> None:
    """Choose cut-offs whose bounds sum to less than θ, with few essential postings.

    Greedily, the rise that avoids most postings for its part of θ first: the solution of the fractional knapsack
    problem, as hulls are convex. The rest of θ is spent on parts of rises.
    """
    table, weights = query.table, query.weights
    budget = np.float64(query.score) * (1 - SLACK)
    for slot in range(query.list_count):
        table[VERTEX, slot] = 0
    while True:
        best_slot, best_rate, best_level = -1, 0.0, 0
        for slot in range(query.list_count):
            level, avoided_postings = _next_vertex(bounds, table, slot)
            cost = upper_bound(weights[slot], level) - upper_bound(weights[slot], table[CUTOFF, slot])
            if avoided_postings > 0 and cost < budget and avoided_postings > best_rate * cost:
                best_slot, best_rate, best_level = slot, avoided_postings / cost, level
        if best_slot < 0:
            break
        weight = weights[best_slot]
        budget -= upper_bound(weight, best_level) - upper_bound(weight, table[CUTOFF, best_slot])
        table[CUTOFF, best_slot] = best_level
        table[VERTEX, best_slot] += 1
    for slot in range(query.list_count):
        if table[LONG, slot] >= 0 and table[CUTOFF, slot] < table[TOP, slot]:
            current_bound = upper_bound(weights[slot], table[CUTOFF, slot])
            level = int(LEVELS * ((current_bound + budget) / np.float64(weights[slot]) - 2 * SLACK))
            if level > table[CUTOFF, slot]:
                table[CUTOFF, slot] = min(level, table[TOP, slot])
                budget -= upper_bound(weights[slot], table[CUTOFF, slot]) - current_bound


@compiled_uncounted
def order_others(query: RankQuery, slot: int) -> None:
    """Order the lists other than `slot` by what they can add, and sum that up from the last to the first."""
    table, bound_sums, other_count = query.table, query.bound_sums, 0
    for other_slot in range(query.list_count):
        if other_slot == slot:
            continue
        bound = _score_bound(query, other_slot, slot)
        position = other_count
        while position > 0 and bound > _score_bound(query, table[ORDER, position - 1], slot):
            table[ORDER, position] = table[ORDER, position - 1]
            position -= 1
        table[ORDER, position] = other_slot
        other_count += 1
    bound_sums[other_count] = 0.0
    for position in range(other_count - 1, -1, -1):
        bound_sums[position] = bound_sums[position + 1] + _score_bound(query, table[ORDER, position], slot)


@compiled_uncounted
def _score_bound(query: RankQuery, other_slot: int, slot: int) -> float:
    """Return what a list can add to a candidate from list `slot`: its cut-off's bound where it was worked through."""
    row = CUTOFF if other_slot < slot else TOP
    return upper_bound(query.weights[other_slot], query.table[row, other_slot])


@compiled_uncounted
def lowest_level(query: RankQuery, slot: int) -> int:
    """Return the lowest essential level from which a document can come to θ with what the others add."""
    level = query.table[CUTOFF, slot] + 1
    while (
        level <= query.table[TOP, slot]
        and upper_bound(query.weights[slot], level) + query.bound_sums[0] < query.score
    ):
        level += 1
    return level


# Candidates: documents with an essential posting, looked up in the other lists until their bound falls below the
# target's score or they are known to be above it.


# Candidates that are looked up together at most.
MAX_BATCH = 1024

# Levels of a list that are compared at once.
BLOCK_LEVELS = 64


class RankCandidates(NamedTuple):
    """Documents with an essential posting that may be above the target; room for `MAX_BATCH`."""

    documents: np.ndarray  # int32
    # upper_bounds, lower_bounds: float64, bounds of their scores by the postings found so far.
    upper_bounds: np.ndarray
    lower_bounds: np.ndarray
    # search_starts, search_ends: int64, where to look for the document in a list.
    search_starts: np.ndarray
    search_ends: np.ndarray
    peeked_documents: np.ndarray  # int32, what stands there


@compiled
def empty_candidates() -> RankCandidates:
    documents, peeked_documents = np.empty(MAX_BATCH, np.int32), np.empty(MAX_BATCH, np.int32)
    upper_bounds, lower_bounds = np.empty(MAX_BATCH, np.float64), np.empty(MAX_BATCH, np.float64)
    search_starts, search_ends = np.empty(MAX_BATCH, np.int64), np.empty(MAX_BATCH, np.int64)
    return RankCandidates(documents, upper_bounds, lower_bounds, search_starts, search_ends, peeked_documents)


@compiled_uncounted
def take_from_prefix(
    index: Index,
    query: RankQuery,
    slot: int,
    cursor: int,
    floor: int,
    max_taken: int,
    candidates: RankCandidates,
) -> tuple[int, int]:
    """Make candidates of the next `max_taken` postings above the floor in list `slot`'s prefix; return number and
    cursor."""
    documents, levels = index.bounds.prefix_documents, index.bounds.prefix_levels
    end, weight = index.bounds.prefix_offsets[query.table[LONG, slot] + 1], query.weights[slot]
    taken_count = 0
    while taken_count < max_taken and cursor < end:
        level = levels[cursor]
        if level <= floor:
            return taken_count, end
        candidates.documents[taken_count] = documents[cursor]
        candidates.upper_bounds[taken_count] = upper_bound(weight, level)
        candidates.lower_bounds[taken_count] = lower_bound(weight, level)
        taken_count += documents[cursor] != query.target
        cursor += 1
    return taken_count, cursor


@compiled_uncounted
def take_from_list(
    index: Index,
    query: RankQuery,
    slot: int,
    cursor: int,
    floor: int,
    max_taken: int,
    candidates: RankCandidates,
) -> tuple[int, int]:
    """Make candidates of the next postings above the floor that are not in a prefix; as `take_from_prefix`."""
    documents, levels = index.lists.documents, index.bounds.levels
    end, weight = query.table[END, slot], query.weights[slot]
    max_level = highest_list_level(index, query, slot)
    taken_count = 0
    while taken_count < max_taken and cursor < end:
        block_end = min(cursor + BLOCK_LEVELS, end)
        top = np.uint8(0)
        for position in range(cursor, block_end):
            top = max(top, levels[position])
        if top <= floor:
            cursor = block_end
            continue
        while taken_count < max_taken and cursor < block_end:
            level = levels[cursor]
            if floor < level <= max_level:
                candidates.documents[taken_count] = documents[cursor]
                candidates.upper_bounds[taken_count] = upper_bound(weight, level)
                candidates.lower_bounds[taken_count] = lower_bound(weight, level)
                taken_count += documents[cursor] != query.target
            cursor += 1
    return taken_count, cursor


@compiled_uncounted
def highest_list_level(index: Index, query: RankQuery, slot: int) -> int:
    """Return the highest level of postings of list `slot` that its prefix lacks."""
    long_number = query.table[LONG, slot]
    top = query.table[TOP, slot]
    return min(top, np.int64(index.bounds.floors[long_number])) if long_number >= 0 else top


@compiled_uncounted
def count_better(
    index: Index, query: RankQuery, slot: int, candidate_count: int, candidates: RankCandidates
) -> int:
    """Return how many candidates from list `slot` are above the target and were not met in an earlier list."""
    score = query.score
    for position in range(query.list_count - 1):
        other_slot = query.table[ORDER, position]
        max_level = query.table[CUTOFF, other_slot] if other_slot < slot else LEVELS
        needed_score = score - query.bound_sums[position + 1]
        candidate_count = look_up(
            index, query, other_slot, max_level, needed_score, candidate_count, candidates
        )
    better_count = 0
    for candidate in range(candidate_count):
        if candidates.lower_bounds[candidate] > score * (1 + SLACK):
            better_count += 1
            continue
        document = candidates.documents[candidate]
        exact_score = score_of(index, query, document)
        if exact_score > score or (exact_score == score and document < query.target):
            better_count += 1
    return better_count


@compiled_uncounted
def look_up(
    index: Index,
    query: RankQuery,
    slot: int,
    max_level: int,
    needed_score: float,
    candidate_count: int,
    candidates: RankCandidates,
) -> int:
    """Add the parts of list `slot` to the candidates, and keep those that can still reach θ; return their number.

    A candidate with a level above `max_level` was met in this list before; `needed_score` is the bound that a
    candidate must have.
    """
    documents, levels, directory = index.lists.documents, index.bounds.levels, index.lists.directory
    table, weight = query.table, query.weights[slot]
    start, end = table[START, slot], table[END, slot]
    directory_start, shift = table[DIRECTORY, slot], table[SHIFT, slot]
    # Memory is slow, and a loop without branches that depend on it waits for many places at once.
    if directory_start >= 0:
        for candidate in range(candidate_count):
            run = directory_start + (candidates.documents[candidate] >> shift)
            candidates.search_starts[candidate] = start + directory[run]
            candidates.search_ends[candidate] = start + directory[run + 1]
        for candidate in range(candidate_count):
            start_slot = min(candidates.search_starts[candidate], end - 1)
            candidates.peeked_documents[candidate] = documents[start_slot]
    else:
        candidates.search_starts[:candidate_count], candidates.search_ends[:candidate_count] = start, end
    kept_count = 0
    for candidate in range(candidate_count):
        document = candidates.documents[candidate]
        upper, lower = candidates.upper_bounds[candidate], candidates.lower_bounds[candidate]
        search_end = candidates.search_ends[candidate]
        position = first_not_below(documents, candidates.search_starts[candidate], search_end, document)
        if position < search_end and documents[position] == document:
            level = int(levels[position])
            if level > max_level:
                continue
            upper += upper_bound(weight, level)
            lower += lower_bound(weight, level)
        candidates.documents[kept_count] = document
        candidates.upper_bounds[kept_count], candidates.lower_bounds[kept_count] = upper, lower
        kept_count += upper >= needed_score
    return kept_count
