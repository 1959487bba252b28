"""What axioms compute from: the collection, and batches of queries and their documents as flat arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import IntegrityError
from irpretrain.text.terms import NO_TERM, Terms, read_terms
from irpretrain.text.word_store import WordDocuments
from irpretrain.text.word_vectors import open_word_vectors
from irpretrain.text.words import WordKind, word_finder

if TYPE_CHECKING:
    from irpretrain.axioms.rank_engine.postings import Postings


@dataclass(frozen=True)
class AxiomCollection:
    """A collection as the axioms see it."""

    terms: Terms  # what words are which term
    # int64 [terms + 1], documents that hold each term; the last entry, 0, is that of the term -1, which the
    # collection lacks.
    frequencies: np.ndarray
    postings: Postings
    # float32 [words, dimensions], vectors of the words by number, zero where there is none.
    vectors: np.ndarray
    options: AxiomsConfig
    threads: int = 1  # of RANK; no value depends on it

    @property
    def documents(self) -> int:
        """N, documents of the collection, empty ones too."""
        return self.terms.collection_documents

    @property
    def frequency_total(self) -> int:
        """Σ df + |V|, what df + 1 is divided by (ARES, equation 4)."""
        return max(int(self.frequencies.sum()) + len(self.terms.names), 1)

    @property
    def mu(self) -> float:
        """Dirichlet prior of REP-QL; 1 if it is the mean length of documents that have no terms."""
        return self.terms.mean_document_length or 1.0


def open_collection(
    statistics: str | Path, postings: str | Path, vectors: str | Path, options: AxiomsConfig, threads: int = 1
) -> AxiomCollection:
    """Open a collection's files; IntegrityError if damaged, or of different collections or options."""
    terms, index = open_terms(statistics, postings, options)
    word_vectors = open_word_vectors(vectors, len(terms.word_numbers))
    # Document frequencies are counted in the postings: WORD_COUNTS is not exact where a stop word shares the stem
    # of another word (`irpretrain.text.terms`).
    frequencies = np.append(index.document_frequencies(), 0)
    return AxiomCollection(terms, frequencies, index, word_vectors, options, threads)


def open_terms(statistics: str | Path, postings: str | Path, options: AxiomsConfig) -> tuple[Terms, Postings]:
    """Open a collection's terms and postings, as RANK needs; IntegrityError if damaged or of other options."""
    from irpretrain.axioms.rank_engine.postings import Postings  # numba

    terms = read_terms(statistics, options.stop_list, options.stemming)
    index, remedy = Postings.open(postings), "Delete the postings and run the workflow again."
    if index.terms != len(terms.names) or len(index) != terms.collection_documents:
        fault = (
            f"these postings are of {index.terms:,} terms and {len(index):,} documents, the statistics of "
            f"{len(terms.names):,} and {terms.collection_documents:,}: collection, stop list or stemming differ"
        )
        raise IntegrityError(postings, fault, remedy=remedy)
    if index.bm25 != options.bm25:
        fault = f"these postings are for BM25 with {index.bm25}, the configuration has {options.bm25}"
        raise IntegrityError(postings, fault, remedy=remedy)
    return terms, index


# A batch of queries and their documents as flat arrays, which is what the axioms compute from.
#
# A query is a set: its terms are different ones, without stop words, in the order of their numbers; so are its words,
# the surface forms of the terms. The order of words in the text and their repetition change no value but RANK's,
# which counts repetitions as a search engine does.


# Number of a word, and of a term, that the collection lacks.
UNKNOWN = -1


class QueryTerms(NamedTuple):
    """The terms and words of queries; both may be UNKNOWN."""

    terms: np.ndarray  # int32, terms of all queries end to end
    offsets: np.ndarray  # int64 [queries + 1], query i has terms[offsets[i] : offsets[i + 1]]
    words: np.ndarray  # int32, words of all terms end to end; most terms have one
    # int64 [terms + 1], term j of the batch has words[word_offsets[j] : word_offsets[j + 1]].
    word_offsets: np.ndarray


class DocumentBatch(NamedTuple):
    words: np.ndarray  # int32, words of all documents end to end
    terms: np.ndarray  # int32, the term of each, NO_TERM for stop words
    offsets: np.ndarray  # int64 [documents + 1]
    lengths: np.ndarray  # int64 [documents], |D|: terms, each as often as it occurs


