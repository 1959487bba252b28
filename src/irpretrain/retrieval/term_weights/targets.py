"""Targets of term weighting: the share of a text's counterparts that contain each of its words.

A passage's counterparts are the queries that it is relevant to, QTR(t, d) = |Q_{d,t}| / |Q_d| (DeepCT, equation 3); a
query's are its relevant documents, TR(t, q) = |D_{q,t}| / |D_q| (equation 5).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.term_weights import TermLabelsConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import read_qrels, relevant
from irpretrain.foundation.contracts import DOCUMENTS, TERM_TARGETS, TERM_VECTORS, TERM_WEIGHTS
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval.term_weights.integers import weighted_terms
from irpretrain.text.stop_words import load_stop_words, stems_of
from irpretrain.text.texts import Text, document_texts, read_queries, texts_of
from irpretrain.text.words import word_finder


def passage_targets(
    documents: Sequence[str | Path],  # DOCUMENTS tables of the corpus, in its order
    queries: str | Path,  # QUERIES table
    qrels: str | Path,  # TREC judgements
    options: TermLabelsConfig,
    text: TextConfig,
    output: str | Path,  # TERM_TARGETS table
) -> dict[str, Any]:
    """Write the targets of the words of every document that is relevant to a query; InputError if there is none.

    Returns:
        Counts: texts, rows, words, words with a target above 0, queries used, documents judged but not in the corpus.
    """
    labeller = _Labeller(options, text)
    query_texts = read_queries(queries)
    queries_of_document: dict[str, list[str]] = {}
    for query, grades in read_qrels(qrels).items():
        if query in query_texts:
            for document in relevant(grades):
                queries_of_document.setdefault(document, []).append(query)
    terms = {query: labeller.matching_terms(text_of_fields) for query, text_of_fields in query_texts.items()}
    used_queries, document_ids = set[str](), set[str]()

    def rows() -> Iterator[dict[str, Any]]:
        for key, text_of_fields in _document_texts(documents, text, text.fields, queries_of_document):
            document_ids.add(key["document_id"])
            document_queries = sorted(queries_of_document[key["document_id"]])
            used_queries.update(document_queries)
            yield from labeller.rows(key, text_of_fields, [terms[query] for query in document_queries])

    counts = labeller.write(output, rows(), qrels, "no document of the corpus is relevant to a query")
    return {
        **counts,
        "queries": len(used_queries),
        "documents_not_in_corpus": len(queries_of_document.keys() - document_ids),
    }


def query_targets(
    documents: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    options: TermLabelsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the targets of the words of every query with a relevant document in the corpus; InputError if there is
    none.

    Position is the query's row in its table, part 0.

    Returns:
        Counts: texts, rows, words, words with a target above 0, documents used, queries without a relevant document.
    """
    labeller = _Labeller(options, text)
    query_texts = read_queries(queries)
    relevant_documents = {
        query: relevant(grades) for query, grades in read_qrels(qrels).items() if query in query_texts
    }
    fields, document_ids = options.fields or text.fields, set().union(*relevant_documents.values())
    terms = {
        key["document_id"]: labeller.matching_terms(text_of_fields)
        for key, text_of_fields in _document_texts(documents, text, fields, document_ids)
    }
    skipped_count = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal skipped_count
        for position, (query, text_of_fields) in enumerate(query_texts.items()):
            counterparts = [
                terms[document] for document in sorted(relevant_documents.get(query, ())) if document in terms
            ]
            skipped_count += not counterparts
            if counterparts:
                key = {"part": 0, "position": position, "document_id": query}
                yield from labeller.rows(key, text_of_fields, counterparts)

    counts = labeller.write(output, rows(), qrels, "no query has a relevant document in the corpus")
    return {**counts, "documents": len(terms), "queries_without_relevant_document": skipped_count}


