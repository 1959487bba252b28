"""What an index costs: its size on disk, its postings, and the time of a query; as JSON and as a table."""

import json
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from irpretrain.atomic import write_text
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.retrieval.java import java_class, java_faults
from irpretrain.retrieval.opened_index import FIELD, OpenedIndex
from irpretrain.retrieval.tuning import own_parameters
from irpretrain.text.keyed_texts import read_queries

MOST_QUERIES = 200
"""Queries that are timed."""
ROUNDS = 5
"""Times that each is searched; its fastest counts, as other work on the machine only ever adds time."""
HEADER = (
    "| index | documents | without terms | different terms | postings | size | search | query, median | query, mean |\n"
    "|---|---:|---:|---:|---:|---:|---|---:|---:|\n"
)


class SearchedIndex(NamedTuple):
    """An index, and the search of it that is timed.

    Attributes:
        name, path: of the index.
        options: depth, stemmer and stop words; k1 and b where the others say nothing.
        parameters, tuning: of the first stage that searches the index by BM25, as in `search_tuned`.
    """

    name: str
    path: str | Path
    options: RetrievalConfig
    parameters: Mapping[str, float | None] = MappingProxyType({})
    tuning: str | Path | None = None


def measure_indexes(
    indexes: Sequence[SearchedIndex], queries: str | Path, output: str | Path, table: str | Path
) -> dict[str, int]:
    """Measure indexes of one corpus side by side.

    Rounds go over all indexes in turn, so that a slow moment of the machine slows every index. A query is a bag of its
    analysed terms, searched by BM25 in one thread, analysis not included. How many documents Lucene can pass over
    depends on k1, b and the depth, so each index has those of its own first stage.

    Args:
        indexes: of one corpus; the first is what the others are compared with.
        queries: QUERIES table; the first `MOST_QUERIES` are timed.
        output: JSON: a list of indexes, each with name, documents, documents_without_terms, terms (different ones),
            postings, bytes, length (mean sum of weights a document), k1, b and depth of the search, queries, and median
            and mean milliseconds a query.
        table: the same as Markdown.
    """
    opened = {index.name: _Opened(index, queries) for index in indexes}
    times: dict[str, list[list[float]]] = {name: [] for name in opened}
    for _ in range(ROUNDS):
        for name, index in opened.items():
            times[name].append(index.time_queries())
    rows = []
    for name, index in opened.items():
        fastest = np.min(times[name], axis=0) * 1000 if index.queries else np.zeros(0)
        row = {"index": name, **index.statistics(), **index.search, "queries": len(fastest)}
        row |= {
            "median_ms": round(float(np.median(fastest)), 4) if len(fastest) else None,
            "mean_ms": round(float(np.mean(fastest)), 4) if len(fastest) else None,
        }
        rows.append(row)
        index.close()
    write_text(output, json.dumps(rows, indent=1) + "\n")
    _write_table(rows, table)
    return {"indexes": len(rows), "queries": max((row["queries"] for row in rows), default=0)}


class _Opened:
    """An index that is open in this process, and queries for it."""

    def __init__(self, index: SearchedIndex, queries: str | Path) -> None:
        options = index.options.with_parameters(own_parameters(index.parameters, index.tuning))
        self.search = {**options.parameters_of("bm25"), "depth": options.depth}
        self._path = Path(index.path)
        self._opened = OpenedIndex(index.path, "bm25", options)
        self._reader, self._searcher = self._opened.reader, self._opened.searcher
        texts = dict(islice(read_queries(queries).items(), MOST_QUERIES))
        term_lists = self._opened.terms(texts).values()
        self.queries = [self._opened.bag_of_words(terms) for terms in term_lists if terms]

    def time_queries(self) -> list[float]:
        """Return the seconds of each query."""
        seconds = []
        with java_faults(f"a search of {self._path}", "lower retrieval.depth"):
            for query in self.queries:
                start = time.perf_counter()
                self._searcher.search(query, self.search["depth"])
                seconds.append(time.perf_counter() - start)
        return seconds

    def statistics(self) -> dict[str, Any]:
        documents = self._opened.record["documents"]
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


def _write_table(rows: Sequence[dict[str, Any]], output: str | Path) -> None:
    """Write what `measure_indexes` found as Markdown; ratios are to the first index."""
    first = rows[0]
    lines = [_row(row, first) for row in rows]
    queries = max(row["queries"] for row in rows)
    note = (
        f"\nIn brackets: of {first['index']}. Times are of this machine: BM25 as the index's first stage has it, one "
        f"thread, {queries} queries without their analysis, each the fastest of five rounds that go over all indexes "
        "in turn.\n"
    )
    write_text(output, HEADER + "".join(lines) + note)


def search_shown(row: dict[str, Any]) -> str:
    """Return what a line of `measure_indexes` says of the search that was timed."""
    return f"k1 = {row['k1']:g}, b = {row['b']:g}, depth {row['depth']:,}"


def _row(row: dict[str, Any], first: dict[str, Any]) -> str:
    def against(name: str, shown: str) -> str:
        return shown if row is first or not first[name] else f"{shown} ({row[name] / first[name]:.2f})"

    cells = [
        row["index"],
        f"{row['documents']:,}",
        f"{row['documents_without_terms']:,}",
        against("terms", f"{row['terms']:,}"),
        against("postings", f"{row['postings']:,}"),
        against("bytes", f"{row['bytes'] / 1e6:,.2f} MB"),
        search_shown(row),
        *(
            "no queries" if row[name] is None else against(name, f"{row[name]:.3f} ms")
            for name in ("median_ms", "mean_ms")
        ),
    ]
    return f"| {' | '.join(cells)} |\n"