class TermPositions(NamedTuple):
    """Where the terms of queries are in their documents."""

    positions: np.ndarray  # int32, ascending for each term; the first word of a document has position 0
    offsets: np.ndarray  # int64 [terms + 1], term j of the batch is at positions[offsets[j] : offsets[j + 1]]


@dataclass(frozen=True)
class AxiomBatch:
    collection: AxiomCollection
    queries: QueryTerms
    # int32 and int64 [queries + 1], terms in text order with repetitions, and offsets.
    search_terms: tuple[np.ndarray, np.ndarray]
    documents: DocumentBatch  # documents, each once for consecutive queries that share it
    document_of_query: np.ndarray  # int64 [queries], which of `documents` each query has
    document_numbers: np.ndarray  # int64 [queries], number of each query's document in the postings

    def __len__(self) -> int:
        return len(self.document_of_query)

    @property
    def term_counts(self) -> np.ndarray:
        """Different terms of each query (int64)."""
        return np.diff(self.queries.offsets)

    @cached_property
    def term_positions(self) -> TermPositions:
        return _find_positions(self.queries, self.documents, self.document_of_query)

    @cached_property
    def occurrences(self) -> np.ndarray:
        """How often each query's document holds each of its terms (int64 [terms])."""
        return np.diff(self.term_positions.offsets)

    @property
    def is_present(self) -> np.ndarray:
        """Whether each query's document holds each of its terms (bool [terms])."""
        return self.occurrences > 0

    @cached_property
    def document_vectors(self) -> np.ndarray:
        """Sum of the vectors of each document's words without stop words (float64 [documents, dimensions])."""
        return _document_vectors(self.documents, self.collection.vectors)


class BatchMaker:
    """Makes batches of query texts and document rows."""

    def __init__(self, collection: AxiomCollection, documents: WordDocuments, word_kind: WordKind) -> None:
        self._collection, self._documents, self._kind = collection, documents, word_kind
        self._new_words: dict[str, int] = {}
        self._new_terms: dict[str, int] = {}

    def make(self, texts: Sequence[str], rows: np.ndarray, document_numbers: np.ndarray) -> AxiomBatch:
        """Return a batch; `rows` are the documents' rows in word stores, `document_numbers` those in the postings
        (int64)."""
        split_words = word_finder(self._kind)
        word_lists = [split_words(text) for text in texts]
        offsets = np.zeros(len(word_lists) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, word_lists), np.int64, len(word_lists)), out=offsets[1:])
        words, terms = self._number_words(list(chain.from_iterable(word_lists)))
        known_counts = len(self._collection.terms.word_numbers), len(self._collection.terms.names)
        is_new_document = np.ones(len(rows), bool)
        is_new_document[1:] = rows[1:] != rows[:-1]
        documents, document_of_query = self._gather(rows[is_new_document]), np.cumsum(is_new_document) - 1
        queries = _term_sets(words, terms, offsets, *known_counts)
        search_terms = _search_terms(terms, offsets, known_counts[1])
        return AxiomBatch(
            self._collection, queries, search_terms, documents, document_of_query, document_numbers
        )

    def _number_words(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of words and of their terms; numbers beyond the collection's for unknown ones."""
        terms = self._collection.terms
        word_numbers = terms.words(words)
        term_numbers = terms.terms(word_numbers)
        # An unknown word may still be a stop word, or have a stem that the collection knows.
        for position in np.flatnonzero(word_numbers < 0):
            word = words[position]
            if (name := terms.spelling(word)) is None:
                continue
            new_number = self._new_words.setdefault(word, len(self._new_words))
            word_numbers[position] = len(terms.word_numbers) + new_number
            term = terms.term_number(name)
            if term == NO_TERM:
                term = len(terms.names) + self._new_terms.setdefault(name, len(self._new_terms))
            term_numbers[position] = term
        return word_numbers, term_numbers

    def _gather(self, rows: np.ndarray) -> DocumentBatch:
        words, offsets = self._documents.gather(rows)
        terms = self._collection.terms.terms(words)
        return DocumentBatch(words, terms, offsets, sums_between(terms != NO_TERM, offsets))


def sums_between(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the sum of the values from each offset to the next (int64); of bools, how many are true."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])[offsets])


def _search_terms(
    terms: np.ndarray, offsets: np.ndarray, collection_terms: int
) -> tuple[np.ndarray, np.ndarray]:
    """Leave out stop words and terms that the collection lacks, which find nothing."""
    is_known = (terms != NO_TERM) & (terms < collection_terms)
    known_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_known)])
    return terms[is_known], known_before[offsets]


