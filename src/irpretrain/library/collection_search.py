"""A collection as a search engine: ranks of documents, a first stage, and re-ranking."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from irpretrain.evaluation.runs import Run
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, count_of, instead_of
from irpretrain.foundation.progress import notice
from irpretrain.library.collection_files import CollectionFiles
from irpretrain.library.cross_encoder import Candidates, CrossEncoder, listed_candidates
from irpretrain.library.inputs import IDENTIFIER, Pair, listed_pairs, named_queries
from irpretrain.library.options import READ_BY_BM25, READ_BY_SEARCH, unread_keys, unread_message
from irpretrain.text.words import find_words

if TYPE_CHECKING:
    import pandas as pd

    from irpretrain.axioms.rank_engine import Postings
    from irpretrain.retrieval.text_search import TextSearch
    from irpretrain.text.terms import Terms

SearchModel = Literal["bm25", "ares-bm25"]


class SearchableCollection(CollectionFiles):
    """What `Collection` answers by its search indexes."""

    def __len__(self) -> int:
        return DOCUMENTS.count(self.documents)

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._document_ids

    def ranks(self, pairs: Iterable[Pair], depth: int | None = None) -> np.ndarray:
        """Return at which rank BM25 finds the document under the query, int32 [pairs], without a search.

        Terms, BM25 and lengths are those of `options.axioms`. 0 stands for a document without a term of the query, or
        beyond `depth`.

        Args:
            pairs: as in `axioms`.
            depth: the last rank that counts; None: all count.

        Raises:
            ConfigError: the collection lacks a document, or `depth` is below 1.

        Examples:
            >>> from irpretrain import Collection
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> fruit.ranks([("apple pie", "0"), ("apple pie", "1"), ("juice", "1")]).tolist()
            [1, 2, 0]
        """
        import pyarrow as pa

        from irpretrain.axioms.rank_engine import document_ranks

        pairs = self._checked_pairs(pairs)
        if depth is not None:
            _check_depth(depth)
        queries, offsets, postings = self._queries_of([query for query, _ in pairs])
        if depth is not None:
            depth = min(depth, max(1, len(postings)))
        documents = postings.rows(pa.array([name for _, name in pairs], pa.string()))
        threads = self.options.axioms.threads
        return document_ranks(postings, documents, queries, offsets, depth, threads)

    def search(
        self, queries: Mapping[str, str] | Iterable[str], depth: int = 1000, model: SearchModel = "bm25"
    ) -> pd.DataFrame:
        """Return the best documents of each query by the workflow's BM25, a first stage.

        Terms and scores are those of the workflow's index (Lucene through Anserini): k1 0.9, b 0.4, Porter's stems,
        Lucene's 33 stop words. Other parameters are `Options(retrieval={"bm25": {"k1": 1.2, "b": 0.75}})`.

        Args:
            queries: texts, a mapping of identifiers to texts, or a frame with columns such as `qid` and `query`.
            depth: documents per query; fewer where fewer hold a term of the query.
            model: ares-bm25 is the BM25 of `options.axioms`, which `ranks` counts by: ARES's k1 3.8, b 0.87, INQUERY's
                stop words.

        Returns:
            Columns query_id (the place of a text that has none), doc_id, rank (from 1), score. Equal scores stand
            in the order of identifiers (code points); by ares-bm25 in the order of the collection.

        Raises:
            ConfigError: a query is no text, `depth` is below 1, there is no such model, or `options.retrieval` sets a
                key that no search here reads, such as depth.

        Examples:
            >>> from irpretrain import Collection
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> fruit.search({"q": "pear juice"})[["query_id", "doc_id", "rank"]].values.tolist()
            [['q', '0', 1], ['q', '1', 2], ['q', '2', 3]]
        """
        from irpretrain.axioms.rank_engine import top_documents

        _check_depth(depth)
        if model not in get_args(SearchModel):
            remedy = instead_of(str(model), get_args(SearchModel))
            raise ConfigError(f"model: there is no {reprlib.repr(model)}; {remedy}")
        set_keys = {"retrieval": dict.fromkeys(sorted(self.options.retrieval.model_fields_set))}
        # What bm25 reads may be set in a search by ares-bm25 too: options are of the collection.
        for key in unread_keys(set_keys, READ_BY_BM25):
            raise ConfigError(unread_message(key, f"this search by {model}", READ_BY_SEARCH[model]))
        queries_by_id = named_queries(queries)
        if model == "bm25":
            postings, threads = self._search.postings, self.options.retrieval.threads
            depth = min(depth, max(1, len(postings)))
            documents, scores = self._search.search(queries_by_id.values(), depth, threads)
        else:
            terms, offsets, postings = self._queries_of(queries_by_id.values())
            depth = min(depth, max(1, len(postings)))
            documents, scores = top_documents(postings, terms, offsets, depth, self.options.axioms.threads)
        is_found = documents >= 0
        return _run_table(
            np.repeat(np.array(list(queries_by_id), object), is_found.sum(1)),
            postings.document_ids.take(documents[is_found]).to_numpy(),
            np.broadcast_to(np.arange(1, depth + 1), is_found.shape)[is_found],
            scores[is_found],
        )

    def rerank(
        self, candidates: Candidates, queries: Mapping[str, str] | Iterable[str], model: CrossEncoder
    ) -> pd.DataFrame:
        """Re-rank candidates by a cross-encoder, as the workflow does.

        Args:
            candidates: documents of each query, best first: a frame with columns such as `qid` and `docno`, also that
                of `search`, or a mapping of queries to lists of documents.
            queries: as in `search`; queries without candidates are left out.
            model: its option `depth` is the number of candidates that are read, by default all.

        Returns:
            Columns as of `search`. Scores are those of float32, larger is more relevant. Equal scores stand in the
            order of identifiers (code points).

        Raises:
            ConfigError: these are no candidates, or a query has no text.
            InputError: the collection lacks a document.

        Examples:
            >>> from irpretrain import Collection, CrossEncoder
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> model, queries = CrossEncoder(model_directory, max_length=32, query_length=8), {"q": "pear juice"}
            >>> ranked = fruit.rerank(fruit.search(queries, depth=2), queries, model)
            >>> sorted(ranked.doc_id), list(ranked["rank"])
            (['0', '1'], [1, 2])
        """

        run, queries_by_id = listed_candidates(candidates), named_queries(queries)
        run = self.candidates_with_text(run, "candidates")
        with self.naming():
            reranked_run = model.rerank([self.documents], self.options.text, queries_by_id, run)
        rows = [
            (query, name, rank, np.float32(score))
            for query, ranking in reranked_run.items()
            for rank, (name, score) in enumerate(ranking, 1)
        ]
        return _run_table(*zip(*rows, strict=True)) if rows else _run_table((), (), (), ())

    def candidates_with_text(self, candidates: Run, name: str) -> Run:
        """Return candidates without the documents that `read` left out because they are empty; a note counts them.

        The workflow's runs of others lose such documents by `unknown_documents: drop`.

        Args:
            candidates: the run.
            name: what the note calls the run.
        """
        empty_candidates = [
            (query, document_id)
            for query, ranking in candidates.items()
            for document_id, _ in ranking
            if document_id in self.ids_without_text
        ]
        if not empty_candidates:
            return candidates
        query, document_id = empty_candidates[0]
        candidates_text = count_of(sum(map(len, candidates.values())), "candidate")
        left_out = f"{len(empty_candidates):,} of {candidates_text}, because their documents have no text"
        notice("rerank", f"{name}: left out: {left_out}, such as {document_id} (query {query})")
        return {
            query: ranking_with_text
            for query, ranking in candidates.items()
            if (ranking_with_text := [pair for pair in ranking if pair[0] not in self.ids_without_text])
        }

    @cached_property
    def _search(self) -> TextSearch:
        from irpretrain.retrieval.text_search import TextSearch

        folder, options = self._path("search"), self.options
        folder.mkdir()
        with self.naming():
            return TextSearch.of(
                self.documents, options.text, options.retrieval, folder, options.axioms.memory_mb
            )

    def _queries_of(self, texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray, Postings]:
        terms, postings = self._terms
        word_lists = (find_words(text, self.options.text.word_kind) for text in texts)
        query_terms = [np.asarray(terms.of_text(words), np.int64) for words in word_lists]
        offsets = np.cumsum([0, *map(len, query_terms)])
        return np.concatenate([np.zeros(0, np.int64), *query_terms]), offsets, postings

    @cached_property
    def _terms(self) -> tuple[Terms, Postings]:
        from irpretrain.axioms.batch import open_terms

        with self.naming():
            return open_terms(self._statistics, self._postings, self.options.axioms)

    def _checked_pairs(self, pairs: Iterable[Pair]) -> list[tuple[str, str]]:
        checked_pairs = listed_pairs(pairs, IDENTIFIER)
        for pair_number, (_, document_id) in enumerate(checked_pairs):
            self.check_document(document_id, f"pair {pair_number}")
        return checked_pairs

    def check_document(self, document_id: str, location: str) -> None:
        """Raise ConfigError, with the location in front, where the collection lacks a document."""
        if document_id not in self._document_ids:
            reason = ": it was left out, without text" if document_id in self.ids_without_text else ""
            raise ConfigError(f"{location}: the collection has no document {document_id!r}{reason}")

    @cached_property
    def _document_ids(self) -> frozenset[str]:
        return frozenset(DOCUMENTS.read(self.documents, ["document_id"])["document_id"].to_pylist())


def _run_table(query_ids: Any, doc_ids: Any, ranks: Any, scores: Any) -> pd.DataFrame:
    """Return a run with the columns of ir_measures; identifiers are objects and scores float64, which ranx demands."""
    import pandas as pd

    return pd.DataFrame(
        {
            "query_id": pd.Series(query_ids, dtype=object),
            "doc_id": pd.Series(doc_ids, dtype=object),
            "rank": pd.Series(ranks, dtype=np.int32),
            "score": pd.Series(scores, dtype=np.float64),
        }
    )


def _check_depth(depth: Any) -> None:
    if isinstance(depth, bool) or not isinstance(depth, Integral) or depth < 1:
        raise ConfigError(f"depth: a whole number from 1 on is needed, not {reprlib.repr(depth)}")
