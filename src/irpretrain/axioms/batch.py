"""A batch of queries and their documents as flat arrays, which is what the axioms compute from.

A query is a set: its terms are different ones, without stop words, in the order of their numbers; so are its words,
the surface forms of the terms. The order of words in the text and their repetition change no value but RANK's, which
counts repetitions as a search engine does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from irpretrain.axioms.collection import Collection
from irpretrain.compiled import compiled
from irpretrain.text.terms import NO_TERM
from irpretrain.text.word_documents import WordDocuments
from irpretrain.text.words import WordKind, word_finder

UNKNOWN = -1
"""Number of a word, and of a term, that the collection lacks."""


class QueryTerms(NamedTuple):
    """The terms and words of queries; both may be UNKNOWN.

    Attributes:
        terms: int32, terms of all queries end to end.
        offsets: int64 [queries + 1], query i has terms[offsets[i] : offsets[i + 1]].
        words: int32, words of all terms end to end; most terms have one.
        word_offsets: int64 [terms + 1], term j of the batch has words[word_offsets[j] : word_offsets[j + 1]].
    """

    terms: np.ndarray
    offsets: np.ndarray
    words: np.ndarray
    word_offsets: np.ndarray


class Documents(NamedTuple):
    """The words of documents.

    Attributes:
        words: int32, words of all documents end to end.
        terms: int32, the term of each, NO_TERM for stop words.
        offsets: int64 [documents + 1].
        lengths: int64 [documents], |D|: terms, each as often as it occurs.
    """

    words: np.ndarray
    terms: np.ndarray
    offsets: np.ndarray
    lengths: np.ndarray


class Places(NamedTuple):
    """Where the terms of queries are in their documents.

    Attributes:
        positions: int32, ascending for each term; the first word of a document has position 0.
        offsets: int64 [terms + 1], term j of the batch is at positions[offsets[j] : offsets[j + 1]].
    """

    positions: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True)
class Batch:
    """Some queries, each with a document.

    Attributes:
        searched: int32 and int64 [queries + 1], terms in text order with repetitions, and offsets.
        documents: documents, each once for consecutive queries that share it.
        document: int64 [queries], which of `documents` each query has.
        numbers: int64 [queries], number of each query's document in the postings.
    """

    collection: Collection
    queries: QueryTerms
    searched: tuple[np.ndarray, np.ndarray]
    documents: Documents
    document: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.document)

    @property
    def sizes(self) -> np.ndarray:
        """Different terms of each query (int64)."""
        return np.diff(self.queries.offsets)

    @cached_property
    def places(self) -> Places:
        return _find_places(self.queries, self.documents, self.document)

    @cached_property
    def document_vectors(self) -> np.ndarray:
        """Sum of the vectors of each document's words without stop words (float64 [documents, dimensions])."""
        return _document_vectors(self.documents, self.collection.vectors)


