"""A Lucene index that is open in this process, to be searched query by query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.retrieval import LUCENE_WORDS, RankingModel, RetrievalConfig
from irpretrain.evaluation.runs import Ranking
from irpretrain.retrieval.analysis import Analyser, query_texts
from irpretrain.retrieval.index_record import read_record
from irpretrain.retrieval.java import java_class

FIELD = "contents"
"""Lucene's field of a document's terms."""
IDENTIFIER = "id"
"""Lucene's field of a document's identifier."""
MOST_TERMS = 1 << 20
"""Maximum number of different terms in a query. Lucene's own maximum is 1,024; some legal cases have more."""
SIMILARITIES: dict[RankingModel, str] = {
    "bm25": "BM25Similarity",
    "ql": "LMDirichletSimilarity",
    "ql-jm": "LMJelinekMercerSimilarity",
}
"""Lucene's class of each ranking model; it takes the model's parameters in their order."""


class OpenedIndex:
    """An index with a ranking model.

    Args:
        options: the model's parameters; stemmer and stop words as in the index.

    Raises:
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
        SetupError: Java, the jar or pyjnius is missing.
    """

    def __init__(self, path: str | Path, model: RankingModel, options: RetrievalConfig) -> None:
        self.record = read_record(path, options)
        self._analyser = Analyser.of(options, self.record.get("query_words", LUCENE_WORDS))
        self.reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(path))
        self.searcher = java_class("org.apache.lucene.search.IndexSearcher")(self.reader)
        similarity = java_class(f"org.apache.lucene.search.similarities.{SIMILARITIES[model]}")
        self.searcher.setSimilarity(similarity(*options.parameters_of(model).values()))
        self.searcher.setQueryCache(None)
        java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(MOST_TERMS)

    def bags_of_words(self, texts: Sequence[str]) -> list[Any]:
        """Return Lucene's query of each text; None for a text without a term."""
        return [
            _bag_of_words(terms) if terms else None
            for terms in self._analyser.terms(query_texts(texts, self.record))
        ]

    def best(self, bag: Any, depth: int) -> Ranking:
        """Return the best documents of a query, ties by identifier; none for a query without a term (None)."""
        if bag is None:
            return []
        order = java_class("io.anserini.search.SearchCollection").BREAK_SCORE_TIES_BY_DOCID
        return self.ranking(self.searcher.search(bag, depth, order, True))

    def ranking(self, hits: Any) -> Ranking:
        """Return identifiers and single-precision scores of Lucene's hits."""
        stored = self.searcher.storedFields()
        return [
            (stored.document(hit.doc).get(IDENTIFIER), float(str(np.float32(hit.score))))
            for hit in hits.scoreDocs
        ]


def _bag_of_words(terms: list[str]) -> Any:
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    occurs = java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
    for term in dict.fromkeys(terms):
        query = java_class("org.apache.lucene.search.TermQuery")(
            java_class("org.apache.lucene.index.Term")(FIELD, term)
        )
        boosted = java_class("org.apache.lucene.search.BoostQuery")(query, float(terms.count(term)))
        builder.add(boosted, occurs)
    return builder.build()
