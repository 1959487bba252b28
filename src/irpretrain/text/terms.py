"""Terms: what counts as one word once stop words are left out and stems taken.

Words have numbers, the rows of a collection's WORD_COUNTS table; terms have numbers of their own, in code-point order
of the terms. A map leads from one to the other, so nothing that is computed from a word store ever looks at a string.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from irpretrain.contracts import WORD_COUNTS
from irpretrain.text.languages import ENGLISH
from irpretrain.text.statistics import read_totals
from irpretrain.text.stemming import stems_of
from irpretrain.text.stop_words import StopList, load_stop_words

Stemming = Literal["none", "porter"]

NO_TERM = -1
"""Term of a stop word, and of a word that the collection lacks."""


@dataclass(frozen=True)
class Terms:
    """The terms of a collection.

    Attributes:
        names: the terms in code-point order: words, or stems.
        term_of: int32 [words + 1], term of each word of WORD_COUNTS, NO_TERM for stop words; the last entry is NO_TERM
            too, so that the number -1 of an unknown word has none.
        counts: int64 [terms], occurrences in the collection.
        documents: int64 [terms], documents that hold the term.
        collection_documents: documents of the collection, empty ones too.
        numbers: word → its number in WORD_COUNTS.
        stop_words: words that are no terms.
        stemming: whether terms are stems.
        language: of the words.
    """

    names: list[str]
    term_of: np.ndarray
    counts: np.ndarray
    documents: np.ndarray
    collection_documents: int
    numbers: dict[str, int] = field(repr=False)
    stop_words: frozenset[str] = field(repr=False)
    stemming: Stemming
    language: str = ENGLISH

    @property
    def mean_document_length(self) -> float:
        """Occurrences of terms a document."""
        return float(self.counts.sum()) / max(self.collection_documents, 1)

    def words(self, words: list[str]) -> np.ndarray:
        """Return the numbers of words (int32), -1 for those that the collection lacks."""
        return np.fromiter((self.numbers.get(word, -1) for word in words), np.int32, len(words))

    def terms(self, words: np.ndarray) -> np.ndarray:
        """Return the terms of numbers of words (int32), NO_TERM for stop words and unknown ones."""
        return self.term_of[words]

    def spelling(self, word: str) -> str | None:
        """Return the term of a word as it is spelt, whether the collection has it or not; None for a stop word."""
        if word in self.stop_words:
            return None
        return stems_of([word], self.language)[0] if self.stemming == "porter" else word

    def named(self, name: str) -> int:
        """Return the number of the term of this name, NO_TERM where the collection lacks it."""
        place = bisect_left(self.names, name)
        return place if place < len(self.names) and self.names[place] == name else NO_TERM

    def of_text(self, words: list[str]) -> np.ndarray:
        """Return the terms of words (int32), NO_TERM for stop words and terms that the collection lacks.

        The collection may lack a word and know its stem from another word.
        """
        terms = self.terms(self.words(words))
        for place in np.flatnonzero(terms == NO_TERM):
            name = self.spelling(words[place])
            if name is not None:
                terms[place] = self.named(name)
        return terms


def read_terms(statistics: str | Path, stop_list: StopList, stemming: Stemming) -> Terms:
    """Read the terms of a collection from its merged WORD_COUNTS table.

    A stem is a stop word only through its words: those that the stop list names are left out before stems are taken. Of
    a stem, `documents` is exact where none of its words is a stop word; otherwise the documents in which the first
    word of the stem is a stop word are missing.
    """
    table, totals = WORD_COUNTS.read(statistics), read_totals(statistics)
    words: list[str] = table["word"].to_pylist()
    stop = load_stop_words(stop_list, language_name=totals.language)
    kept = np.array([word not in stop for word in words], bool)
    spelt = stems_of(words, totals.language) if stemming == "porter" else words
    names = sorted({spelt[row] for row in np.flatnonzero(kept)})
    places = {name: number for number, name in enumerate(names)}
    term_numbers = [places[name] if keep else NO_TERM for name, keep in zip(spelt, kept, strict=True)]
    term_of = np.array([*term_numbers, NO_TERM], np.int32)
    documents = table["documents" if stemming == "none" else "stem_documents"].to_numpy()
    return Terms(
        names,
        term_of,
        _sums(term_of[:-1], table["count"].to_numpy(), len(names)),
        _sums(term_of[:-1], documents, len(names)),
        totals.documents,
        {word: number for number, word in enumerate(words)},
        stop,
        stemming,
        totals.language,
    )


def _sums(term_of: np.ndarray, values: np.ndarray, terms: int) -> np.ndarray:
    """Return sums of the values of each term's words."""
    sums = np.zeros(terms, np.int64)
    is_term = term_of != NO_TERM
    np.add.at(sums, term_of[is_term], values[is_term])
    return sums
