"""Lucene's BM25 of a posting, and upper bounds of it for pruning.

Lucene's BM25, operation by operation in its own precision (class BM25Similarity of Lucene 9 and 10).

    idf(t)    = log(1 + (N - df + 0.5) / (df + 0.5))                       double, then float
    norm(D)   = 1 / (k1 ((1 - b) + b |D| / avgdl))                         float
    part(t,D) = w - w / (1 + tf norm(D)),  w = (count of t in Q) idf       float
    score     = Σ part over the terms of Q that D holds                    double, then float

N counts the documents with at least one term, avgdl is the sum of their lengths over N. The textbook's factor k1 + 1,
which changes no order, is missing. The sum of floats is exact in a double for any collection of less than 2**28
documents, so the order of the terms does not matter. |D| is the number of terms of D; Lucene stores it in one byte,
with four significant bits (class SmallFloat).
"""

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from irpretrain.axioms.rank_engine.postings import (
    OVERFLOW,
    Lists,
    Postings,
    created,
    frequency_at,
    frozen,
    map_array,
)
from irpretrain.errors import MAKE_AGAIN, ConfigError, refusing_damage
from irpretrain.foundation.compiled import compiled

# What |D| is: the true length, or the length in Lucene's byte (at most an eighth less).
Lengths = Literal["exact", "lucene"]


class Bm25(NamedTuple):
    """BM25's parameters, and what |D| is."""

    k1: float = 3.8
    b: float = 0.87
    lengths: Lengths = "exact"


# k1 and b as ARES has them, with true lengths.
DEFAULT = Bm25()


# Smallest and largest k1; far beyond them norms overflow single precision.
K1 = (1e-9, 1e9)

# Lengths that Lucene's byte keeps as they are; 255 less the byte of the largest int in four significant bits.
FREE_VALUES = 24


@compiled
def lossy_length(length: int) -> int:
    """Return Lucene's byte4ToInt(intToByte4(length)): what exceeds 24 is cut to its four leading bits."""
    excess = length - FREE_VALUES
    if excess < 16:
        return length
    shift = 0
    while excess >> shift >= 16:
        shift += 1
    return FREE_VALUES + ((excess >> shift) << shift)


@compiled
def norm_of(length: int, average: np.float32, k1: np.float32, b: np.float32) -> np.float32:
    """Return norm(D), in Lucene's order of operations."""
    unit = np.float32(1)
    return unit / (k1 * ((unit - b) + b * np.float32(length) / average))


@compiled
def fill_norms(
    lengths: np.ndarray, average: np.float32, k1: np.float32, b: np.float32, lossy: bool, norms: np.ndarray
) -> None:
    """Put norm(D) of every document into `norms` (float32), 0 for documents without terms, which nothing finds."""
    for document in range(len(lengths)):
        length = lossy_length(lengths[document]) if lossy else lengths[document]
        norms[document] = norm_of(length, average, k1, b) if length else np.float32(0)


def document_norms(lengths: np.ndarray, average: float, k1: float, b: float, kind: Lengths) -> np.ndarray:
    """Return norm(D) of every document (float32[documents]); ConfigError if k1 or b is out of range.

    `average` is the mean length of the documents with a term.
    """
    if not (K1[0] <= k1 <= K1[1] and 0 <= b <= 1):
        raise ConfigError(
            f"k1 = {k1} and b = {b}: BM25 needs k1 from {K1[0]:g} to {K1[1]:g} and b from 0 to 1"
        )
    norms = np.empty(len(lengths), np.float32)
    fill_norms(lengths, np.float32(average or 1), np.float32(k1), np.float32(b), kind == "lucene", norms)
    return norms


def inverse_document_frequencies(frequencies: np.ndarray, documents: int) -> np.ndarray:
    """Return idf (float32) of terms with these document frequencies."""
    held = frequencies.astype(np.float64)
    return np.log(1 + (documents - held + 0.5) / (held + 0.5)).astype(np.float32)


@compiled
def part_of_score(weight: np.float32, frequency: np.float32, norm: np.float32) -> np.float32:
    """Return what a term adds to a document's score."""
    return weight - weight / (np.float32(1) + frequency * norm)


