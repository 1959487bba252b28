"""The rank of one given document under a query, without a top-k search.

The document's own score θ is computed first; what is left is to count the documents above it, which is done as in the
threshold algorithm (Fagin, Lotem, Naor, PODS 2001), but with a threshold that is known from the start and cut-offs
that are chosen rather than met: if each list i has a cut-off c_i and what postings up to there add comes to less
than θ, then a document above θ has a posting above the cut-off in at least one list. Only these postings, the
*essential* ones, are looked at (as MaxScore, Turtle and Flood 1995, does with whole lists), and each one's document is
looked up in the other lists until its bound falls below θ. docs/methods/document-rank.md has more.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from irpretrain.compiled import compiled, compiled_uncounted
from irpretrain.errors import InputError
from irpretrain.retrieval.bm25 import Lengths, part_of_score
from irpretrain.retrieval.impacts import LEVELS, Bounds
from irpretrain.retrieval.postings import (
    DIRECTORY_FROM,
    Lists,
    Postings,
    directory_shift,
    first_not_below,
    frequency_at,
)

QUERIES_AT_ONCE = 512
"""Consecutive queries that one thread does, one after the other."""
SLACK = 1e-6
"""Added to g in bounds: far above the rounding of Lucene's floats (some 1e-7 of a weight), far below a level (4e-3)."""
FIRST_BATCH, LARGEST_BATCH = 32, 1024
"""Candidates that are looked up together: few at first, since few may be enough to know that the rank is too low."""
BLOCK = 64
"""Levels of a list that are compared at once."""

TERM, TIMES, START, END, DIRECTORY, SHIFT, TOP, CUTOFF, LONG, VERTEX, OTHER = range(11)
ROWS = 11
"""Rows of the table of a query's lists, int64[ROWS, lists], the shortest list first:

TERM, TIMES: the term, and how often it stands in the query
START, END: where its postings begin and end
DIRECTORY, SHIFT: where its directory begins, -1 without, and log2 of the documents in a run
TOP, CUTOFF: the highest level in the list, and the one above which postings are essential
LONG, VERTEX: its place among the long lists, -1 without, and the vertex of its hull at the cut-off
OTHER: for the list that is worked through, the others in the order of look-up
"""


def document_ranks(
    postings: Postings,
    documents: np.ndarray,
    terms: np.ndarray,
    offsets: np.ndarray,
    k1: float = 3.8,
    b: float = 0.87,
    depth: int | None = 50,
    lengths: Lengths = "exact",
    threads: int = 1,
) -> np.ndarray:
    """Return the rank of a document under each query, by Lucene's BM25.

    The rank is 1 + the number of documents with a higher score, or an equal one and a lower number.

    Args:
        postings: the collection.
        documents: int[queries], the number of each query's document. It is fastest to have a document's queries
            follow each other.
        terms: int[all terms], the queries' terms, end to end. A term that stands n times in a query counts n times;
            -1 is a term that the collection lacks, which counts nothing, like one that no document holds.
        offsets: int[queries + 1], where each query's terms begin and end.
        k1, b: BM25's parameters. Others than those of the stored bounds cost a pass over all postings first.
        depth: ranks beyond it are not told apart; None for all ranks.
        lengths: exact, or with the loss of Lucene's byte.
        threads: the result does not depend on it.

    Returns:
        int32[queries]: the rank from 1 on; 0 where it is beyond `depth`, or the document holds no term of the query
        (an empty query's, for one), so that no search would return it.

    Raises:
        InputError: a document or a term is not in the collection, or the arrays do not fit together.
        ConfigError: k1 or b is out of range.
        IntegrityError: the postings' bounds are damaged.
    """
    documents = np.ascontiguousarray(documents, np.int64)
    terms, offsets = np.ascontiguousarray(terms, np.int64), np.ascontiguousarray(offsets, np.int64)
    _check(postings, documents, terms, offsets)
    if depth is not None and depth < 1:
        raise ValueError(f"depth {depth} is below 1")
    ranks = np.zeros(len(documents), np.int32)
    if not len(documents):
        return ranks
    impacts = postings.impacts(k1, b, lengths)
    most = np.iinfo(np.int32).max if depth is None else depth

    def work(first: int) -> None:
        last = min(first + QUERIES_AT_ONCE, len(documents))
        _rank_queries(
            postings.lists, impacts.bounds, impacts.norms, postings.document_count,
            documents, terms, offsets, first, last, most, ranks,
        )  # fmt: skip

    firsts = range(0, len(documents), QUERIES_AT_ONCE)
    if threads == 1:
        for first in firsts:
            work(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, firsts))
    return ranks


