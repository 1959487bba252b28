"""What an index costs: its size on disk, its postings, and the time of a query."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.atomic import write_text
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.contracts import QUERIES
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.index_table import write_index_table
from irpretrain.retrieval.jvm import java_class
from irpretrain.retrieval.lucene import query_texts, read_record

MOST_QUERIES = 200
"""Queries that are timed."""
ROUNDS = 5
"""Times that each is searched; its fastest counts, as other work on the machine only ever adds time."""
FIELD = "contents"
"""Lucene's field of a document's terms."""


def measure_indexes(
    indexes: Mapping[str, str | Path],
    queries: str | Path,
    options: RetrievalConfig,
    output: str | Path,
    table: str | Path,
) -> dict[str, int]:
    """Measure indexes of one corpus side by side.

    Rounds go over all indexes in turn, so that a slow moment of the machine slows every index. A query is a bag of its
    analysed terms, searched by BM25 for `options.depth` documents in one thread, analysis not included.

    Args:
        indexes: name → directory; the first is what the others are compared with.
        queries: QUERIES table; the first `MOST_QUERIES` are timed.
        options: depth, stemmer and stop words.
        output: JSON: a list of indexes, each with name, documents, documents_without_terms, terms (different ones),
            postings, bytes, length (mean sum of weights a document), queries, and median and mean milliseconds a query.
        table: the same as Markdown.

    Returns:
        Counts: indexes, queries.
    """
    analyser = Analyser.of(options)
    opened = {name: _Opened(path, queries, analyser, options) for name, path in indexes.items()}
    times: dict[str, list[list[float]]] = {name: [] for name in indexes}
    for _ in range(ROUNDS):
        for name, index in opened.items():
            times[name].append(index.time_queries())
    found = []
    for name, index in opened.items():
        fastest = np.min(times[name], axis=0) * 1000 if index.queries else np.zeros(0)
        row = {"index": name, **index.statistics(), "queries": len(fastest)}
        row |= {
            "median_ms": round(float(np.median(fastest)), 4) if len(fastest) else None,
            "mean_ms": round(float(np.mean(fastest)), 4) if len(fastest) else None,
        }
        found.append(row)
        index.close()
    write_text(output, json.dumps(found, indent=1) + "\n")
    write_index_table(output, table)
    return {"indexes": len(found), "queries": max((row["queries"] for row in found), default=0)}


class _Opened:
    """An index that is open in this process, and queries for it."""

    def __init__(
        self, path: str | Path, queries: str | Path, analyser: Analyser, options: RetrievalConfig
    ) -> None:
        self._path, self._depth = Path(path), options.depth
        self._record = read_record(path, options)
        self._reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(path))
        self._searcher = java_class("org.apache.lucene.search.IndexSearcher")(self._reader)
        similarity = java_class("org.apache.lucene.search.similarities.BM25Similarity")
        self._searcher.setSimilarity(similarity(options.bm25.k1, options.bm25.b))
        self._searcher.setQueryCache(None)
        texts = query_texts(QUERIES.read(queries)["text"].to_pylist()[:MOST_QUERIES], self._record)
        self.queries = [_bag_of_words(terms) for terms in analyser.terms(texts) if terms]

    def time_queries(self) -> list[float]:
        """Return the seconds of each query."""
        found = []
        for query in self.queries:
            start = time.perf_counter()
            self._searcher.search(query, self._depth)
            found.append(time.perf_counter() - start)
        return found

    def statistics(self) -> dict[str, Any]:
        documents = self._record["documents"]
        held = self._reader.getDocCount(FIELD)
        terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(self._reader, FIELD)
        return {
            "documents": documents,
            "documents_without_terms": documents - held,
            "terms": terms.size() if terms else 0,
            "postings": self._reader.getSumDocFreq(FIELD),
            "bytes": sum(file.stat().st_size for file in self._path.rglob("*") if file.is_file()),
            "length": round(self._reader.getSumTotalTermFreq(FIELD) / max(held, 1), 3),
        }

    def close(self) -> None:
        self._reader.close()


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
