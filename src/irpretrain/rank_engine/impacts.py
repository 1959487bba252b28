"""Upper bounds of what postings add to scores, for one choice of BM25's parameters: what ranks are pruned by.

A posting adds w g to a score, with g = tf norm / (1 + tf norm) between 0 and 1 whatever the term. Its *level* is the
smallest l with g ≤ l / 255; so w l / 255 bounds its part from above and w (l - 1) / 255 from below. Files:

    levels.npy              uint8[postings]     1 … 255
    tops.npy                uint8[terms]        the highest level in a list; 0 where it is empty
    long_lists.npy          int32[long lists]   terms with at least `LONG_FROM` postings, ascending
    long_numbers.npy        int32[terms]        place of a term in `long_lists`, -1 for others
    hull_offsets.npy        int64[long + 1]     where the vertices of each long list begin and end
    hull_levels.npy         uint8[vertices]     vertices (l, n) of the lower convex hull of: n postings of the list have
    hull_above.npy          int32[vertices]     a level above l; from (0, all) to (top, 0)
    prefix_offsets.npy      int64[long + 1]     where each long list's prefix begins and ends
    prefix_documents.npy    int32[entries]      the list's documents of the highest levels, by falling level, then
    prefix_levels.npy       uint8[entries]      by number, and their levels
    floors.npy              uint8[long lists]   the prefix has all postings above this level, and no others
    impacts.json            k1, b, lengths, and the numbers of entries

A prefix goes down to the lowest level above which there is at most a quarter of the list. Impact-ordered lists: Anh,
de Kretser, Moffat, SIGIR 2001; lists in two tiers by impact: Daoud et al., ECIR 2016.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.errors import MAKE_AGAIN, refusing_damage
from irpretrain.rank_engine.bm25 import Bm25, document_norms
from irpretrain.rank_engine.postings import (
    OVERFLOW,
    Lists,
    Postings,
    created,
    frequency_at,
    frozen,
    map_array,
)

FOLDER, RECORD = "impacts", "impacts.json"
LEVELS = 255
LONG_FROM = 128
SHARE_OF_PREFIX = 4
"""A prefix holds at most one in so many postings of its list."""
ARRAYS = {
    "levels": np.uint8,
    "tops": np.uint8,
    "long_lists": np.int32,
    "long_numbers": np.int32,
    "hull_offsets": np.int64,
    "hull_levels": np.uint8,
    "hull_above": np.int32,
    "prefix_offsets": np.int64,
    "prefix_documents": np.int32,
    "prefix_levels": np.uint8,
    "floors": np.uint8,
}


class Bounds(NamedTuple):
    """The arrays that the file's head lists."""

    levels: np.ndarray
    tops: np.ndarray
    long_lists: np.ndarray
    long_numbers: np.ndarray
    hull_offsets: np.ndarray
    hull_levels: np.ndarray
    hull_above: np.ndarray
    prefix_offsets: np.ndarray
    prefix_documents: np.ndarray
    prefix_levels: np.ndarray
    floors: np.ndarray


class Impacts(NamedTuple):
    """What a choice of BM25's parameters adds to postings: bounds, and each document's norm (float32)."""

    bounds: Bounds
    norms: np.ndarray


def impacts_of(postings: Postings, bm25: Bm25) -> Impacts:
    """Return the bounds of scores for these parameters: those stored with the postings, or else computed.

    Computing takes a pass over all postings and about 2.5 bytes of memory for each. The postings keep the bounds of the
    last parameters, so that these go with them.
    """
    if bm25 not in postings.impacts:
        stored = open_impacts(postings, bm25)
        postings.impacts = {bm25: compute_impacts(postings, bm25) if stored is None else stored}
    impacts: Impacts = postings.impacts[bm25]
    return impacts


