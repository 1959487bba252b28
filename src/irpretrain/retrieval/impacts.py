"""Upper bounds of what postings add to scores, for one choice of BM25's parameters: what ranks are pruned by.

A posting adds w g to a score, with g = tf norm / (1 + tf norm) between 0 and 1 whatever the term. Its *level* is the
smallest l with g ≤ l / 255; so w l / 255 bounds its part from above and w (l - 1) / 255 from below. Files:

    levels.npy              uint8[postings]     1 … 255
    tops.npy                uint8[terms]        the highest level in a list; 0 where it is empty
    long_lists.npy          int32[long lists]   terms with at least `LONG_FROM` postings, ascending
    long_numbers.npy        int32[terms]        place of a term in `long_lists`, -1 for others
    above.npy               int32[long × STEPS] postings of the list with a level above STEP k, for k = 0 … STEPS - 1
    prefix_offsets.npy      int64[long + 1]     where each long list's prefix begins and ends
    prefix_documents.npy    int32[entries]      the list's documents of the highest levels, by falling level, then
    prefix_levels.npy       uint8[entries]      by number, and their levels
    impacts.json            k1, b, lengths, and the number of entries

The prefix of a list holds all its postings above some level STEP k, the lowest at which they are at most a quarter of
the list. Impact-ordered lists: Anh, de Kretser, Moffat, SIGIR 2001; two tiers of lists: Daoud et al., ECIR 2016.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.errors import IntegrityError
from irpretrain.retrieval.bm25 import Lengths, document_norms
from irpretrain.retrieval.postings import REMEDY, Lists, Postings, created, frequency_at, frozen, map_array

FOLDER, RECORD = "impacts", "impacts.json"
LEVELS = 255
STEP = 4
STEPS = 64
LONG_FROM = 512
SHARE_OF_PREFIX = 4
"""A prefix holds at most one in so many postings of its list."""
ARRAYS = {
    "levels": np.uint8,
    "tops": np.uint8,
    "long_lists": np.int32,
    "long_numbers": np.int32,
    "above": np.int32,
    "prefix_offsets": np.int64,
    "prefix_documents": np.int32,
    "prefix_levels": np.uint8,
}


class Bounds(NamedTuple):
    """The arrays that the file's head lists."""

    levels: np.ndarray
    tops: np.ndarray
    long_lists: np.ndarray
    long_numbers: np.ndarray
    above: np.ndarray
    prefix_offsets: np.ndarray
    prefix_documents: np.ndarray
    prefix_levels: np.ndarray


class Impacts(NamedTuple):
    """What a choice of BM25's parameters adds to postings: bounds, and each document's norm (float32)."""

    bounds: Bounds
    norms: np.ndarray


