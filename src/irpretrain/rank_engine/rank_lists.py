"""The lists of a query's terms: what is known of each, a document's score by them, and bounds of a posting's part."""

from typing import NamedTuple

import numpy as np

from irpretrain.compiled import compiled_uncounted
from irpretrain.rank_engine.bm25 import part_of_score
from irpretrain.rank_engine.impacts import LEVELS, Bounds
from irpretrain.rank_engine.postings import (
    DIRECTORY_FROM,
    Lists,
    directory_shift,
    first_not_below,
    frequency_at,
)

SLACK = 1e-6
"""Added to g in bounds: far above the rounding of Lucene's floats (some 1e-7 of a weight), far below a level (4e-3)."""

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


class Index(NamedTuple):
    """A collection as ranks are counted in it.

    Attributes:
        lists: the postings.
        bounds: of their parts of scores.
        norms: float32[documents], of BM25.
        filled: documents with at least one term.
    """

    lists: Lists
    bounds: Bounds
    norms: np.ndarray
    filled: int


class Query(NamedTuple):
    """The lists of a query's terms, and the document whose rank is asked for.

    Attributes:
        table: int64[ROWS, lists], see `ROWS`.
        weights: float32[lists].
        rest: float64[lists + 1], sums of what the others can add, in the order of look-up.
        size: how many lists there are.
        target: the document.
        score: its score θ.
    """

    table: np.ndarray
    weights: np.ndarray
    rest: np.ndarray
    size: int
    target: int
    score: np.float32


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
def describe_lists(index: Index, query: Query) -> None:
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
    """Return the place of a document's posting in a list, -1 where there is none.

    Args:
        start, end: where the list begins and ends.
        first, shift: of its directory, as the table has them.
    """
    low, high = start, end
    if first >= 0:
        run = first + (target >> shift)
        low, high = start + directory[run], start + directory[run + 1]
    place = first_not_below(documents, low, high, target)
    if place < high and documents[place] == target:
        return place
    return -1


@compiled_uncounted
def score_of(index: Index, query: Query, document: int) -> np.float32:
    """Return the exact score of a document, -1 where it holds no term of the query."""
    lists, table = index.lists, query.table
    score, held = 0.0, False
    for at in range(query.size):
        start, end = table[START, at], table[END, at]
        first, shift = table[DIRECTORY, at], table[SHIFT, at]
        place = _find(lists.documents, lists.directory, start, end, first, shift, document)
        if place >= 0:
            held = True
            frequency = frequency_at(
                lists.frequencies, lists.overflow_places, lists.overflow_frequencies, place
            )
            part = part_of_score(query.weights[at], np.float32(frequency), index.norms[document])
            score += np.float64(part)
    return np.float32(score) if held else np.float32(-1)


@compiled_uncounted
def upper_bound(weight: np.float32, level: int) -> float:
    """Return a bound of what a posting of this level adds; nothing without a posting (level 0)."""
    return np.float64(weight) * (level * (1.0 / LEVELS) + SLACK) if level > 0 else 0.0


@compiled_uncounted
def lower_bound(weight: np.float32, level: int) -> float:
    return np.float64(weight) * ((level - 1) * (1.0 / LEVELS) - SLACK)