def open_impacts(postings: Postings, bm25: Bm25) -> Impacts | None:
    """Return the bounds stored with the postings, memory-mapped; None where they are for other parameters.

    Raises:
        IntegrityError: files are missing, or do not fit the postings.
    """
    folder = postings.directory / FOLDER
    with refusing_damage(folder, "these are not whole bounds of scores", MAKE_AGAIN):
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if Bm25(record["k1"], record["b"], record["lengths"]) != bm25:
            return None
        bounds = Bounds(**{name: map_array(folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()})
        _check(bounds, postings, record["vertices"], record["prefix_entries"])
    return Impacts(bounds, _norms(postings, bm25))


def _check(bounds: Bounds, postings: Postings, vertices: int, entries: int) -> None:
    """Raise ValueError unless the arrays fit the postings."""
    long = int(np.count_nonzero(postings.document_frequencies() >= LONG_FROM))
    expected = {
        "levels": postings.record["postings"],
        "tops": postings.terms,
        "long_lists": long,
        "long_numbers": postings.terms,
        "hull_offsets": long + 1,
        "hull_levels": vertices,
        "hull_above": vertices,
        "prefix_offsets": long + 1,
        "prefix_documents": entries,
        "prefix_levels": entries,
        "floors": long,
    }
    for name, length in expected.items():
        if (actual := len(getattr(bounds, name))) != length:
            raise ValueError(f"{name}.npy has {actual:,} entries, not {length:,}")
    for name, end in (("hull_offsets", vertices), ("prefix_offsets", entries)):
        offsets = getattr(bounds, name)
        if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
            raise ValueError(f"{name}.npy does not rise from 0 to {end:,}")


def compute_impacts(postings: Postings, bm25: Bm25) -> Impacts:
    """Compute the bounds in memory."""
    norms = _norms(postings, bm25)
    bounds = _compute(postings, norms, lambda name, length: np.empty(length, ARRAYS[name]))
    return Impacts(Bounds(*map(frozen, bounds)), norms)


def write_impacts(postings: Postings, bm25: Bm25, folder: Path) -> None:
    """Compute the bounds and write them to a new folder."""
    folder.mkdir()
    norms = _norms(postings, bm25)
    bounds = _compute(postings, norms, lambda name, length: created(folder, name, length, ARRAYS[name]))
    record = {
        "k1": float(bm25.k1),
        "b": float(bm25.b),
        "lengths": bm25.lengths,
        "vertices": len(bounds.hull_levels),
        "prefix_entries": len(bounds.prefix_levels),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _norms(postings: Postings, bm25: Bm25) -> np.ndarray:
    return frozen(document_norms(postings.lists.lengths, postings.average_length, *bm25))


def _compute(postings: Postings, norms: np.ndarray, make: Any) -> Bounds:
    """Fill all arrays; `make(name, length)` provides each."""
    held = postings.document_frequencies()
    long_lists = make("long_lists", int(np.count_nonzero(held >= LONG_FROM)))
    long_lists[:] = np.flatnonzero(held >= LONG_FROM)
    long_numbers = make("long_numbers", postings.terms)
    long_numbers[:] = -1
    long_numbers[long_lists] = np.arange(len(long_lists))
    levels, tops = make("levels", postings.record["postings"]), make("tops", postings.terms)
    floors = make("floors", len(long_lists))
    hull_offsets, prefix_offsets = (
        make(f"{name}_offsets", len(long_lists) + 1) for name in ("hull", "prefix")
    )
    offsets = postings.lists.offsets
    _fill_levels(postings.lists, norms, levels, tops)
    _size_summaries(offsets, levels, long_lists, floors, hull_offsets, prefix_offsets)
    hull_offsets[:], prefix_offsets[:] = np.cumsum(hull_offsets), np.cumsum(prefix_offsets)
    vertices, entries = int(hull_offsets[-1]), int(prefix_offsets[-1])
    hull_levels, hull_above = make("hull_levels", vertices), make("hull_above", vertices)
    documents, prefix_levels = make("prefix_documents", entries), make("prefix_levels", entries)
    _fill_hulls(offsets, levels, long_lists, hull_offsets, hull_levels, hull_above)
    _fill_prefixes(postings.lists, levels, long_lists, floors, prefix_offsets, documents, prefix_levels)
    return Bounds(
        levels, tops, long_lists, long_numbers, hull_offsets, hull_levels, hull_above,
        prefix_offsets, documents, prefix_levels, floors,
    )  # fmt: skip


@compiled
def level_of(frequency: float, norm: float) -> int:
    """Return the smallest level (at least 1) whose bound is not below g = tf norm / (1 + tf norm)."""
    ratio = frequency * norm
    return min(LEVELS, max(1, int(np.ceil(LEVELS * (ratio / (1 + ratio))))))


@compiled
def _fill_levels(lists: Lists, norms: np.ndarray, levels: np.ndarray, tops: np.ndarray) -> None:
    """Fill the level of each posting and the highest one of each list."""
    offsets, documents, frequencies = lists.offsets, lists.documents, lists.frequencies
    for term in range(len(tops)):
        top = 0
        for place in range(offsets[term], offsets[term + 1]):
            frequency = int(frequencies[place])
            if frequency == OVERFLOW:
                frequency = frequency_at(
                    frequencies, lists.overflow_places, lists.overflow_frequencies, place
                )
            level = level_of(float(frequency), float(norms[documents[place]]))
            levels[place] = level
            top = max(top, level)
        tops[term] = top


@compiled
def _count_above(levels: np.ndarray, above: np.ndarray) -> None:
    """Fill above[l], the number of postings of a list with a level above l (int64[LEVELS + 1])."""
    above[:] = 0
    for place in range(len(levels)):
        above[levels[place]] += 1
    total = 0
    for level in range(LEVELS, -1, -1):
        count = above[level]
        above[level] = total
        total += count


@compiled
def _hull(above: np.ndarray, vertices: np.ndarray) -> int:
    """Fill the levels of the lower convex hull of (l, above[l]), from 0 to the highest level; return their number.

    Andrew's monotone chain (1979).
    """
    count = 0
    for level in range(LEVELS + 1):
        while count > 1:
            middle, first = vertices[count - 1], vertices[count - 2]
            # The middle vertex lies on or above the line from the first to the new one.
            rise = (above[middle] - above[first]) * (level - first)
            if rise < (above[level] - above[first]) * (middle - first):
                break
            count -= 1
        vertices[count] = level
        count += 1
        if above[level] == 0:
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
    above, vertices = np.empty(LEVELS + 1, np.int64), np.empty(LEVELS + 1, np.int64)
    hull_sizes[0] = prefix_sizes[0] = 0
    for number in range(len(long_lists)):
        first, last = offsets[long_lists[number]], offsets[long_lists[number] + 1]
        _count_above(levels[first:last], above)
        floor = 0
        while above[floor] * SHARE_OF_PREFIX > last - first:
            floor += 1
        floors[number] = floor
        hull_sizes[number + 1] = _hull(above, vertices)
        prefix_sizes[number + 1] = above[floor]


@compiled
def _fill_hulls(
    offsets: np.ndarray,
    levels: np.ndarray,
    long_lists: np.ndarray,
    hull_offsets: np.ndarray,
    hull_levels: np.ndarray,
    hull_above: np.ndarray,
) -> None:
    above, vertices = np.empty(LEVELS + 1, np.int64), np.empty(LEVELS + 1, np.int64)
    for number in range(len(long_lists)):
        _count_above(levels[offsets[long_lists[number]] : offsets[long_lists[number] + 1]], above)
        for vertex in range(_hull(above, vertices)):
            hull_levels[hull_offsets[number] + vertex] = vertices[vertex]
            hull_above[hull_offsets[number] + vertex] = above[vertices[vertex]]


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
    offsets, listed = lists.offsets, lists.documents
    free = np.empty(LEVELS + 1, np.int64)
    for number in range(len(long_lists)):
        first, last = offsets[long_lists[number]], offsets[long_lists[number] + 1]
        _count_above(levels[first:last], free)
        for place in range(first, last):
            level = levels[place]
            if level > floors[number]:
                target = prefix_offsets[number] + free[level]
                documents[target] = listed[place]
                prefix_levels[target] = level
                free[level] += 1
