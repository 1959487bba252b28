"""Terms: words without stop words, stemmed. Numbers only: nothing that reads a word store looks at a string.

Words have numbers, the rows of a collection's WORD_COUNTS table; terms have numbers of their own, in code-point order.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.text.languages import ENGLISH
from irpretrain.text.statistics import read_totals
from irpretrain.text.stop_words import StopList, load_stop_words, stems_of

Stemming = Literal["none", "porter"]

# Term of a stop word, and of a word that the collection lacks.
NO_TERM = -1


@dataclass(frozen=True)
class Terms:
    names: list[str]  # the terms in code-point order: words, or stems
    # int32 [words + 1], term of each word of WORD_COUNTS, NO_TERM for stop words; the last entry is NO_TERM
    # too, so that the number -1 of an unknown word has none.
    term_of: np.ndarray
    counts: np.ndarray  # int64 [terms], occurrences in the collection
    documents: np.ndarray  # int64 [terms], documents that hold the term
    collection_documents: int  # documents of the collection, empty ones too
    word_numbers: dict[str, int] = field(repr=False)  # word → its number in WORD_COUNTS
    stop_words: frozenset[str] = field(repr=False)  # words that are no terms
    stemming: Stemming  # whether terms are stems
    language: str = ENGLISH  # of the words

    @property
    def mean_document_length(self) -> float:
        """Occurrences of terms a document."""
        return float(self.counts.sum()) / max(self.collection_documents, 1)

    def words(self, words: list[str]) -> np.ndarray:
        """Return the numbers of words (int32), -1 for those that the collection lacks."""
        return np.fromiter((self.word_numbers.get(word, -1) for word in words), np.int32, len(words))

    def terms(self, words: np.ndarray) -> np.ndarray:
        """Return the terms of numbers of words (int32), NO_TERM for stop words and unknown ones."""
        return self.term_of[words]

    def spelling(self, word: str) -> str | None:
        """Return the term of a word as it is spelt, whether the collection has it or not; None for a stop word."""
        if word in self.stop_words:
            return None
        return stems_of([word], self.language)[0] if self.stemming == "porter" else word

    def term_number(self, name: str) -> int:
        """Return the number of the term of this name, NO_TERM if the collection lacks it."""
        position = bisect_left(self.names, name)
        return position if position < len(self.names) and self.names[position] == name else NO_TERM

    def of_text(self, words: list[str]) -> np.ndarray:
        """Return the terms of words (int32), NO_TERM for stop words and terms that the collection lacks."""
        # By stems: the collection may lack a word and know its stem from another word.
        names = map(self.spelling, words)
        return np.array([NO_TERM if name is None else self.term_number(name) for name in names], np.int32)


def read_terms(statistics: str | Path, stop_list: StopList, stemming: Stemming) -> Terms:
    """Read the terms of a collection from its merged WORD_COUNTS table. Stop words are removed before stems are taken.

    `documents` of a stem is exact if none of its words is a stop word; otherwise the documents in which the first word
    of the stem is a stop word are missing.
    """
    table, totals = WORD_COUNTS.read(statistics), read_totals(statistics)
    words: list[str] = table["word"].to_pylist()
    stop_words = load_stop_words(stop_list, language_name=totals.language)
    is_term = np.array([word not in stop_words for word in words], bool)
    spellings = stems_of(words, totals.language) if stemming == "porter" else words
    names = sorted({spellings[row] for row in np.flatnonzero(is_term)})
    number_of = {name: term_number for term_number, name in enumerate(names)}
    term_numbers = [
        number_of[name] if has_term else NO_TERM for name, has_term in zip(spellings, is_term, strict=True)
    ]
    term_of = np.array([*term_numbers, NO_TERM], np.int32)
    documents = table["documents" if stemming == "none" else "stem_documents"].to_numpy()
    return Terms(
        names,
        term_of,
        _sum_by_term(term_of[:-1], table["count"].to_numpy(), len(names)),
        _sum_by_term(term_of[:-1], documents, len(names)),
        totals.documents,
        {word: word_number for word_number, word in enumerate(words)},
        stop_words,
        stemming,
        totals.language,
    )


def _sum_by_term(term_of: np.ndarray, values: np.ndarray, term_count: int) -> np.ndarray:
    sums = np.zeros(term_count, np.int64)
    is_term = term_of != NO_TERM
    np.add.at(sums, term_of[is_term], values[is_term])
    return sums
