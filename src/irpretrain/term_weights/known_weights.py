"""Weights that no model predicts: how often a word occurs (tf), and the targets themselves (oracle)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_TARGETS, TERM_VECTORS, TERM_WEIGHTS
from irpretrain.term_weights.integers import weighted_terms
from irpretrain.text.texts import Text, document_texts
from irpretrain.text.words import word_finder

TEXTS_AT_ONCE = 1024


def write_frequencies(documents: str | Path, text: TextConfig, output: str | Path) -> dict[str, Any]:
    """Write how often each word occurs in each document of a DOCUMENTS table, as TERM_VECTORS; return counts."""
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


class Oracle:
    """Weighs texts by their TERM_TARGETS, the mean of several rows; a text without targets has no terms."""

    def __init__(self, targets: str | Path, text: TextConfig) -> None:
        table = TERM_TARGETS.read(targets, ["document_id", "targets"])
        self._targets: dict[str, list[np.ndarray]] = {}
        for name, values in zip(table["document_id"].to_pylist(), table["targets"], strict=True):
            self._targets.setdefault(name, []).append(values.values.to_numpy())
        self._find = word_finder(text.word_kind)

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        rows, without = [], 0
        for text in texts:
            targets = self._targets.get(text.document_id)
            without += targets is None
            terms = [] if targets is None else weighted_terms(self._find(text.text), np.mean(targets, 0))[0]
            rows.append(text.key | {"terms": terms})
        counts = {"texts": len(texts), "texts_without_targets": without}
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts
