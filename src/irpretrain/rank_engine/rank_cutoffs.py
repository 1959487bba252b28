"""Cut-offs: which postings of a query's lists a document above the target must have one of, and in which order they
are looked at.

If each list has a cut-off, and what postings up to there add comes to less than the target's score, then a document
above the target has a posting above the cut-off in at least one list. docs/methods/document-rank.md has more.
"""

import numpy as np

from irpretrain.compiled import compiled_uncounted
from irpretrain.rank_engine.impacts import LEVELS
from irpretrain.rank_engine.rank_lists import CUTOFF, END, LONG, OTHER, SLACK, START, TOP, VERTEX, upper_bound


@compiled_uncounted
def _next_vertex(
    hull_offsets: np.ndarray, hull_levels: np.ndarray, hull_above: np.ndarray, table: np.ndarray, at: int
) -> tuple[int, int]:
    """Return (level of the next vertex of a list's hull, essential postings that are spared up to there).

    A short list is spared as a whole; (0, 0) at the top.
    """
    if table[CUTOFF, at] >= table[TOP, at]:
        return 0, 0
    if table[LONG, at] < 0:
        return table[TOP, at], table[END, at] - table[START, at]
    vertex = hull_offsets[table[LONG, at]] + table[VERTEX, at]
    return hull_levels[vertex + 1], hull_above[vertex] - hull_above[vertex + 1]


@compiled_uncounted
def choose_cutoffs(
    hull_offsets: np.ndarray,
    hull_levels: np.ndarray,
    hull_above: np.ndarray,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
    score: np.float32,
) -> None:
    """Choose cut-offs whose bounds sum to less than θ, with few essential postings.

    Greedily, the rise that spares most postings for its part of θ first: the solution of the fractional knapsack
    problem, as hulls are convex. What is then left of θ is spent on parts of rises.
    """
    budget = np.float64(score) * (1 - SLACK)
    for at in range(size):
        table[VERTEX, at] = 0
    while True:
        best, best_rate, best_level = -1, 0.0, 0
        for at in range(size):
            level, spared = _next_vertex(hull_offsets, hull_levels, hull_above, table, at)
            cost = upper_bound(weights[at], level) - upper_bound(weights[at], table[CUTOFF, at])
            if spared > 0 and cost < budget and spared > best_rate * cost:
                best, best_rate, best_level = at, spared / cost, level
        if best < 0:
            break
        budget -= upper_bound(weights[best], best_level) - upper_bound(weights[best], table[CUTOFF, best])
        table[CUTOFF, best] = best_level
        table[VERTEX, best] += 1
    for at in range(size):
        if table[LONG, at] >= 0 and table[CUTOFF, at] < table[TOP, at]:
            now = upper_bound(weights[at], table[CUTOFF, at])
            level = int(LEVELS * ((now + budget) / np.float64(weights[at]) - 2 * SLACK))
            if level > table[CUTOFF, at]:
                table[CUTOFF, at] = min(level, table[TOP, at])
                budget -= upper_bound(weights[at], table[CUTOFF, at]) - now


@compiled_uncounted
def order_others(table: np.ndarray, size: int, weights: np.ndarray, at: int, rest: np.ndarray) -> None:
    """Order the lists other than `at` by what they can add, and sum that up from the last to the first."""
    count = 0
    for other in range(size):
        if other == at:
            continue
        most = _most(table, weights, other, at)
        place = count
        while place > 0 and most > _most(table, weights, table[OTHER, place - 1], at):
            table[OTHER, place] = table[OTHER, place - 1]
            place -= 1
        table[OTHER, place] = other
        count += 1
    rest[count] = 0.0
    for place in range(count - 1, -1, -1):
        rest[place] = rest[place + 1] + _most(table, weights, table[OTHER, place], at)


@compiled_uncounted
def _most(table: np.ndarray, weights: np.ndarray, other: int, at: int) -> float:
    """Return what a list can add to a candidate from list `at`: its cut-off's bound where it was worked through."""
    return upper_bound(weights[other], table[CUTOFF, other] if other < at else table[TOP, other])


@compiled_uncounted
def lowest_level(table: np.ndarray, weights: np.ndarray, at: int, others: float, score: np.float32) -> int:
    """Return the lowest essential level from which a document can come to θ with what the others add."""
    level = table[CUTOFF, at] + 1
    while level <= table[TOP, at] and upper_bound(weights[at], level) + others < score:
        level += 1
    return level