def open_impacts(postings: Postings, k1: float, b: float, lengths: Lengths) -> Impacts | None:
    """Return the bounds stored with the postings, memory-mapped; None where they are for other parameters.

    Raises:
        IntegrityError: files are missing, or do not fit the postings.
    """
    folder = postings.directory / FOLDER
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if (record["k1"], record["b"], record["lengths"]) != (k1, b, lengths):
            return None
        bounds = Bounds(**{name: map_array(folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()})
        _check(bounds, postings, record["prefix_entries"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            folder, f"these are not whole bounds of scores: {error}", remedy=REMEDY
        ) from None
    return Impacts(bounds, _norms(postings, k1, b, lengths))


def _check(bounds: Bounds, postings: Postings, prefix_entries: int) -> None:
    """Raise ValueError unless the arrays fit the postings."""
    long = int(np.count_nonzero(postings.document_frequencies() >= LONG_FROM))
    expected = (
        postings.record["postings"], postings.terms, long, postings.terms, long * STEPS, long + 1,
        prefix_entries, prefix_entries,
    )  # fmt: skip
    for name, array, length in zip(Bounds._fields, bounds, expected, strict=True):
        if len(array) != length:
            raise ValueError(f"{name}.npy has {len(array):,} entries, not {length:,}")
    if bounds.prefix_offsets[-1] != prefix_entries:
        raise ValueError("prefix_offsets.npy does not end with the prefixes")


def compute_impacts(postings: Postings, k1: float, b: float, lengths: Lengths) -> Impacts:
    """Compute the bounds in memory."""
    norms = _norms(postings, k1, b, lengths)
    bounds = _compute(postings, norms, lambda name, length: np.empty(length, ARRAYS[name]))
    return Impacts(Bounds(*map(frozen, bounds)), norms)


def write_impacts(postings: Postings, k1: float, b: float, lengths: Lengths, folder: Path) -> None:
    """Compute the bounds and write them to a new folder."""
    folder.mkdir()
    norms = _norms(postings, k1, b, lengths)
    bounds = _compute(postings, norms, lambda name, length: created(folder, name, length, ARRAYS[name]))
    record = {"k1": float(k1), "b": float(b), "lengths": lengths, "prefix_entries": len(bounds.prefix_levels)}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _norms(postings: Postings, k1: float, b: float, lengths: Lengths) -> np.ndarray:
    return frozen(document_norms(postings.lists.lengths, postings.average_length, k1, b, lengths))


def _compute(postings: Postings, norms: np.ndarray, make: Any) -> Bounds:
    """Fill all arrays; `make(name, length)` provides each."""
    held = postings.document_frequencies()
    long_lists = make("long_lists", int(np.count_nonzero(held >= LONG_FROM)))
    long_lists[:] = np.flatnonzero(held >= LONG_FROM)
    long_numbers = make("long_numbers", postings.terms)
    long_numbers[:] = -1
    long_numbers[long_lists] = np.arange(len(long_lists))
    levels, tops = make("levels", postings.record["postings"]), make("tops", postings.terms)
    above = make("above", len(long_lists) * STEPS)
    _fill_levels(postings.lists, norms, long_numbers, levels, tops, above)
    prefix_offsets = make("prefix_offsets", len(long_lists) + 1)
    _size_prefixes(held[long_lists], above, prefix_offsets)
    entries = int(prefix_offsets[-1])
    documents, prefix_levels = make("prefix_documents", entries), make("prefix_levels", entries)
    _fill_prefixes(postings.lists, levels, long_lists, prefix_offsets, documents, prefix_levels)
    return Bounds(levels, tops, long_lists, long_numbers, above, prefix_offsets, documents, prefix_levels)


@compiled
def level_of(frequency: float, norm: float) -> int:
    """Return the smallest level (at least 1) whose bound is not below g = tf norm / (1 + tf norm)."""
    ratio = frequency * norm
    return min(LEVELS, max(1, int(np.ceil(LEVELS * (ratio / (1 + ratio))))))


@compiled
def _fill_levels(
    lists: Lists,
    norms: np.ndarray,
    long_numbers: np.ndarray,
    levels: np.ndarray,
    tops: np.ndarray,
    above: np.ndarray,
) -> None:
    """Fill levels, the highest level of each list, and the counts of long lists."""
    counts = np.zeros(LEVELS + 1, np.int64)
    documents, frequencies = lists.documents, lists.frequencies
    for term in range(len(tops)):
        counts[:] = 0
        top = 0
        for place in range(lists.offsets[term], lists.offsets[term + 1]):
            frequency = int(frequencies[place])
            if frequency == 255:
                frequency = frequency_at(lists, place)
            level = level_of(float(frequency), float(norms[documents[place]]))
            levels[place] = level
            counts[level] += 1
            top = max(top, level)
        tops[term] = top
        if long_numbers[term] >= 0:
            total = 0
            for level in range(LEVELS, 0, -1):
                total += counts[level]
                if (level - 1) % STEP == 0:
                    above[long_numbers[term] * STEPS + (level - 1) // STEP] = total


@compiled
def _size_prefixes(held: np.ndarray, above: np.ndarray, offsets: np.ndarray) -> None:
    """Fill where the prefixes of long lists begin and end."""
    offsets[0] = 0
    for number in range(len(held)):
        step = STEPS - 1
        size = 0
        while step >= 0 and above[number * STEPS + step] * SHARE_OF_PREFIX <= held[number]:
            size = above[number * STEPS + step]
            step -= 1
        offsets[number + 1] = offsets[number] + size


@compiled
def _fill_prefixes(
    lists: Lists,
    levels: np.ndarray,
    long_lists: np.ndarray,
    offsets: np.ndarray,
    documents: np.ndarray,
    prefix_levels: np.ndarray,
) -> None:
    """Fill the prefixes: a counting sort by falling level, which keeps the order of documents."""
    free = np.zeros(LEVELS + 2, np.int64)
    for number in range(len(long_lists)):
        first, last = lists.offsets[long_lists[number]], lists.offsets[long_lists[number] + 1]
        size = offsets[number + 1] - offsets[number]
        free[:] = 0
        for place in range(first, last):
            free[levels[place]] += 1
        total = 0
        for level in range(LEVELS, 0, -1):
            count = free[level]
            free[level] = total if total < size else -1
            total += count
        for place in range(first, last):
            level = levels[place]
            if free[level] >= 0:
                target = offsets[number] + free[level]
                documents[target] = lists.documents[place]
                prefix_levels[target] = level
                free[level] += 1
