"""What the axioms need to know of the collection: terms, document frequencies, postings, word vectors, options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.errors import IntegrityError
from irpretrain.text.terms import Terms, read_terms
from irpretrain.text.word_vectors import WordVectors

if TYPE_CHECKING:
    from irpretrain.rank_engine.postings import Postings


@dataclass(frozen=True)
class Collection:
    """A collection as the axioms see it.

    Attributes:
        terms: what words are which term.
        frequencies: int64 [terms + 1], documents that hold each term; the last entry, 0, is that of the term -1, which
            the collection lacks.
        vectors: float32 [words, dimensions], vectors of the words by number, zero where there is none.
        threads: of RANK; no value depends on it.
    """

    terms: Terms
    frequencies: np.ndarray
    postings: Postings
    vectors: np.ndarray
    options: AxiomsConfig
    threads: int = 1

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
        """Dirichlet prior of REP-QL; 1 where it is the mean length of documents that have no terms."""
        if self.options.ql_mu == "mean-document-length":
            return self.terms.mean_document_length or 1.0
        return self.options.ql_mu


def open_collection(
    statistics: str | Path, postings: str | Path, vectors: str | Path, options: AxiomsConfig, threads: int = 1
) -> Collection:
    """Open what lies on disk of a collection.

    Document frequencies are counted in the postings, because WORD_COUNTS does not have them exactly where stems are
    taken and a stop word shares the stem of another word (`irpretrain.text.terms`).

    Raises:
        IntegrityError: a part is damaged, or the parts are not of the same collection and options.
    """
    terms, lists = open_terms(statistics, postings, options)
    rows = WordVectors.open(vectors, words=len(terms.numbers)).rows
    return Collection(terms, np.append(lists.document_frequencies(), 0), lists, rows, options, threads)


def open_terms(statistics: str | Path, postings: str | Path, options: AxiomsConfig) -> tuple[Terms, Postings]:
    """Open a collection's terms and postings, which is what RANK needs.

    Raises:
        IntegrityError: the postings are damaged, or not of the same collection and options.
    """
    from irpretrain.rank_engine.postings import Postings  # numba

    terms = read_terms(statistics, options.stop_list, options.stemming)
    lists = Postings.open(postings)
    if lists.terms != len(terms.names) or len(lists) != terms.collection_documents:
        raise IntegrityError(
            postings,
            f"these postings are of {lists.terms:,} terms and {len(lists):,} documents, the statistics of "
            f"{len(terms.names):,} and {terms.collection_documents:,}: collection, stop list or stemming differ",
            remedy="Delete the postings and run the workflow again.",
        )
    return terms, lists
