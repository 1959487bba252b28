"""From word stores to postings, out of core: one pass for lengths and document frequencies, then one per range of
terms.

The postings of a range fit in memory. The last document in which each term was seen decides whether a word opens a
posting or adds to the open one, so nothing is sorted, and documents ascend in every list by themselves (Witten, Moffat,
Bell: Managing Gigabytes, 1999, section 5.2, in-memory inversion of a part of the terms).
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.axioms.rank_engine.impacts import DEFAULT, FOLDER, Bm25, write_impacts
from irpretrain.axioms.rank_engine.postings import (
    ARRAYS,
    OVERFLOW,
    RECORD,
    VERSION,
    Postings,
    created,
    directory_entries,
    directory_shift,
)
from irpretrain.errors import MAKE_AGAIN, InputError, IntegrityError
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.progress import progress

# Words of consecutive documents that are looked at together.
WORDS_AT_ONCE = 1 << 22
BYTES_A_POSTING = 8

# Far above any corpus here; below it sums of scores are exact in doubles and document numbers leave room in int32.
MOST_DOCUMENTS = 2**28


class WordShard(Protocol):
    """The words of one shard: what `irpretrain.text.word_store.WordStore` holds."""

    @property
    def words(self) -> np.ndarray:
        """int32[all words]: numbers of the documents' words, end to end."""

    @property
    def offsets(self) -> np.ndarray:
        """int64[documents + 1]: where each document's words begin and end."""

    @property
    def parts(self) -> np.ndarray:
        """int[documents]: with `positions`, the document's place in its corpus."""

    @property
    def positions(self) -> np.ndarray:
        """int[documents]"""

    @property
    def document_ids(self) -> pa.ChunkedArray | pa.Array:
        """string[documents]"""


class WordsInMemory(NamedTuple):
    """The words of a shard that fits in memory: of benchmarks and tests."""

    words: np.ndarray
    offsets: np.ndarray
    parts: np.ndarray
    positions: np.ndarray
    document_ids: pa.Array