@compiled
def _term_sets(
    words: np.ndarray, terms: np.ndarray, offsets: np.ndarray, collection_words: int, collection_terms: int
) -> QueryTerms:
    query_count = len(offsets) - 1
    query_terms, query_words = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    term_offsets, word_offsets = np.zeros(query_count + 1, np.int64), np.zeros(len(words) + 1, np.int64)
    keys = np.empty(len(words), np.int64)
    term_count = word_count = 0
    for query in range(query_count):
        key_count = 0
        for position in range(offsets[query], offsets[query + 1]):
            if terms[position] >= 0:
                keys[key_count] = (np.int64(terms[position]) << 32) | np.int64(words[position])
                key_count += 1
        keys[:key_count].sort()
        last_term = -1
        for index in range(key_count):
            if index > 0 and keys[index] == keys[index - 1]:
                continue
            term, word = keys[index] >> 32, keys[index] & 0xFFFFFFFF
            if term != last_term:
                query_terms[term_count] = term if term < collection_terms else UNKNOWN
                term_count += 1
                last_term = term
            query_words[word_count] = word if word < collection_words else UNKNOWN
            word_count += 1
            word_offsets[term_count] = word_count
        term_offsets[query + 1] = term_count
    words_of_queries, word_ends = query_words[:word_count], word_offsets[: term_count + 1]
    return QueryTerms(query_terms[:term_count], term_offsets, words_of_queries, word_ends)


@compiled
def _find_positions(
    queries: QueryTerms, documents: DocumentBatch, document_of_query: np.ndarray
) -> TermPositions:
    offsets = np.zeros(len(queries.terms) + 1, np.int64)
    for query in range(len(document_of_query)):
        document = document_of_query[query]
        start, end = documents.offsets[document], documents.offsets[document + 1]
        for slot in range(queries.offsets[query], queries.offsets[query + 1]):
            term, occurrences = queries.terms[slot], 0
            if term != UNKNOWN:
                for position in range(start, end):
                    occurrences += documents.terms[position] == term
            offsets[slot + 1] = offsets[slot] + occurrences
    positions = np.empty(offsets[-1], np.int32)
    for query in range(len(document_of_query)):
        start = documents.offsets[document_of_query[query]]
        for slot in range(queries.offsets[query], queries.offsets[query + 1]):
            term, next_slot, position = queries.terms[slot], offsets[slot], start
            while next_slot < offsets[slot + 1]:
                if documents.terms[position] == term:
                    positions[next_slot] = position - start
                    next_slot += 1
                position += 1
    return TermPositions(positions, offsets)


@compiled
def _document_vectors(documents: DocumentBatch, vectors: np.ndarray) -> np.ndarray:
    document_count, dimensions = len(documents.lengths), vectors.shape[1]
    sums = np.zeros((document_count, dimensions))
    for document in range(document_count):
        for position in range(documents.offsets[document], documents.offsets[document + 1]):
            if documents.terms[position] != NO_TERM:
                word = documents.words[position]
                for column in range(dimensions):
                    sums[document, column] += vectors[word, column]
    return sums


# Rounding to a grid, so that values which are equal on paper are equal in the table.
#
# An axiom compares two numbers exactly. The same summands in another order differ in their last bit, and then
# rounding would decide. Multiples of 2⁻³² add up without rounding below 2²¹, so any order gives the same sum.


# Steps of the grid in 1: one step is 2.3·10⁻¹⁰.
GRID_STEPS = 2.0**32


@compiled
def to_grid(value: float) -> float:
    """Return the multiple of 2⁻³² that is next to a finite `value`."""
    return math.floor(value * GRID_STEPS + 0.5) / GRID_STEPS
