"""An opened Lucene index: its record, its searches, and the queries that find nothing."""

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.retrieval import LUCENE_WORDS, RankingModel, RetrievalConfig
from irpretrain.corpora.policy import DroppedRecords
from irpretrain.evaluation.runs import Ranking, without_query_document
from irpretrain.foundation.errors import IntegrityError, refusing_damage
from irpretrain.foundation.progress import Counter
from irpretrain.retrieval.analysis import Analyser, one_line_each
from irpretrain.retrieval.java import java_class, java_faults, leave_java

# File in the index that records how it was made.
RECORD = "irpretrain.json"


# What of `retrieval` an index and its searches must agree on; keys of the record too.
ANALYSIS = ("stemmer", "stop_list")


def index_analysis(index: str | Path) -> dict[str, Any]:
    """Return the stems and stop words that an index was made with; IntegrityError where there is no index."""
    record = _record(index)
    return {name: record[name] for name in ANALYSIS}


def _record(index: str | Path) -> dict[str, Any]:
    with refusing_damage(index, "this is not an index of this workflow", "Delete it and run again."):
        record: dict[str, Any] = json.loads(Path(index, RECORD).read_text(encoding="utf-8"))
        if missing_keys := set(ANALYSIS) - record.keys():
            raise ValueError(f"there is no {min(missing_keys)}")
    return record


# Lucene's field of a document's terms.
FIELD = "contents"

# Lucene's field of a document's identifier.
IDENTIFIER = "id"

# Maximum number of different terms in a query. Lucene's own maximum is 1,024; some legal cases have more.
MAX_TERMS = 1 << 20

# Lucene's class of each ranking model; it takes the model's parameters in their order.
SIMILARITIES: dict[RankingModel, str] = {
    "bm25": "BM25Similarity",
    "ql": "LMDirichletSimilarity",
    "ql-jm": "LMJelinekMercerSimilarity",
}

# Where a query has more different terms, one thread searches all: 16 threads have memory for so many each.
MAX_PARALLEL_TERMS = 5000

# Queries that a thread searches in a row.
QUERIES_AT_ONCE = 64

# By how much Anserini lowers the score of a document that ties with the one above it.
SCORE_STEP = 1e-6
# Documents tie in Anserini's eyes where their scores differ by less.
TIE_DISTANCE = np.float32(1e-4)