def _check(postings: Postings, documents: np.ndarray, terms: np.ndarray, offsets: np.ndarray) -> None:
    """Raise InputError for what the kernel could not survive."""
    where = postings.directory
    if len(offsets) != len(documents) + 1 or offsets[0] != 0 or offsets[-1] != len(terms):
        raise InputError(where, "the queries' documents, terms and offsets do not fit together")
    if (np.diff(offsets) < 0).any():
        raise InputError(where, "the queries' offsets fall")
    if len(documents) and not 0 <= documents.min() <= documents.max() < len(postings):
        raise InputError(where, f"a query's document is outside 0 … {len(postings) - 1:,}")
    if len(terms) and not -1 <= terms.min() <= terms.max() < postings.terms:
        raise InputError(where, f"a query's term is outside -1 … {postings.terms - 1:,}")


class _Candidates(NamedTuple):
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
def _rank_queries(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    count: int,
    documents: np.ndarray,
    terms: np.ndarray,
    offsets: np.ndarray,
    first: int,
    last: int,
    depth: int,
    ranks: np.ndarray,
) -> None:
    """Fill `ranks` for the queries from `first` to `last`."""
    longest = 1
    for number in range(first, last):
        longest = max(longest, offsets[number + 1] - offsets[number])
    table = np.empty((ROWS, longest), np.int64)
    weights, rest = np.empty(longest, np.float32), np.empty(longest + 1, np.float64)
    candidates = _Candidates(
        np.empty(LARGEST_BATCH, np.int32),
        np.empty(LARGEST_BATCH, np.float64), np.empty(LARGEST_BATCH, np.float64),
        np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int32),
    )  # fmt: skip
    for number in range(first, last):
        query = terms[offsets[number] : offsets[number + 1]]
        size = _distinct_terms(query, lists.offsets, table)
        _describe_lists(
            lists.directory_offsets, bounds.tops, bounds.long_numbers, len(norms), count, table, size, weights
        )
        target = documents[number]
        score = _score(
            lists.documents, lists.frequencies, lists.overflow_places, lists.overflow_frequencies,
            lists.directory, table, size, weights, target, norms[target],
        )  # fmt: skip
        if score < 0:
            ranks[number] = 0
            continue
        _choose_cutoffs(
            bounds.hull_offsets, bounds.hull_levels, bounds.hull_above, table, size, weights, score
        )
        ranks[number] = _rank(
            lists, bounds, norms, table, size, weights, rest, target, score, depth,
            candidates,
        )  # fmt: skip


@compiled_uncounted
def _distinct_terms(query: np.ndarray, offsets: np.ndarray, table: np.ndarray) -> int:
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
def _describe_lists(
    directory_offsets: np.ndarray,
    tops: np.ndarray,
    long_numbers: np.ndarray,
    documents: int,
    count: int,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
) -> None:
    """Fill the rows of the table that follow from the terms, and their weights."""
    for at in range(size):
        term, held = table[TERM, at], table[END, at] - table[START, at]
        idf = np.float32(np.log(1 + (count - held + 0.5) / (held + 0.5)))
        weights[at] = np.float32(table[TIMES, at]) * idf
        table[TOP, at], table[CUTOFF, at] = tops[term], 0
        table[LONG, at] = long_numbers[term]
        table[DIRECTORY, at], table[SHIFT, at] = -1, 0
        if held >= DIRECTORY_FROM:
            table[DIRECTORY, at], table[SHIFT, at] = directory_offsets[term], directory_shift(held, documents)


@compiled_uncounted
def _find(
    documents: np.ndarray, directory: np.ndarray, start: int, end: int, first: int, shift: int, wanted: int
) -> int:
    """Return the place of a document's posting in a list, -1 where there is none.

    Args:
        start, end: where the list begins and ends.
        first, shift: of its directory, as the table has them.
    """
    low, high = start, end
    if first >= 0:
        run = first + (wanted >> shift)
        low, high = start + directory[run], start + directory[run + 1]
    place = first_not_below(documents, low, high, wanted)
    if place < high and documents[place] == wanted:
        return place
    return -1


@compiled_uncounted
def _score(
    documents: np.ndarray,
    frequencies: np.ndarray,
    overflow_places: np.ndarray,
    overflow_frequencies: np.ndarray,
    directory: np.ndarray,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
    document: int,
    norm: np.float32,
) -> np.float32:
    """Return the exact score of a document, -1 where it holds no term of the query."""
    score, held = 0.0, False
    for at in range(size):
        start, end = table[START, at], table[END, at]
        place = _find(documents, directory, start, end, table[DIRECTORY, at], table[SHIFT, at], document)
        if place >= 0:
            held = True
            frequency = frequency_at(frequencies, overflow_places, overflow_frequencies, place)
            score += np.float64(part_of_score(weights[at], np.float32(frequency), norm))
    return np.float32(score) if held else np.float32(-1)


@compiled_uncounted
def _upper(weight: np.float32, level: int) -> float:
    """Return a bound of what a posting of this level adds; nothing without a posting (level 0)."""
    return np.float64(weight) * (level * (1.0 / LEVELS) + SLACK) if level > 0 else 0.0


@compiled_uncounted
def _lower(weight: np.float32, level: int) -> float:
    return np.float64(weight) * ((level - 1) * (1.0 / LEVELS) - SLACK)


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
def _choose_cutoffs(
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
            cost = _upper(weights[at], level) - _upper(weights[at], table[CUTOFF, at])
            if spared > 0 and cost < budget and spared > best_rate * cost:
                best, best_rate, best_level = at, spared / cost, level
        if best < 0:
            break
        budget -= _upper(weights[best], best_level) - _upper(weights[best], table[CUTOFF, best])
        table[CUTOFF, best] = best_level
        table[VERTEX, best] += 1
    for at in range(size):
        if table[LONG, at] >= 0 and table[CUTOFF, at] < table[TOP, at]:
            now = _upper(weights[at], table[CUTOFF, at])
            level = int(LEVELS * ((now + budget) / np.float64(weights[at]) - 2 * SLACK))
            if level > table[CUTOFF, at]:
                table[CUTOFF, at] = min(level, table[TOP, at])
                budget -= _upper(weights[at], table[CUTOFF, at]) - now


@compiled_uncounted
def _rank(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
    rest: np.ndarray,
    target: int,
    score: np.float32,
    depth: int,
    candidates: _Candidates,
) -> int:
    """Count the documents above the target among the essential postings; return its rank, or 0 beyond `depth`."""
    above = 0
    batch = FIRST_BATCH
    for at in range(size):
        if table[CUTOFF, at] >= table[TOP, at]:
            continue
        _order_others(table, size, weights, at, rest)
        floor = _lowest_level(table, weights, at, rest[0], score) - 1
        listed_top = table[TOP, at]
        long = table[LONG, at]
        if long >= 0:
            listed_top = min(listed_top, bounds.floors[long])
            cursor, end = bounds.prefix_offsets[long], bounds.prefix_offsets[long + 1]
            while cursor < end:
                found, cursor = _take_from_prefix(
                    bounds.prefix_documents, bounds.prefix_levels, cursor, end, floor, weights[at], target,
                    batch, candidates,
                )  # fmt: skip
                above += _count_better(
                    lists, bounds, norms, table, size, weights, rest, at, target, score,
                    found, candidates,
                )  # fmt: skip
                if above >= depth:
                    return 0
                batch = min(2 * batch, LARGEST_BATCH)
        if listed_top <= floor:
            continue
        cursor, end = table[START, at], table[END, at]
        while cursor < end:
            found, cursor = _take_from_list(
                lists.documents, bounds.levels, cursor, end, floor, listed_top, weights[at], target,
                batch, candidates,
            )  # fmt: skip
            above += _count_better(
                lists, bounds, norms, table, size, weights, rest, at, target, score,
                found, candidates,
            )  # fmt: skip
            if above >= depth:
                return 0
            batch = min(2 * batch, LARGEST_BATCH)
    return above + 1


@compiled_uncounted
def _order_others(table: np.ndarray, size: int, weights: np.ndarray, at: int, rest: np.ndarray) -> None:
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
    return _upper(weights[other], table[CUTOFF, other] if other < at else table[TOP, other])


@compiled_uncounted
def _lowest_level(table: np.ndarray, weights: np.ndarray, at: int, others: float, score: np.float32) -> int:
    """Return the lowest essential level from which a document can come to θ with what the others add."""
    level = table[CUTOFF, at] + 1
    while level <= table[TOP, at] and _upper(weights[at], level) + others < score:
        level += 1
    return level


@compiled_uncounted
def _take_from_prefix(
    documents: np.ndarray,
    levels: np.ndarray,
    cursor: int,
    end: int,
    floor: int,
    weight: np.float32,
    target: int,
    wanted: int,
    candidates: _Candidates,
) -> tuple[int, int]:
    """Make candidates of the next `wanted` postings above the floor; return (their number, where to go on)."""
    found = 0
    while found < wanted and cursor < end:
        level = levels[cursor]
        if level <= floor:
            return found, end
        candidates.documents[found] = documents[cursor]
        candidates.uppers[found], candidates.lowers[found] = _upper(weight, level), _lower(weight, level)
        found += documents[cursor] != target
        cursor += 1
    return found, cursor


@compiled_uncounted
def _take_from_list(
    documents: np.ndarray,
    levels: np.ndarray,
    cursor: int,
    end: int,
    floor: int,
    highest: int,
    weight: np.float32,
    target: int,
    wanted: int,
    candidates: _Candidates,
) -> tuple[int, int]:
    """Make candidates of the next postings with levels in (floor, highest]; as `_take_from_prefix`."""
    found = 0
    while found < wanted and cursor < end:
        stop = min(cursor + BLOCK, end)
        top = np.uint8(0)
        for place in range(cursor, stop):
            top = max(top, levels[place])
        if top <= floor:
            cursor = stop
            continue
        while found < wanted and cursor < stop:
            level = levels[cursor]
            if floor < level <= highest:
                candidates.documents[found] = documents[cursor]
                candidates.uppers[found], candidates.lowers[found] = (
                    _upper(weight, level),
                    _lower(weight, level),
                )
                found += documents[cursor] != target
            cursor += 1
    return found, cursor


@compiled_uncounted
def _count_better(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    table: np.ndarray,
    size: int,
    weights: np.ndarray,
    rest: np.ndarray,
    at: int,
    target: int,
    score: np.float32,
    found: int,
    candidates: _Candidates,
) -> int:
    """Return how many candidates from list `at` are above the target and were not met in an earlier list."""
    for number in range(size - 1):
        other = table[OTHER, number]
        found = _look_up(
            lists.documents, bounds.levels, lists.directory, table, other, weights[other],
            table[CUTOFF, other] if other < at else LEVELS, score - rest[number + 1],
            found, candidates,
        )  # fmt: skip
    above = 0
    for number in range(found):
        if candidates.lowers[number] > score * (1 + SLACK):
            above += 1
            continue
        document = candidates.documents[number]
        exact = _score(
            lists.documents, lists.frequencies, lists.overflow_places, lists.overflow_frequencies,
            lists.directory, table, size, weights, document, norms[document],
        )  # fmt: skip
        if exact > score or (exact == score and document < target):
            above += 1
    return above


@compiled_uncounted
def _look_up(
    documents: np.ndarray,
    levels: np.ndarray,
    directory: np.ndarray,
    table: np.ndarray,
    at: int,
    weight: np.float32,
    most: int,
    needed: float,
    found: int,
    candidates: _Candidates,
) -> int:
    """Add what list `at` adds to the candidates, and keep those that can still come to θ; return their number.

    Args:
        most: a candidate with a higher level was met in this list before.
        needed: the bound that a candidate must have now.
    """
    start, end = table[START, at], table[END, at]
    first, shift = table[DIRECTORY, at], table[SHIFT, at]
    # Memory is slow, and a loop without branches that depend on it waits for many places at once.
    if first >= 0:
        for number in range(found):
            run = first + (candidates.documents[number] >> shift)
            candidates.lows[number], candidates.highs[number] = (
                start + directory[run],
                start + directory[run + 1],
            )
        for number in range(found):
            candidates.peeks[number] = documents[min(candidates.lows[number], end - 1)]
    else:
        candidates.lows[:found], candidates.highs[:found] = start, end
    kept = 0
    for number in range(found):
        document = candidates.documents[number]
        upper, lower = candidates.uppers[number], candidates.lowers[number]
        high = candidates.highs[number]
        place = first_not_below(documents, candidates.lows[number], high, document)
        if place < high and documents[place] == document:
            level = int(levels[place])
            if level > most:
                continue
            upper += _upper(weight, level)
            lower += _lower(weight, level)
        candidates.documents[kept], candidates.uppers[kept], candidates.lowers[kept] = document, upper, lower
        kept += upper >= needed
    return kept
