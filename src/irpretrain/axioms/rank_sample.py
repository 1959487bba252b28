"""How high pseudo-queries rank their documents, from a sample of a collection's documents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.axioms.collection import open_terms
from irpretrain.axioms.rank_intervals import LAST_RANKS
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.errors import InputError
from irpretrain.objectives.ares.pseudo_queries import PseudoQuerySampler
from irpretrain.randomness import generator
from irpretrain.rank_engine import Bm25, document_ranks
from irpretrain.text.word_documents import WordDocuments

STAGE = "rank-sample"
"""Name of the random stream that draws the documents: (seed, "rank-sample")."""


class RankSample:
    """Documents drawn at random, with the postings of the whole collection, in which each is ranked.

    Attributes:
        numbers: int64, the documents' numbers in the postings, ascending. They depend on the seed and the collection,
            not on its shards; a larger sample contains a smaller one.
        document_ids: their identifiers.
    """

    def __init__(
        self,
        words: Sequence[str | Path],
        statistics: str | Path,
        postings: str | Path,
        options: AxiomsConfig,
        documents: int,
        seed: int,
        threads: int = 1,
    ) -> None:
        """Draw the documents, from those that have a term, and read their words.

        Args:
            words: the word stores of all shards.
            statistics: merged WORD_COUNTS of the collection, which the stores' numbers refer to.
            postings: the collection's postings, made with the stop list and stemming of `options`.
            documents: how many are drawn at most.
            threads: of RANK; no rank depends on them.

        Raises:
            InputError: no document has a term, or the stores lack a document.
            IntegrityError: the inputs are damaged, or not of the same collection and options.
        """
        self._options, self._threads = options, threads
        self._terms, self._postings = open_terms(statistics, postings, options)
        filled = np.flatnonzero(self._postings.lists.lengths)
        if not len(filled):
            raise InputError(
                postings,
                f"none of the {len(self._postings):,} documents has a word outside the stop list, so none has a rank",
                remedy="Give the collection more text, or pseudo_queries.temperature a number.",
            )
        self.numbers = np.sort(generator(seed, STAGE).permutation(filled)[:documents])
        self.document_ids: pa.ChunkedArray = self._postings.document_ids.take(pa.array(self.numbers))
        stores = WordDocuments.open(words, len(self._terms.numbers))
        self._words, self._offsets = stores.gather(stores.rows(self.document_ids))

    def ranks(self, sampler: PseudoQuerySampler) -> np.ndarray:
        """Return the ranks (int32) of the documents under the queries that the sampler draws of them.

        Returns:
            A rank from 1 on for each query, document after document; 0 where it is beyond the last interval's end or
            the document holds no term of the query. Documents without a word of the sampler's vocabulary have none.
        """
        queries = sampler.draw(self._words, self._offsets, self.document_ids)
        terms = self._terms.terms(sampler.rows[queries.words])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(queries.sizes)])
        bm25 = self._options.bm25
        return document_ranks(
            self._postings,
            self.numbers[queries.document],
            terms,
            offsets,
            Bm25(bm25.k1, bm25.b, self._options.rank_lengths),
            depth=LAST_RANKS[-1],
            threads=self._threads,
        )