class BatchMaker:
    """Makes batches from the texts of queries and the rows of their documents.

    With `held_alone`, a query has only the terms that its document holds.
    """

    def __init__(
        self, collection: Collection, documents: WordDocuments, kind: WordKind, held_alone: bool = False
    ) -> None:
        self._collection, self._documents, self._kind = collection, documents, kind
        self._held_alone = held_alone
        self._new_words: dict[str, int] = {}
        self._new_terms: dict[str, int] = {}

    def make(self, texts: Sequence[str], rows: np.ndarray, numbers: np.ndarray) -> Batch:
        """Return a batch.

        Args:
            rows: int64, row of each query's document in the word stores.
            numbers: int64, its number in the postings.
        """
        find = word_finder(self._kind)
        word_lists = [find(text) for text in texts]
        offsets = np.zeros(len(word_lists) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, word_lists), np.int64, len(word_lists)), out=offsets[1:])
        words, terms = self._number(list(chain.from_iterable(word_lists)))
        sizes = len(self._collection.terms.numbers), len(self._collection.terms.names)
        opens = np.ones(len(rows), bool)
        opens[1:] = rows[1:] != rows[:-1]
        documents, document = self._gather(rows[opens]), np.cumsum(opens) - 1
        if self._held_alone:
            _drop_missing(terms, offsets, documents, document)
        return Batch(
            self._collection,
            _as_sets(words, terms, offsets, *sizes),
            _searched(terms, offsets, sizes[1]),
            documents,
            document,
            numbers,
        )

    def _number(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of words and of their terms; those that the collection lacks get numbers beyond its own.

        A word that the collection lacks may still be a stop word, or have a stem that the collection knows.
        """
        terms = self._collection.terms
        numbers = terms.words(words)
        term_numbers = terms.terms(numbers)
        for place in np.flatnonzero(numbers < 0):
            word = words[place]
            if (name := terms.spelling(word)) is None:
                continue
            numbers[place] = len(terms.numbers) + self._new_words.setdefault(word, len(self._new_words))
            term = terms.named(name)
            if term == NO_TERM:
                term = len(terms.names) + self._new_terms.setdefault(name, len(self._new_terms))
            term_numbers[place] = term
        return numbers, term_numbers

    def _gather(self, rows: np.ndarray) -> Documents:
        words, offsets = self._documents.gather(rows)
        terms = self._collection.terms.terms(words)
        counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(terms != NO_TERM)])
        return Documents(words, terms, offsets, np.diff(counted[offsets]))


def _searched(
    terms: np.ndarray, offsets: np.ndarray, terms_of_collection: int
) -> tuple[np.ndarray, np.ndarray]:
    """Leave out stop words and terms that the collection lacks, which find nothing."""
    kept = (terms != NO_TERM) & (terms < terms_of_collection)
    counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return terms[kept], counted[offsets]


@compiled
def _drop_missing(terms: np.ndarray, offsets: np.ndarray, documents: Documents, document: np.ndarray) -> None:
    """Make NO_TERM of the terms of queries that their documents lack."""
    for query in range(len(document)):
        first, last = documents.offsets[document[query]], documents.offsets[document[query] + 1]
        for place in range(offsets[query], offsets[query + 1]):
            held = False
            for word in range(first, last):
                held |= documents.terms[word] == terms[place]
            if not held:
                terms[place] = NO_TERM


@compiled
def _as_sets(
    words: np.ndarray, terms: np.ndarray, offsets: np.ndarray, known_words: int, known_terms: int
) -> QueryTerms:
    """Return the different terms of each query in order, and the different words of each of them."""
    count = len(offsets) - 1
    found_terms, found_words = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    ends, word_offsets = np.zeros(count + 1, np.int64), np.zeros(len(words) + 1, np.int64)
    keys = np.empty(len(words), np.int64)
    term_count = word_count = 0
    for query in range(count):
        size = 0
        for place in range(offsets[query], offsets[query + 1]):
            if terms[place] >= 0:
                keys[size] = (np.int64(terms[place]) << 32) | np.int64(words[place])
                size += 1
        keys[:size].sort()
        last_term = -1
        for index in range(size):
            if index > 0 and keys[index] == keys[index - 1]:
                continue
            term, word = keys[index] >> 32, keys[index] & 0xFFFFFFFF
            if term != last_term:
                found_terms[term_count] = term if term < known_terms else UNKNOWN
                term_count += 1
                last_term = term
            found_words[word_count] = word if word < known_words else UNKNOWN
            word_count += 1
            word_offsets[term_count] = word_count
        ends[query + 1] = term_count
    return QueryTerms(
        found_terms[:term_count], ends, found_words[:word_count], word_offsets[: term_count + 1]
    )


@compiled
def terms_held(places: Places, first: int, last: int) -> int:
    """Return how many of the terms first ... last - 1 of a batch their document holds."""
    held = 0
    for slot in range(first, last):
        held += places.offsets[slot + 1] > places.offsets[slot]
    return held


@compiled
def _find_places(queries: QueryTerms, documents: Documents, document: np.ndarray) -> Places:
    """Find the terms of queries in their documents: one look at every word for each term."""
    offsets = np.zeros(len(queries.terms) + 1, np.int64)
    for query in range(len(document)):
        first, last = documents.offsets[document[query]], documents.offsets[document[query] + 1]
        for slot in range(queries.offsets[query], queries.offsets[query + 1]):
            term, held = queries.terms[slot], 0
            if term != UNKNOWN:
                for place in range(first, last):
                    held += documents.terms[place] == term
            offsets[slot + 1] = offsets[slot] + held
    positions = np.empty(offsets[-1], np.int32)
    for query in range(len(document)):
        first = documents.offsets[document[query]]
        for slot in range(queries.offsets[query], queries.offsets[query + 1]):
            term, at, place = queries.terms[slot], offsets[slot], first
            while at < offsets[slot + 1]:
                if documents.terms[place] == term:
                    positions[at] = place - first
                    at += 1
                place += 1
    return Places(positions, offsets)


@compiled
def _document_vectors(documents: Documents, vectors: np.ndarray) -> np.ndarray:
    count, size = len(documents.lengths), vectors.shape[1]
    sums = np.zeros((count, size))
    for document in range(count):
        for place in range(documents.offsets[document], documents.offsets[document + 1]):
            if documents.terms[place] != NO_TERM:
                word = documents.words[place]
                for column in range(size):
                    sums[document, column] += vectors[word, column]
    return sums