class _Labeller:
    def __init__(self, options: TermLabelsConfig, text: TextConfig) -> None:
        self._one_row_per_text, self._language = options.rows == "per-text", text.language
        self._find_words = word_finder(text.word_kind)
        self._stop_words = load_stop_words(options.stop_list, language_name=text.language)
        self._stems: dict[str, str] = {}
        # Texts, words, and words with a target above 0 in all rows made so far.
        self._counts = {"texts": 0, "words": 0, "words_above_zero": 0}

    def matching_terms(self, text: str) -> frozenset[str]:
        """Return the terms by which words match: all but stop words, as stems."""
        words = [word for word in self._find_words(text) if word not in self._stop_words]
        return frozenset(self._terms(words))

    def rows(
        self, key: Mapping[str, Any], text: str, counterparts: Sequence[frozenset[str]]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of one text: one for all its counterparts, or one for each."""
        words = self._find_words(text)
        self._counts["texts"] += 1
        groups = [counterparts] if self._one_row_per_text else [[counterpart] for counterpart in counterparts]
        for sample, group in enumerate(groups):
            targets = self._targets(words, group)
            self._counts["words"] += len(words)
            self._counts["words_above_zero"] += int((targets > 0).sum())
            yield {**key, "sample": sample, "text": text, "judged": len(group), "targets": targets}

    def write(
        self, output: str | Path, rows: Iterator[dict[str, Any]], qrels: str | Path, reason: str
    ) -> dict[str, int]:
        """Write the rows; return counts. InputError, with the reason `reason`, if there are none."""
        row_count = TERM_TARGETS.write(output, rows)
        if row_count == 0:
            remedy = "Check that corpus, queries and judgements belong together."
            raise InputError(qrels, f"{reason}, so there is nothing to learn", remedy=remedy)
        return {**self._counts, "rows": row_count}

    def _targets(self, words: list[str], counterparts: Sequence[frozenset[str]]) -> np.ndarray:
        """Return the share of `counterparts` that hold each word (float32 [words]), 0 for stop words."""
        counterparts_with = Counter(term for counterpart in counterparts for term in counterpart)
        pairs = zip(words, self._terms(words), strict=True)
        match_counts = [0 if word in self._stop_words else counterparts_with[term] for word, term in pairs]
        return (np.array(match_counts, np.float64) / max(len(counterparts), 1)).astype(np.float32)

    def _terms(self, words: list[str]) -> list[str]:
        new_words = list({word for word in words if word not in self._stems})
        self._stems.update(zip(new_words, stems_of(new_words, self._language), strict=True))
        return [self._stems[word] for word in words]


def _document_texts(
    documents: Sequence[str | Path], text: TextConfig, fields: Sequence[str], document_ids: Collection[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    text_options = text.model_copy(update={"fields": list(fields)})
    keys = ["part", "position", "document_id"]
    columns = list(dict.fromkeys([*keys, *fields]))
    for path in documents:
        for batch in DOCUMENTS.stream_documents(path, document_ids, columns):
            yield from zip(batch.select(keys).to_pylist(), texts_of(batch, text_options), strict=True)


# Weights that no model predicts: how often a word occurs (tf), and the targets themselves (oracle).


def write_frequencies(documents: str | Path, text: TextConfig, output: str | Path) -> dict[str, Any]:
    """Write how often each word occurs in each document of a DOCUMENTS table, as TERM_VECTORS; return counts."""
    split_words = word_finder(text.word_kind)
    counts = {"texts": 0, "texts_without_terms": 0, "terms": 0}

    def rows() -> Iterator[dict[str, Any]]:
        for text_rows in document_texts(documents, text):
            for document in text_rows:
                word_counts = Counter(split_words(document.text))
                counts["texts_without_terms"] += not word_counts
                counts["terms"] += len(word_counts)
                terms = [{"term": word, "weight": word_counts[word]} for word in sorted(word_counts)]
                yield document.key | {"terms": terms}

    counts["texts"] = TERM_VECTORS.write(output, rows())
    return counts


class Oracle:
    """Weighs texts by their TERM_TARGETS, the mean of several rows; a text without targets has no terms."""

    def __init__(self, targets: str | Path, text: TextConfig) -> None:
        table = TERM_TARGETS.read(targets, ["document_id", "targets"])
        self._targets: dict[str, list[np.ndarray]] = {}
        for document_id, values in zip(table["document_id"].to_pylist(), table["targets"], strict=True):
            self._targets.setdefault(document_id, []).append(values.values.to_numpy())
        self._find_words = word_finder(text.word_kind)

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        rows, without_target_count = [], 0
        for text in texts:
            terms: list[dict[str, Any]] = []
            if targets := self._targets.get(text.document_id):
                terms, _ = weighted_terms(self._find_words(text.text), np.mean(targets, 0))
            without_target_count += not targets
            rows.append(text.key | {"terms": terms})
        counts = {"texts": len(texts), "texts_without_targets": without_target_count}
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts
