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

from irpretrain.compiled import compiled
from irpretrain.errors import InputError
from irpretrain.retrieval.bm25 import Lengths, part_of_score
from irpretrain.retrieval.impacts import LEVELS, STEP, STEPS, Bounds
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
BLOCK = 64
"""Levels of a list that are compared at once."""


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


class _Query(NamedTuple):
    """A query's distinct terms that the collection holds, the rarest first; room for the longest query.

    Attributes:
        terms: int64, numbers of the terms.
        weights: float32, times the term stands in the query × idf.
        starts, ends: int64, the term's postings.
        directories: int64, where its directory begins; -1 without.
        shifts: int64, log2 of the documents in a run of the directory.
        tops: int64, the highest level in the list.
        cutoffs: int64, c_i: postings of higher levels are essential.
        others, rest: int64 and float64, for the list being worked through: the other lists in the order of look-up,
            and the bound of what they add from each one on.
        places: int64, a document's posting in each list, -1 where there is none.
    """

    terms: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    directories: np.ndarray
    shifts: np.ndarray
    tops: np.ndarray
    cutoffs: np.ndarray
    others: np.ndarray
    rest: np.ndarray
    places: np.ndarray


@compiled
def _room(length: int) -> _Query:
    return _Query(
        np.empty(length, np.int64), np.empty(length, np.float32), np.empty(length, np.int64),
        np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64),
        np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64),
        np.empty(length + 1, np.float64), np.empty(length, np.int64),
    )  # fmt: skip


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
    query = _room(longest)
    steps = np.empty((longest, 3), np.float64)
    for number in range(first, last):
        size = _distinct(lists, bounds, count, terms[offsets[number] : offsets[number + 1]], query)
        document = documents[number]
        found = _find_all(lists, query, size, document)
        if not found:
            ranks[number] = 0
            continue
        score = _score(lists, query, size, norms[document])
        _choose_cutoffs(bounds, query, size, score, steps)
        ranks[number] = _rank(lists, bounds, norms, query, size, document, score, depth)


@compiled
def _distinct(lists: Lists, bounds: Bounds, count: int, terms: np.ndarray, query: _Query) -> int:
    """Put the distinct terms that the collection holds into `query`, the rarest first; return their number."""
    size = 0
    for term in terms:
        if term < 0 or bounds.tops[term] == 0:
            continue
        held = lists.offsets[term + 1] - lists.offsets[term]
        at = 0
        while at < size and query.terms[at] != term:
            at += 1
        if at < size:
            query.weights[at] += np.float32(1)
            continue
        while at > 0 and held < query.ends[at - 1] - query.starts[at - 1]:
            query.terms[at] = query.terms[at - 1]
            query.weights[at] = query.weights[at - 1]
            query.starts[at], query.ends[at] = query.starts[at - 1], query.ends[at - 1]
            at -= 1
        query.terms[at] = term
        query.weights[at] = np.float32(1)
        query.starts[at], query.ends[at] = lists.offsets[term], lists.offsets[term + 1]
        size += 1
    documents = len(lists.lengths)
    for at in range(size):
        term, held = query.terms[at], query.ends[at] - query.starts[at]
        idf = np.float32(np.log(1 + (count - held + 0.5) / (held + 0.5)))
        query.weights[at] *= idf
        query.tops[at] = bounds.tops[term]
        query.directories[at] = lists.directory_offsets[term] if held >= DIRECTORY_FROM else -1
        query.shifts[at] = directory_shift(held, documents) if held >= DIRECTORY_FROM else 0
    return size


@compiled
def _find(lists: Lists, query: _Query, at: int, document: int) -> int:
    """Return the place of a document's posting in a list, -1 where there is none."""
    low, high = query.starts[at], query.ends[at]
    directory = query.directories[at]
    if directory >= 0:
        run = directory + (document >> query.shifts[at])
        low, high = low + lists.directory[run], low + lists.directory[run + 1]
    place = first_not_below(lists.documents, low, high, document)
    if place < high and lists.documents[place] == document:
        return place
    return -1


