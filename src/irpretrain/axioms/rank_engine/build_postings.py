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
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.axioms.rank_engine.impacts import write_impacts
from irpretrain.axioms.rank_engine.postings import (
    MIN_DIRECTORY_POSTINGS,
    OVERFLOW,
    RECORD,
    VERSION,
    create_array,
    directory_shift,
)
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError
from irpretrain.foundation.progress import progress
from irpretrain.text.word_store import WordDocuments, WordStore

# Words of consecutive documents that are looked at together.
WORDS_AT_ONCE = 1 << 22
BYTES_PER_POSTING = 8

# Far above any corpus here; below it sums of scores are exact in doubles and document numbers leave room in int32.
MAX_DOCUMENTS = 2**28


def write_postings(
    corpora: Sequence[Sequence[WordStore]],  # the shards of each corpus
    # int32[words], the term of each word, -1 for a word that is left out (and not counted in
    # lengths).
    term_of: np.ndarray,
    term_count: int,  # number of terms; one that no document holds is allowed
    output: str | Path,  # a folder, see `irpretrain.axioms.rank_engine.postings`
    bm25: Bm25Config,  # what the bounds of scores are for
    # MB of postings under construction; further memory: 12 bytes per term, 4 per word of the
    # vocabulary, 24 per document, and some 100 MB.
    memory_mb: int = 2000,
) -> dict[str, Any]:
    """Write the postings of a collection, and the bounds of scores for one choice of BM25's parameters.

    Documents are numbered corpus after corpus, within a corpus by (part, position) over its shards, so the bytes depend
    neither on the number of shards nor on `memory_mb`.

    Returns:
        The record: documents, documents_with_terms, terms, postings, total_length, overflows, directory_entries,
        passes.

    Raises:
        InputError: there are too many documents.
        IntegrityError: two documents share an identifier, a word has no entry in `term_of`, or a term number is not
            below `term_count`.
    """
    if len(term_of) and not -1 <= term_of.min() <= term_of.max() < term_count:
        raise IntegrityError(output, f"a term number is outside -1 … {term_count - 1:,}", remedy=MAKE_AGAIN)
    collection = _Collection(corpora, np.asarray(term_of, np.int32), Path(output))
    with atomic_directory(output) as folder:
        lengths = np.zeros(len(collection.order), np.int32)
        document_frequencies = np.zeros(term_count, np.int64)
        last_document = np.full(term_count, -1, np.int32)
        for first_document, words, bounds in collection.chunks("count terms"):
            _count_terms(words, bounds, first_document, last_document, document_frequencies, lengths)
        offsets, directory_offsets = np.zeros(term_count + 1, np.int64), np.zeros(term_count + 1, np.int64)
        np.cumsum(document_frequencies, out=offsets[1:])
        _size_directories(document_frequencies, len(lengths), directory_offsets)
        np.save(folder / "lengths.npy", lengths)
        np.save(folder / "offsets.npy", offsets)
        np.save(folder / "directory_offsets.npy", directory_offsets)
        collection.write_identifiers(folder / "identifiers.parquet")
        ranges = list(_term_ranges(offsets, memory_mb * 2**20 // BYTES_PER_POSTING))
        record = {
            "version": VERSION,
            "documents": len(lengths),
            "documents_with_terms": int(np.count_nonzero(lengths)),
            "terms": term_count,
            "postings": int(offsets[-1]),
            "total_length": int(lengths.sum(dtype=np.int64)),
            "overflows": _write_lists(collection, offsets, directory_offsets, ranges, folder),
            "directory_entries": int(directory_offsets[-1]),
        }
        (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        write_impacts(folder, record, bm25)
    return {**record, "passes": len(ranges)}


class _Collection:
    """The documents of a collection by number.

    Attributes:
        order: int64[documents], the row of each in the word stores.
    """

    def __init__(self, corpora: Sequence[Sequence[WordStore]], term_of: np.ndarray, output: Path) -> None:
        self._documents = WordDocuments([store for corpus in corpora for store in corpus])
        self._term_of, self._output = term_of, output
        if len(self._documents) > MAX_DOCUMENTS:
            raise InputError(output, f"{len(self._documents):,} documents are more than postings can number")
        self.order = self._documents.in_order([len(corpus) for corpus in corpora])

    def chunks(self, title: str) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield (number of the first document, terms of some documents end to end, where each begins and ends)."""
        ends, document_count = np.cumsum(self._documents.lengths[self.order]), len(self.order)
        chunk_ends = np.arange(WORDS_AT_ONCE, ends[-1] if document_count else 0, WORDS_AT_ONCE)
        ranges = list(pairwise(np.unique([0, *np.searchsorted(ends, chunk_ends), document_count]).tolist()))
        parts = progress(ranges, title, "documents", document_count, size=lambda pair: pair[1] - pair[0])
        for start, end in parts:
            words, bounds = self._documents.gather(self.order[start:end])
            if len(words) and not 0 <= words.min() <= words.max() < len(self._term_of):
                fault = f"a word store holds a word that is not among the {len(self._term_of):,} of the collection"
                raise IntegrityError(self._output, fault, remedy=MAKE_AGAIN)
            yield start, self._term_of[words], bounds

    def write_identifiers(self, path: Path) -> None:
        identifiers = self._documents.document_ids.take(pa.array(self.order))
        table = pa.table({"document_id": identifiers}).combine_chunks()
        pq.write_table(table, path, compression="zstd", row_group_size=1 << 20)


@compiled
def _count_terms(
    terms: np.ndarray,
    bounds: np.ndarray,
    first_document: int,
    last_document: np.ndarray,
    document_frequencies: np.ndarray,
    lengths: np.ndarray,
) -> None:
    for index in range(len(bounds) - 1):
        document, length = first_document + index, 0
        for term in terms[bounds[index] : bounds[index + 1]]:
            if term < 0:
                continue
            length += 1
            if last_document[term] != document:
                last_document[term] = document
                document_frequencies[term] += 1
        lengths[document] = length


@compiled
def _size_directories(document_frequencies: np.ndarray, document_count: int, offsets: np.ndarray) -> None:
    for term in range(len(document_frequencies)):
        offsets[term + 1] = offsets[term]
        if document_frequencies[term] >= MIN_DIRECTORY_POSTINGS:
            shift = directory_shift(document_frequencies[term], document_count)
            offsets[term + 1] += ((document_count - 1) >> shift) + 2


def _term_ranges(offsets: np.ndarray, max_postings: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms with at most `max_postings` postings each, or of one term that has more."""
    start, term_count = 0, len(offsets) - 1
    while start < term_count:
        end = int(np.searchsorted(offsets, offsets[start] + max_postings, side="right")) - 1
        end = min(max(end, start + 1), term_count)
        yield start, end
        start = end


def _write_lists(
    collection: _Collection,
    offsets: np.ndarray,
    directory_offsets: np.ndarray,
    ranges: list[tuple[int, int]],
    folder: Path,
) -> int:
    """Write the postings, range by range, and their directories; return the number of overflows."""
    documents = create_array(folder, "documents", int(offsets[-1]))
    frequencies = create_array(folder, "frequencies", int(offsets[-1]))
    directory = create_array(folder, "directory", int(directory_offsets[-1]))
    positions: list[np.ndarray] = [np.zeros(0, np.int64)]
    overflow_frequencies: list[np.ndarray] = [np.zeros(0, np.int32)]
    for pass_number, (start, end) in enumerate(ranges, 1):
        first_posting, end_posting = int(offsets[start]), int(offsets[end])
        lists = _Partial(
            np.full(end - start, -1, np.int32),
            offsets[start:end] - first_posting,
            np.empty(end_posting - first_posting, np.int32),
            np.empty(end_posting - first_posting, np.int32),
        )
        for document, terms, bounds in collection.chunks(f"invert, pass {pass_number} of {len(ranges)}"):
            _invert(terms, bounds, document, start, lists)
        documents[first_posting:end_posting] = lists.documents
        frequencies[first_posting:end_posting] = np.minimum(lists.frequencies, OVERFLOW)
        overflow_rows = np.flatnonzero(lists.frequencies >= OVERFLOW)
        positions.append(overflow_rows + first_posting)
        overflow_frequencies.append(lists.frequencies[overflow_rows])
        _fill_directories(
            lists.documents, offsets[start : end + 1] - first_posting, len(collection.order),
            directory_offsets[start : end + 1], directory,
        )  # fmt: skip
    np.save(folder / "overflow_positions.npy", np.concatenate(positions))
    np.save(folder / "overflow_frequencies.npy", np.concatenate(overflow_frequencies))
    return int(sum(map(len, positions)))


class _Partial(NamedTuple):
    last_document: np.ndarray  # int32[terms], the last document in which each was seen
    next_slots: np.ndarray  # int64[terms], the position of each one's next posting
    # documents, frequencies: int32[postings].
    documents: np.ndarray
    frequencies: np.ndarray


@compiled
def _invert(terms: np.ndarray, bounds: np.ndarray, first_document: int, start: int, lists: _Partial) -> None:
    last_document, next_slots, documents, frequencies = lists
    for index in range(len(bounds) - 1):
        document = first_document + index
        for position in range(bounds[index], bounds[index + 1]):
            term = terms[position] - start
            if term < 0 or term >= len(last_document):
                continue
            if last_document[term] != document:
                last_document[term] = document
                documents[next_slots[term]] = document
                frequencies[next_slots[term]] = 1
                next_slots[term] += 1
            else:
                frequencies[next_slots[term] - 1] += 1


@compiled
def _fill_directories(
    documents: np.ndarray,
    offsets: np.ndarray,
    document_count: int,
    directory_offsets: np.ndarray,
    directory: np.ndarray,
) -> None:
    for term in range(len(offsets) - 1):
        first_entry, end_entry = directory_offsets[term], directory_offsets[term + 1]
        if end_entry > first_entry:
            documents_of_term = documents[offsets[term] : offsets[term + 1]]
            shift = directory_shift(len(documents_of_term), document_count)
            run_starts = np.arange(end_entry - first_entry) << shift
            directory[first_entry:end_entry] = np.searchsorted(documents_of_term, run_starts)