# Upper bounds of what postings add to scores, for one choice of BM25's parameters: what ranks are pruned by.
#
# A posting adds w g to a score, with g = tf norm / (1 + tf norm) between 0 and 1 whatever the term. Its *level* is
# the smallest l with g ≤ l / 255; so w l / 255 bounds its part from above and w (l - 1) / 255 from below. Files:
#
#     levels.npy              uint8[postings]     1 … 255
#     tops.npy                uint8[terms]        the highest level in a list; 0 if it is empty
#     long_lists.npy          int32[long lists]   terms with at least `LONG_FROM` postings, ascending
#     long_numbers.npy        int32[terms]        place of a term in `long_lists`, -1 for others
#     hull_offsets.npy        int64[long + 1]     where the vertices of each long list begin and end
#     hull_levels.npy         uint8[vertices]     vertices (l, n) of the lower convex hull of: n postings of a list are
#     hull_above.npy          int32[vertices]     above level l; from (0, all) to (top, 0)
#     prefix_offsets.npy      int64[long + 1]     where each long list's prefix begins and ends
#     prefix_documents.npy    int32[entries]      the list's documents of the highest levels, by falling level, then
#     prefix_levels.npy       uint8[entries]      by number, and their levels
#     floors.npy              uint8[long lists]   the prefix has all postings above this level, and no others
#     impacts.json            k1, b, lengths, and the numbers of entries
#
# A prefix goes down to the lowest level above which there is at most a quarter of the list. Impact-ordered lists:
# Anh, de Kretser, Moffat, SIGIR 2001; lists in two tiers by impact: Daoud et al., ECIR 2016.


FOLDER, RECORD = "impacts", "impacts.json"
LEVELS = 255
LONG_FROM = 128

# A prefix holds at most 1 / SHARE_OF_PREFIX of the postings of its list.
SHARE_OF_PREFIX = 4
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


class ScoreBounds(NamedTuple):
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

    bounds: ScoreBounds
    norms: np.ndarray


def impacts_of(postings: Postings, bm25: Bm25) -> Impacts:
    """Return the bounds of scores for these parameters: stored with the postings, or computed."""
    # Computing takes a pass over all postings and about 2.5 bytes of memory for each. The postings keep the bounds
    # of the last parameters alive.
    if bm25 not in postings.impacts:
        stored = open_impacts(postings, bm25)
        postings.impacts = {bm25: compute_impacts(postings, bm25) if stored is None else stored}
    impacts: Impacts = postings.impacts[bm25]
    return impacts


def open_impacts(postings: Postings, bm25: Bm25) -> Impacts | None:
    """Return the stored bounds, memory-mapped; None if for other parameters, IntegrityError if damaged."""
    folder = postings.directory / FOLDER
    with refusing_damage(folder, "these are not whole bounds of scores", MAKE_AGAIN):
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if Bm25(record["k1"], record["b"], record["lengths"]) != bm25:
            return None
        bounds = ScoreBounds(
            **{name: map_array(folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()}
        )
        _check(bounds, postings, record["vertices"], record["prefix_entries"])
    return Impacts(bounds, _norms(postings, bm25))


def _check(bounds: ScoreBounds, postings: Postings, vertices: int, entries: int) -> None:
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
    norms = _norms(postings, bm25)
    bounds = _compute(postings, norms, lambda name, length: np.empty(length, ARRAYS[name]))
    return Impacts(ScoreBounds(*map(frozen, bounds)), norms)


def write_impacts(postings: Postings, bm25: Bm25, folder: Path) -> None:
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


def _compute(postings: Postings, norms: np.ndarray, make: Any) -> ScoreBounds:
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
    return ScoreBounds(
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
    offsets, documents, frequencies = lists.offsets, lists.documents, lists.frequencies
    for term in range(len(tops)):
        top = 0
        for position in range(offsets[term], offsets[term + 1]):
            frequency = int(frequencies[position])
            if frequency == OVERFLOW:
                frequency = frequency_at(
                    frequencies, lists.overflow_positions, lists.overflow_frequencies, position
                )
            level = level_of(float(frequency), float(norms[documents[position]]))
            levels[position] = level
            top = max(top, level)
        tops[term] = top


@compiled
def _count_above(levels: np.ndarray, above: np.ndarray) -> None:
    above[:] = 0
    for position in range(len(levels)):
        above[levels[position]] += 1
    total = 0
    for level in range(LEVELS, -1, -1):
        count = above[level]
        above[level] = total
        total += count


@compiled
def _hull(above: np.ndarray, vertices: np.ndarray) -> int:
    """Fill the levels of the lower convex hull of (l, above[l]); return their number (monotone chain, Andrew 1979)."""
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
        for position in range(first, last):
            level = levels[position]
            if level > floors[number]:
                target = prefix_offsets[number] + free[level]
                documents[target] = listed[position]
                prefix_levels[target] = level
                free[level] += 1
