"""Weights that no model predicts: how often a word occurs (tf), and the targets themselves (oracle)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_TARGETS, TERM_VECTORS, TERM_WEIGHTS
from irpretrain.term_weights.term_lists import weighted_terms
from irpretrain.text.keyed_texts import Text, document_texts, query_texts
from irpretrain.text.words import word_finder

TEXTS_AT_ONCE = 1024


def write_frequencies(documents: str | Path, text: TextConfig, output: str | Path) -> dict[str, Any]:
    """Write how often each word occurs in each document of a DOCUMENTS table, as a TERM_VECTORS table.

    Returns:
        Counts: texts, texts without terms, terms.
    """
    find = word_finder(text.word_kind)
    counts = {"texts": 0, "texts_without_terms": 0, "terms": 0}

    def rows() -> Iterator[dict[str, Any]]:
        for texts in document_texts(documents, text, TEXTS_AT_ONCE):
            for document in texts:
                word_counts = Counter(find(document.text))
                counts["texts_without_terms"] += not word_counts
                counts["terms"] += len(word_counts)
                terms = [{"term": word, "weight": word_counts[word]} for word in sorted(word_counts)]
                yield document.key | {"terms": terms}

    counts["texts"] = TERM_VECTORS.write(output, rows())
    return counts


def oracle_documents(
    targets: str | Path, documents: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Write the targets of each document of a DOCUMENTS table as its weights; a document without targets has no terms.

    Of several rows of targets of a document, as of pairs, the mean counts.

    Returns:
        Counts: texts, texts without targets.
    """
    return _oracle(targets, document_texts(documents, text, TEXTS_AT_ONCE), text, output)


def oracle_queries(
    targets: str | Path, queries: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """The same for the queries of a QUERIES table."""
    return _oracle(targets, iter([query_texts(queries)]), text, output)


def _oracle(
    targets: str | Path, texts: Iterator[list[Text]], text: TextConfig, output: str | Path
) -> dict[str, Any]:
    table = TERM_TARGETS.read(targets, ["document_id", "targets"])
    targets_by_document: dict[str, list[np.ndarray]] = {}
    for name, values in zip(table["document_id"].to_pylist(), table["targets"], strict=True):
        targets_by_document.setdefault(name, []).append(values.values.to_numpy())
    find = word_finder(text.word_kind)
    without = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal without
        for batch in texts:
            for document in batch:
                document_targets = targets_by_document.get(document.document_id)
                without += document_targets is None
                terms = (
                    []
                    if document_targets is None
                    else weighted_terms(find(document.text), np.mean(document_targets, 0))[0]
                )
                yield document.key | {"terms": terms}

    return {"texts": TERM_WEIGHTS.write(output, rows()), "texts_without_targets": without}