@compiled
def _find_all(lists: Lists, query: _Query, size: int, document: int) -> bool:
    """Find a document in all lists; return whether any holds it."""
    found = False
    for at in range(size):
        query.places[at] = _find(lists, query, at, document)
        found |= query.places[at] >= 0
    return found


@compiled
def _score(lists: Lists, query: _Query, size: int, norm: np.float32) -> np.float32:
    """Return the exact score of the document whose postings `query.places` has."""
    score = 0.0
    for at in range(size):
        if query.places[at] >= 0:
            frequency = np.float32(frequency_at(lists, query.places[at]))
            score += np.float64(part_of_score(query.weights[at], frequency, norm))
    return np.float32(score)


@compiled
def _upper(weight: np.float32, level: int) -> float:
    """Return a bound of what a posting of this level adds; nothing without a posting (level 0)."""
    return np.float64(weight) * (level * (1.0 / LEVELS) + SLACK) if level else 0.0


@compiled
def _lower(weight: np.float32, level: int) -> float:
    return np.float64(weight) * ((level - 1) * (1.0 / LEVELS) - SLACK) if level else 0.0


@compiled
def _postings_above(bounds: Bounds, query: _Query, at: int, step: int) -> int:
    """Return how many postings of a list are essential under the cut-off STEP × step."""
    if STEP * step >= query.tops[at]:
        return 0
    number = bounds.long_numbers[query.terms[at]]
    if number < 0:
        return query.ends[at] - query.starts[at]
    return bounds.above[number * STEPS + step]


@compiled
def _best_step(bounds: Bounds, query: _Query, at: int, budget: float, best: np.ndarray) -> None:
    """Find the rise of a list's cut-off that spares most postings per score it takes, within the budget.

    Args:
        best: to be filled: postings spared per score, new cut-off (-1 where none is affordable), score taken.
    """
    now = query.cutoffs[at]
    best[0], best[1], best[2] = 0.0, -1.0, 0.0
    essential = _postings_above(bounds, query, at, now // STEP) if now < query.tops[at] else 0
    used = _upper(query.weights[at], now)
    for step in range(now // STEP + 1, STEPS + 1):
        level = min(STEP * step, query.tops[at])
        cost = _upper(query.weights[at], level) - used
        if cost >= budget:
            break
        rate = (essential - _postings_above(bounds, query, at, step)) / cost if cost > 0 else 0.0
        if rate > best[0]:
            best[0], best[1], best[2] = rate, level, cost
        if level == query.tops[at]:
            break


@compiled
def _choose_cutoffs(bounds: Bounds, query: _Query, size: int, score: np.float32, steps: np.ndarray) -> None:
    """Choose cut-offs with Σ bounds < θ and few essential postings: the greedy solution of the knapsack problem."""
    budget = np.float64(score) * (1 - SLACK)
    for at in range(size):
        query.cutoffs[at] = 0
        _best_step(bounds, query, at, budget, steps[at])
    while True:
        best = 0
        for at in range(size):
            if steps[at, 1] >= 0 and steps[at, 2] >= budget:
                _best_step(bounds, query, at, budget, steps[at])
            if steps[at, 0] > steps[best, 0]:
                best = at
        if steps[best, 1] < 0:
            return
        query.cutoffs[best] = int(steps[best, 1])
        budget -= steps[best, 2]
        _best_step(bounds, query, best, budget, steps[best])


@compiled
def _rank(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    query: _Query,
    size: int,
    target: int,
    score: np.float32,
    depth: int,
) -> int:
    """Count the documents above the target among the essential postings; return its rank, or 0 beyond `depth`."""
    above = 0
    for at in range(size):
        if query.cutoffs[at] >= query.tops[at]:
            continue
        _order_others(query, size, at)
        above += _count_in_prefix(lists, bounds, norms, query, size, at, target, score, depth - above)
        if above >= depth:
            return 0
        above += _count_in_list(lists, bounds, norms, query, size, at, target, score, depth - above)
        if above >= depth:
            return 0
    return above + 1


@compiled
def _order_others(query: _Query, size: int, at: int) -> None:
    """Order the other lists by what they can add: in those worked through before, at most their cut-off."""
    count = 0
    for other in range(size):
        if other == at:
            continue
        most = _most(query, other, at)
        place = count
        while place > 0 and most > _most(query, query.others[place - 1], at):
            query.others[place] = query.others[place - 1]
            place -= 1
        query.others[place] = other
        count += 1
    query.rest[count] = 0.0
    for place in range(count - 1, -1, -1):
        query.rest[place] = query.rest[place + 1] + _most(query, query.others[place], at)


@compiled
def _most(query: _Query, other: int, at: int) -> float:
    return _upper(query.weights[other], query.cutoffs[other] if other < at else query.tops[other])


@compiled
def _count_in_prefix(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    query: _Query,
    size: int,
    at: int,
    target: int,
    score: np.float32,
    wanted: int,
) -> int:
    """Count documents above the target in the prefix of a list, the highest levels first, up to `wanted`."""
    number = bounds.long_numbers[query.terms[at]]
    if number < 0:
        return 0
    above = 0
    for entry in range(bounds.prefix_offsets[number], bounds.prefix_offsets[number + 1]):
        level = int(bounds.prefix_levels[entry])
        if level <= query.cutoffs[at] or above >= wanted:
            break
        document = int(bounds.prefix_documents[entry])
        if _is_above(lists, bounds, norms, query, size, at, level, -1, document, target, score):
            above += 1
    return above


@compiled
def _count_in_list(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    query: _Query,
    size: int,
    at: int,
    target: int,
    score: np.float32,
    wanted: int,
) -> int:
    """Count documents above the target among the essential postings that the prefix lacks, up to `wanted`."""
    number = bounds.long_numbers[query.terms[at]]
    highest = LEVELS
    if number >= 0 and bounds.prefix_offsets[number + 1] > bounds.prefix_offsets[number]:
        # All postings down to a multiple of STEP are in the prefix.
        lowest = int(bounds.prefix_levels[bounds.prefix_offsets[number + 1] - 1])
        highest = (lowest - 1) // STEP * STEP
    cutoff = query.cutoffs[at]
    if highest <= cutoff:
        return 0
    above = 0
    for block in range(query.starts[at], query.ends[at], BLOCK):
        end = min(block + BLOCK, query.ends[at])
        top = np.uint8(0)
        for place in range(block, end):
            top = max(top, bounds.levels[place])
        if top <= cutoff:
            continue
        for place in range(block, end):
            level = int(bounds.levels[place])
            if level <= cutoff or level > highest:
                continue
            document = int(lists.documents[place])
            if _is_above(lists, bounds, norms, query, size, at, level, place, document, target, score):
                above += 1
                if above >= wanted:
                    return above
    return above


@compiled
def _is_above(
    lists: Lists,
    bounds: Bounds,
    norms: np.ndarray,
    query: _Query,
    size: int,
    at: int,
    level: int,
    place: int,
    document: int,
    target: int,
    score: np.float32,
) -> bool:
    """Return whether an essential posting's document is above the target and was not met in an earlier list.

    Args:
        at, level, place: the list, the level, and the place in the list, -1 where it is not known.
    """
    if document == target:
        return False
    upper = _upper(query.weights[at], level)
    lower = _lower(query.weights[at], level)
    query.places[at] = place
    for number in range(size - 1):
        if upper + query.rest[number] < score:
            return False
        other = query.others[number]
        found = _find(lists, query, other, document)
        query.places[other] = found
        if found < 0:
            continue
        level = int(bounds.levels[found])
        if other < at and level > query.cutoffs[other]:
            return False
        upper += _upper(query.weights[other], level)
        lower += _lower(query.weights[other], level)
    if upper < score * (1 - SLACK):
        return False
    if lower > score * (1 + SLACK):
        return True
    if place < 0:
        query.places[at] = _find(lists, query, at, document)
    exact = _score(lists, query, size, norms[document])
    return bool(exact > score or (exact == score and document < target))