def write_postings(
    corpora: Sequence[Sequence[WordShard]],
    # int32[words], the term of each word, -1 for a word that is left out (and not counted in
    # lengths).
    term_of: np.ndarray,
    terms: int,  # number of terms; one that no document holds is allowed
    output: str | Path,  # a folder, see `irpretrain.axioms.rank_engine.postings`
    # MB of postings under construction; further memory: 12 bytes per term, 4 per word of the
    # vocabulary, 24 per document, and some 100 MB.
    memory_mb: int = 2000,
    bm25: Bm25 = DEFAULT,  # what the stored bounds are for; the postings serve any other choice too
) -> dict[str, Any]:
    """Write the postings of a collection, and the bounds of scores for one choice of BM25's parameters.

    Documents are numbered corpus after corpus, within a corpus by (part, position) over its shards, so the bytes depend
    neither on the number of shards nor on `memory_mb`.

    Returns:
        The record: documents, documents_with_terms, terms, postings, total_length, overflows, directory_entries,
        passes.

    Raises:
        InputError: two documents share a position in their corpus, or an identifier; or there are too many.
        IntegrityError: a word has no entry in `term_of`, or a term number is not below `terms`.
    """
    if len(term_of) and not -1 <= term_of.min() <= term_of.max() < terms:
        raise IntegrityError(output, f"a term number is outside -1 … {terms - 1:,}", remedy=MAKE_AGAIN)
    collection = _Collection(corpora, np.ascontiguousarray(term_of, np.int32), Path(output))
    with atomic_directory(output) as folder:
        counts = _count(collection, terms)
        np.save(folder / "lengths.npy", counts.lengths)
        np.save(folder / "offsets.npy", counts.offsets)
        np.save(folder / "directory_offsets.npy", counts.directory_offsets)
        _write_identifiers(collection, folder)
        ranges = list(_ranges(counts.offsets, memory_mb * 2**20 // BYTES_A_POSTING))
        overflows = _write_lists(collection, counts, ranges, folder)
        record = {
            "version": VERSION,
            "documents": len(counts.lengths),
            "documents_with_terms": int(np.count_nonzero(counts.lengths)),
            "terms": terms,
            "postings": int(counts.offsets[-1]),
            "total_length": int(counts.lengths.sum(dtype=np.int64)),
            "overflows": overflows,
            "directory_entries": int(counts.directory_offsets[-1]),
        }
        (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        write_impacts(Postings.open(folder), bm25, folder / FOLDER)
    return {**record, "passes": len(ranges)}


class _Counts(NamedTuple):
    lengths: np.ndarray
    offsets: np.ndarray
    directory_offsets: np.ndarray


class _Collection:
    def __init__(self, corpora: Sequence[Sequence[WordShard]], term_of: np.ndarray, name: Path) -> None:
        self.shards = [shard for shards in corpora for shard in shards]
        self.term_of, self.name = term_of, name
        shard_of: list[np.ndarray] = [np.zeros(0, np.int32)]
        row_of: list[np.ndarray] = [np.zeros(0, np.int32)]
        first = 0
        for shards in corpora:
            ordered, rows = self._ordered(shards)
            shard_of.append(ordered + np.int32(first))
            row_of.append(rows)
            first += len(shards)
        self.shard_of, self.row_of = np.concatenate(shard_of), np.concatenate(row_of)
        if len(self.row_of) > MOST_DOCUMENTS:
            raise InputError(name, f"{len(self.row_of):,} documents are more than postings can number")

    def __len__(self) -> int:
        return len(self.row_of)

    def _ordered(self, shards: Sequence[WordShard]) -> tuple[np.ndarray, np.ndarray]:
        sizes = [len(shard.offsets) - 1 for shard in shards]
        if not sum(sizes):
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        parts = np.concatenate([np.asarray(shard.parts, np.int64) for shard in shards])
        positions = np.concatenate([np.asarray(shard.positions, np.int64) for shard in shards])
        order = np.lexsort((positions, parts))
        same = (np.diff(parts[order]) == 0) & (np.diff(positions[order]) == 0)
        if same.any():
            position = int(order[np.flatnonzero(same)[0]])
            raise InputError(
                self.name,
                f"two documents have the place (part {parts[position]}, position {positions[position]}) in one corpus",
                remedy="Give each shard of a corpus once.",
            )
        numbers = np.repeat(np.arange(len(shards), dtype=np.int32), sizes)
        rows = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
        return numbers[order], rows[order]

    def chunks(self, title: str) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield (number of the first document, words of some documents end to end, where each begins and ends)."""
        sizes = np.zeros(len(self), np.int64)
        for number, shard in enumerate(self.shards):
            in_shard = self.shard_of == number
            sizes[in_shard] = np.diff(shard.offsets)[self.row_of[in_shard]]
        ends = np.cumsum(sizes)
        cuts = [0]
        while cuts[-1] < len(self):
            before = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
            cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, before + WORDS_AT_ONCE, side="right"))))
        pairs = list(pairwise(cuts))
        for first, last in progress(
            pairs, title, "documents", len(self), size=lambda pair: pair[1] - pair[0]
        ):
            bounds = np.concatenate([[0], np.cumsum(sizes[first:last])])
            yield first, self._gather(first, last, bounds), bounds

    def _gather(self, first: int, last: int, bounds: np.ndarray) -> np.ndarray:
        words = np.empty(int(bounds[-1]), np.int32)
        shards, rows = self.shard_of[first:last], self.row_of[first:last]
        for number in np.unique(shards):
            in_shard = np.flatnonzero(shards == number)
            shard = self.shards[int(number)]
            _copy_documents(shard.words, shard.offsets, rows[in_shard], bounds[in_shard], words)
        if len(words) and not 0 <= words.min() <= words.max() < len(self.term_of):
            fault = f"a word store holds a word that is not among the {len(self.term_of):,} of the collection"
            raise IntegrityError(self.name, fault, remedy=MAKE_AGAIN)
        return words


@compiled
def _copy_documents(
    words: np.ndarray, offsets: np.ndarray, rows: np.ndarray, positions: np.ndarray, target: np.ndarray
) -> None:
    for number in range(len(rows)):
        position = positions[number]
        for at in range(offsets[rows[number]], offsets[rows[number] + 1]):
            target[position] = words[at]
            position += 1


def _count(collection: _Collection, terms: int) -> _Counts:
    lengths = np.zeros(len(collection), np.int32)
    held = np.zeros(terms, np.int64)
    seen = np.full(terms, -1, np.int32)
    for first, words, bounds in collection.chunks("count terms"):
        _count_terms(words, bounds, first, collection.term_of, seen, held, lengths)
    offsets, directory_offsets = np.zeros(terms + 1, np.int64), np.zeros(terms + 1, np.int64)
    np.cumsum(held, out=offsets[1:])
    _size_directories(held, len(lengths), directory_offsets)
    return _Counts(lengths, offsets, directory_offsets)


@compiled
def _count_terms(
    words: np.ndarray,
    bounds: np.ndarray,
    first: int,
    term_of: np.ndarray,
    seen: np.ndarray,
    held: np.ndarray,
    lengths: np.ndarray,
) -> None:
    for number in range(len(bounds) - 1):
        document, length = first + number, 0
        for at in range(bounds[number], bounds[number + 1]):
            term = term_of[words[at]]
            if term < 0:
                continue
            length += 1
            if seen[term] != document:
                seen[term] = document
                held[term] += 1
        lengths[document] = length


@compiled
def _size_directories(held: np.ndarray, documents: int, offsets: np.ndarray) -> None:
    for term in range(len(held)):
        offsets[term + 1] = offsets[term] + directory_entries(held[term], documents)


def _ranges(offsets: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms with at most `most` postings each, or of one term that has more."""
    start, terms = 0, len(offsets) - 1
    while start < terms:
        end = int(np.searchsorted(offsets, offsets[start] + most, side="right")) - 1
        end = min(max(end, start + 1), terms)
        yield start, end
        start = end


def _write_identifiers(collection: _Collection, folder: Path) -> None:
    """Write the documents' identifiers in order; InputError where one occurs twice."""
    pieces = [shard.document_ids for shard in collection.shards]
    chunks = [chunk for piece in pieces for chunk in getattr(piece, "chunks", [piece])]
    identifiers = pa.chunked_array(chunks, pa.string())
    firsts = np.cumsum([0, *(len(shard.offsets) - 1 for shard in collection.shards)])
    positions = firsts[collection.shard_of] + collection.row_of
    identifiers = identifiers.take(pa.array(positions))
    distinct = pc.count_distinct(identifiers).as_py()
    if distinct != len(identifiers):
        raise InputError(
            collection.name,
            f"{len(identifiers) - distinct:,} document identifiers of the collection occur twice",
            remedy="Identifiers must be unique in a collection; rename those of one corpus.",
        )
    table = pa.table({"document_id": identifiers}).combine_chunks()
    pq.write_table(table, folder / "identifiers.parquet", compression="zstd", row_group_size=1 << 20)


def _write_lists(
    collection: _Collection, counts: _Counts, ranges: list[tuple[int, int]], folder: Path
) -> int:
    postings, entries = int(counts.offsets[-1]), int(counts.directory_offsets[-1])
    documents = created(folder, "documents", postings, ARRAYS["documents"])
    frequencies = created(folder, "frequencies", postings, ARRAYS["frequencies"])
    directory = created(folder, "directory", entries, ARRAYS["directory"])
    positions: list[np.ndarray] = [np.zeros(0, np.int64)]
    overflowing: list[np.ndarray] = [np.zeros(0, np.int32)]
    for number, (start, end) in enumerate(ranges, 1):
        first, last = int(counts.offsets[start]), int(counts.offsets[end])
        range_documents, times = np.empty(last - first, np.int32), np.empty(last - first, np.int32)
        free = counts.offsets[start:end] - first
        lists = _Growing(np.full(end - start, -1, np.int32), free, range_documents, times)
        for document, words, bounds in collection.chunks(f"invert, pass {number} of {len(ranges)}"):
            _invert(words, bounds, document, collection.term_of, start, lists)
        documents[first:last] = range_documents
        frequencies[first:last] = np.minimum(times, OVERFLOW)
        over = np.flatnonzero(times >= OVERFLOW)
        positions.append(over + first)
        overflowing.append(times[over])
        begin, stop = counts.directory_offsets[[start, end]]
        _fill_directories(
            range_documents, counts.offsets[start : end + 1] - first, len(counts.lengths),
            counts.directory_offsets[start : end + 1] - begin, directory[begin:stop],
        )  # fmt: skip
    np.save(folder / "overflow_positions.npy", np.concatenate(positions))
    np.save(folder / "overflow_frequencies.npy", np.concatenate(overflowing))
    return int(sum(map(len, positions)))


class _Growing(NamedTuple):
    seen: np.ndarray  # int32[terms], the last document in which each was seen
    free: np.ndarray  # int64[terms], the position of each one's next posting
    # documents, times: int32[postings].
    documents: np.ndarray
    times: np.ndarray


@compiled
def _invert(
    words: np.ndarray, bounds: np.ndarray, first: int, term_of: np.ndarray, start: int, lists: _Growing
) -> None:
    seen, free, documents, times = lists.seen, lists.free, lists.documents, lists.times
    for number in range(len(bounds) - 1):
        document = first + number
        for at in range(bounds[number], bounds[number + 1]):
            term = term_of[words[at]] - start
            if term < 0 or term >= len(seen):
                continue
            if seen[term] != document:
                seen[term] = document
                documents[free[term]] = document
                times[free[term]] = 1
                free[term] += 1
            else:
                times[free[term] - 1] += 1


@compiled
def _fill_directories(
    documents: np.ndarray,
    offsets: np.ndarray,
    count: int,
    directory_offsets: np.ndarray,
    directory: np.ndarray,
) -> None:
    for term in range(len(offsets) - 1):
        entries = directory_offsets[term + 1] - directory_offsets[term]
        if entries == 0:
            continue
        shift = directory_shift(offsets[term + 1] - offsets[term], count)
        run = 0
        for position in range(offsets[term], offsets[term + 1]):
            while run <= documents[position] >> shift:
                directory[directory_offsets[term] + run] = position - offsets[term]
                run += 1
        while run < entries:
            directory[directory_offsets[term] + run] = offsets[term + 1] - offsets[term]
            run += 1
