"""Upper bounds of what postings add to scores, for one choice of BM25's parameters: what ranks are pruned by.

A posting adds w g to a score, with g = tf norm / (1 + tf norm) between 0 and 1 whatever the term. Its *level* is the
smallest l with g ≤ l / 255; so w l / 255 bounds its part from above and w (l - 1) / 255 from below. The files are the
arrays of `ScoreBounds`, and impacts.json: k1, b, and the numbers of entries.

A prefix goes down to the lowest level above which there is at most a quarter of the list. Impact-ordered lists: Anh, de
Kretser, Moffat, SIGIR 2001; lists in two tiers by impact: Daoud et al., ECIR 2016.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.axioms.rank_engine.bm25 import document_norms
from irpretrain.axioms.rank_engine.postings import (
    IMPACTS,
    IMPACTS_RECORD,
    MIN_LONG_POSTINGS,
    Lists,
    average_length,
    create_array,
    frequency_at,
    map_arrays,
)
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.compiled import compiled

LEVELS = 255

# A prefix holds at most 1 / PREFIX_DIVISOR of the postings of its list.
PREFIX_DIVISOR = 4


def write_impacts(postings: Path, record: Mapping[str, Any], bm25: Bm25Config) -> None:
    """Write the bounds of the postings in a folder, which have this record, into its folder `IMPACTS`."""
    lists, folder = map_arrays(Lists, postings, record), postings / IMPACTS
    norms = document_norms(lists.lengths, average_length(record), bm25)
    folder.mkdir()
    create = partial(create_array, folder)
    offsets, terms = lists.offsets, record["terms"]
    long_terms = np.flatnonzero(np.diff(offsets) >= MIN_LONG_POSTINGS)
    long_lists, long_numbers = create("long_lists", len(long_terms)), create("long_numbers", terms)
    long_lists[:], long_numbers[:] = long_terms, -1
    long_numbers[long_terms] = np.arange(len(long_terms))
    levels, tops = create("levels", record["postings"]), create("tops", terms)
    floors, hull_offsets = create("floors", len(long_terms)), create("hull_offsets", len(long_terms) + 1)
    prefix_offsets = create("prefix_offsets", len(long_terms) + 1)
    _fill_levels(lists, norms, levels, tops)
    _size_summaries(offsets, levels, long_lists, floors, hull_offsets, prefix_offsets)
    hull_offsets[:], prefix_offsets[:] = np.cumsum(hull_offsets), np.cumsum(prefix_offsets)
    vertex_count, entry_count = int(hull_offsets[-1]), int(prefix_offsets[-1])
    hull_levels, hull_above = create("hull_levels", vertex_count), create("hull_above", vertex_count)
    _fill_hulls(offsets, levels, long_lists, hull_offsets, hull_levels, hull_above)
    prefix_documents = create("prefix_documents", entry_count)
    prefix_levels = create("prefix_levels", entry_count)
    _fill_prefixes(lists, levels, long_lists, floors, prefix_offsets, prefix_documents, prefix_levels)
    sizes = {"k1": bm25.k1, "b": bm25.b, "vertices": vertex_count, "prefix_entries": entry_count}
    (folder / IMPACTS_RECORD).write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")


@compiled
def level_of(frequency: float, norm: float) -> int:
    """Return the smallest level (at least 1) whose bound is not below g = tf norm / (1 + tf norm)."""
    ratio = frequency * norm
    return min(LEVELS, max(1, int(np.ceil(LEVELS * (ratio / (1 + ratio))))))


@compiled
def _fill_levels(lists: Lists, norms: np.ndarray, levels: np.ndarray, tops: np.ndarray) -> None:
    offsets, documents = lists.offsets, lists.documents
    for term in range(len(tops)):
        top = 0
        for position in range(offsets[term], offsets[term + 1]):
            frequency = frequency_at(lists, position)
            level = level_of(float(frequency), float(norms[documents[position]]))
            levels[position] = level
            top = max(top, level)
        tops[term] = top


@compiled
def _count_above(levels: np.ndarray, counts_above: np.ndarray) -> None:
    counts_above[:] = 0
    for position in range(len(levels)):
        counts_above[levels[position]] += 1
    total = 0
    for level in range(LEVELS, -1, -1):
        count = counts_above[level]
        counts_above[level] = total
        total += count


@compiled
def _hull(counts_above: np.ndarray, vertices: np.ndarray) -> int:
    """Fill the levels of the lower convex hull of (l, above[l]); return their number (monotone chain, Andrew 1979)."""
    count = 0
    for level in range(LEVELS + 1):
        while count > 1:
            middle, previous = vertices[count - 1], vertices[count - 2]
            # The middle vertex lies on or above the line from the first to the new one.
            rise_to_middle = (counts_above[middle] - counts_above[previous]) * (level - previous)
            if rise_to_middle < (counts_above[level] - counts_above[previous]) * (middle - previous):
                break
            count -= 1
        vertices[count] = level
        count += 1
        if counts_above[level] == 0:
            break
    return count


@compiled
def _size_summaries(
    offsets: np.ndarray,
    levels: np.ndarray,
    long_lists: np.ndarray,
    floors: np.ndarray,
    hull_sizes: np.ndarray,
    prefix_sizes: np.ndarray,
) -> None:
    """Fill the floor of each long list, and the sizes of its hull and prefix (one entry later, for running sums)."""
    counts_above, vertices = np.empty(LEVELS + 1, np.int64), np.empty(LEVELS + 1, np.int64)
    hull_sizes[0] = prefix_sizes[0] = 0
    for long_number in range(len(long_lists)):
        start, end = offsets[long_lists[long_number]], offsets[long_lists[long_number] + 1]
        _count_above(levels[start:end], counts_above)
        floor = 0
        while counts_above[floor] * PREFIX_DIVISOR > end - start:
            floor += 1
        floors[long_number] = floor
        hull_sizes[long_number + 1] = _hull(counts_above, vertices)
        prefix_sizes[long_number + 1] = counts_above[floor]


@compiled
def _fill_hulls(
    offsets: np.ndarray,
    levels: np.ndarray,
    long_lists: np.ndarray,
    hull_offsets: np.ndarray,
    hull_levels: np.ndarray,
    hull_above: np.ndarray,
) -> None:
    counts_above, vertices = np.empty(LEVELS + 1, np.int64), np.empty(LEVELS + 1, np.int64)
    for long_number in range(len(long_lists)):
        start, end = offsets[long_lists[long_number]], offsets[long_lists[long_number] + 1]
        _count_above(levels[start:end], counts_above)
        for vertex in range(_hull(counts_above, vertices)):
            hull_levels[hull_offsets[long_number] + vertex] = vertices[vertex]
            hull_above[hull_offsets[long_number] + vertex] = counts_above[vertices[vertex]]


@compiled
def _fill_prefixes(
    lists: Lists,
    levels: np.ndarray,
    long_lists: np.ndarray,
    floors: np.ndarray,
    prefix_offsets: np.ndarray,
    documents: np.ndarray,
    prefix_levels: np.ndarray,
) -> None:
    """Fill the prefixes: a counting sort by falling level, which keeps the order of documents."""
    offsets, all_documents = lists.offsets, lists.documents
    next_slots = np.empty(LEVELS + 1, np.int64)
    for long_number in range(len(long_lists)):
        start, end = offsets[long_lists[long_number]], offsets[long_lists[long_number] + 1]
        _count_above(levels[start:end], next_slots)
        for position in range(start, end):
            level = levels[position]
            if level > floors[long_number]:
                target = prefix_offsets[long_number] + next_slots[level]
                documents[target] = all_documents[position]
                prefix_levels[target] = level
                next_slots[level] += 1