class OpenedIndex:
    """An index with a ranking model; errors as of `lucene.search`."""

    def __init__(self, path: str | Path, model: RankingModel, options: RetrievalConfig) -> None:
        self.record = _record(path)
        for name in ANALYSIS:
            if self.record[name] != (value := getattr(options, name)):
                fault = f"the index was made with {name} {self.record[name]}, the configuration has {value}"
                raise IntegrityError(path, fault, remedy="Delete the index and run again.")
        self._path, self._threads = path, options.threads
        self._analyser = Analyser.of(options, self.record.get("query_words", LUCENE_WORDS))
        with java_faults(f"opening {path}", "make the index again"):
            self.reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(path))
        lucene_searcher = java_class("org.apache.lucene.search.IndexSearcher")
        lucene_searcher.setMaxClauseCount(MAX_TERMS)
        self.searcher = lucene_searcher(self.reader)
        self.searcher.setQueryCache(None)
        self.rank_by(model, options.parameters_of(model))
        self._whitespace_analyser = java_class("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
        self._bag_generator = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._tie_adjuster = java_class("io.anserini.rerank.lib.ScoreTiesAdjusterReranker")()
        # Anserini has the same order as a constant of a class that takes 0.3 s to load.
        field = java_class("org.apache.lucene.search.SortField")
        identifier = field(IDENTIFIER, java_class("org.apache.lucene.search.SortField$Type").STRING_VAL)
        self._sort_order = java_class("org.apache.lucene.search.Sort")(field.FIELD_SCORE, identifier)

    def rank_by(self, model: RankingModel, parameters: Mapping[str, float]) -> None:
        similarity_class = java_class(f"org.apache.lucene.search.similarities.{SIMILARITIES[model]}")
        self.searcher.setSimilarity(similarity_class(*map(float, parameters.values())))

    def terms(self, texts: Mapping[str, str]) -> dict[str, list[str]]:
        words = self.record.get("query_words", LUCENE_WORDS)
        return dict(zip(texts, self._analyser.terms(one_line_each(list(texts.values()), words)), strict=True))

    def bag_of_words(self, terms: Sequence[str]) -> Any:
        """Return Lucene's query: each different term, as often as it occurs."""
        return self._bag_generator.buildQuery(FIELD, self._whitespace_analyser, " ".join(terms))

    def search(
        self,
        terms_of_query: Mapping[str, Sequence[str]],
        depth: int,
        counter: Counter,
        queries_are_documents: bool = False,
    ) -> Iterator[tuple[str, Ranking]]:
        """Yield the best documents of each query, in order; queries without any are left out.

        With `queries_are_documents` one document more is searched in place of a query's own, that of its identifier.
        Scores are those of Anserini's runs: four decimals, and lowered by a millionth or two where they tie.
        """
        queries = list(terms_of_query.items())
        pending: deque[Future[list[tuple[str, Ranking]]]] = deque()
        # The heap is small, and postings of a query of many terms are all open at once.
        largest_term_count = max((len(set(query_terms)) for _, query_terms in queries), default=0)
        threads = self._threads if largest_term_count <= MAX_PARALLEL_TERMS else 1
        pool = ThreadPoolExecutor(threads)

        def next_rankings() -> Iterator[tuple[str, Ranking]]:
            rankings = pending.popleft().result()
            counter.add(len(rankings))
            for query, ranking in rankings:
                if queries_are_documents:
                    ranking = without_query_document(query, ranking, depth)
                if ranking:
                    yield query, ranking

        try:
            for start in range(0, len(queries), QUERIES_AT_ONCE):
                block = queries[start : start + QUERIES_AT_ONCE]
                pending.append(pool.submit(self._search, block, depth + queries_are_documents))
                if len(pending) > 2 * threads:
                    yield from next_rankings()
            while pending:
                yield from next_rankings()
        finally:
            pool.shutdown(cancel_futures=True)

    # pyjnius keeps the object of a call with its class: threads may call methods of objects that they share, no others.
    def _search(self, queries: Sequence[tuple[str, Sequence[str]]], depth: int) -> list[tuple[str, Ranking]]:
        try:
            with java_faults(f"a search of {self._path}", "lower retrieval.depth or retrieval.threads"):
                return [(query, self._best(terms, depth)) for query, terms in queries]
        finally:
            leave_java()

    def _best(self, terms: Sequence[str], depth: int) -> Ranking:
        if not terms:
            return []
        hits = self.searcher.search(self.bag_of_words(terms), depth, self._sort_order, True)
        documents = self._tie_adjuster.rerank(self._documents(hits), None)
        return as_printed(documents.docids, documents.scores)

    def ranking(self, hits: Any) -> Ranking:
        """Return identifiers and single-precision scores of Lucene's hits."""
        documents = self._documents(hits)
        scores = [float(str(np.float32(score))) for score in documents.scores]
        return list(zip(documents.docids, scores, strict=True))

    def _documents(self, hits: Any) -> Any:
        return java_class("io.anserini.search.ScoredDocs").fromTopDocs(hits, self.searcher)


def as_printed(documents: Sequence[str], scores: Sequence[float]) -> Ranking:
    """Return a ranking with the scores that Java prints."""
    # Six decimals, half a millionth upwards, as Java prints. Single precision times a million is exact here.
    # Anserini rounds scores to four decimals and puts ties 1e-6 below each other, in Lucene's order (exact score,
    # then identifier). A long row of ties can fall below the next score; scores are lowered here until they fall
    # from rank to rank.
    printed_scores = np.floor(np.asarray(scores, np.float64) * 1e6 + 0.5) / 1e6
    ranking: Ranking = []
    for document, score in zip(documents, printed_scores.tolist(), strict=True):
        if ranking and score >= ranking[-1][1]:
            score = round(ranking[-1][1] - SCORE_STEP, 6)
        ranking.append((document, score))
    return ranking


def anserini_scores(scores: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return falling scores (float32) as Anserini rounds them and lowers its ties, for searches without it."""
    rounded = (np.floor(np.asarray(scores, np.float64) * 1e4 + 0.5) / 1e4).astype(np.float32)
    lowered, tie_count = rounded.copy(), 0
    for rank in range(1, len(rounded)):
        # The score above it is a lowered one, so a tie can go on below the next rounded score.
        tie_count = tie_count + 1 if lowered[rank - 1] - rounded[rank] < TIE_DISTANCE else 0
        lowered[rank] = rounded[rank] - np.float64(SCORE_STEP) * tie_count
    return lowered


# Queries for which a first stage finds no document: they score 0, whatever re-ranks its candidates.


def log_lost_queries(output: str | Path, query_ids: Iterable[str], ranked: Collection[str]) -> int:
    """Count and log the queries without a candidate; `output` ends in `<data set>/<first stage>/first-stage.run.gz`."""
    queries = list(query_ids)
    lost_queries = [query for query in queries if query not in ranked]
    if lost_queries:
        cell_folder, fault = Path(output).parent, "queries have no candidate and score 0"
        loss = DroppedRecords(len(lost_queries), len(queries), fault, f"query {lost_queries[0]}")
        loss.log(f"{cell_folder.parent.name}, {cell_folder.name}")
    return len(lost_queries)
