"""Batches of queries over small collections, made without files, and the axioms in plain Python."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from made_collection import TEXT, MadeCollection, write_shards

from irpretrain.axioms.batch import AxiomBatch, AxiomCollection, BatchMaker
from irpretrain.axioms.preferences import DEFINITIONS
from irpretrain.config.axioms import Axiom, AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.text.terms import Terms, read_terms
from irpretrain.text.word_store import WordDocuments

Vectors = dict[str, Sequence[float]]
WITHOUT_RANK: tuple[Axiom, ...] = tuple(axiom for axiom in DEFINITIONS if axiom != "RANK")


def plain_options(**changes: Any) -> AxiomsConfig:
    """Words are terms; no stop words."""
    return AxiomsConfig(**{"stemming": "none", "stop_list": "none"} | changes)


def vector_rows(statistics: Path, vectors: Vectors | None) -> np.ndarray:
    """Return the rows of a vectors.npy: zero where no vector is given."""
    words = WORD_COUNTS.read(statistics)["word"].to_pylist()
    dimensions = len(next(iter(vectors.values()))) if vectors else 2
    zero = [0.0] * dimensions
    rows = np.array([(vectors or {}).get(word, zero) for word in words], np.float32).reshape(-1, dimensions)
    rows.flags.writeable = False
    return rows


def frequencies_of(documents: WordDocuments, terms: Terms) -> np.ndarray:
    """Count, document by document, how many hold each term."""
    held = np.zeros(len(terms.names) + 1, np.int64)
    words, offsets = documents.gather(np.arange(len(documents)))
    for start, end in pairwise(offsets):
        found = np.unique(terms.terms(words[start:end]))
        held[found[found >= 0]] += 1
    return held


def make_batch(
    folder: Path,
    texts: Sequence[str],
    queries: Sequence[tuple[str, int]],
    options: AxiomsConfig | None = None,
    vectors: Vectors | None = None,
    text: TextConfig = TEXT,
) -> AxiomBatch:
    """Return the batch of (query, number of its document)."""
    options = options or plain_options()
    made = MadeCollection(folder, write_shards(folder, texts), text)
    terms = read_terms(made.statistics, options.stop_list, options.stemming)
    stores = WordDocuments.open(made.stores, len(terms.word_numbers))
    vector_table = vector_rows(made.statistics, vectors)
    collection = AxiomCollection(terms, frequencies_of(stores, terms), None, vector_table, options)  # type: ignore[arg-type]
    rows = stores.rows(pa.chunked_array([[f"d{document}" for _, document in queries]], pa.string()))
    return BatchMaker(collection, stores, text.word_kind).make([query for query, _ in queries], rows, rows)


def values_of(batch: AxiomBatch, axioms: Sequence[Axiom] = WITHOUT_RANK) -> dict[str, np.ndarray]:
    return {DEFINITIONS[axiom].column: DEFINITIONS[axiom].values(batch) for axiom in axioms}


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    norms = math.sqrt(sum(x * x for x in left)) * math.sqrt(sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / norms if norms else 0.0


def total(vectors: Sequence[Sequence[float]], dimensions: int) -> list[float]:
    return [sum(vector[column] for vector in vectors) for column in range(dimensions)]


def reference(
    query: str, document: int, texts: Sequence[str], options: AxiomsConfig, vectors: Vectors
) -> dict[str, float]:
    """Compute the axioms' values word by word as docs/methods/axioms.md defines them; words are terms."""
    dimensions = len(next(iter(vectors.values())))
    zero = [0.0] * dimensions
    documents = [text.split() for text in texts]
    words, terms = documents[document], sorted(set(query.split()))
    tf = {term: words.count(term) for term in terms}
    df = {term: sum(term in one for one in documents) for term in terms}
    vocabulary = {word for one in documents for word in one}
    total_df = sum(len(set(one)) for one in documents) + len(vocabulary)
    mu = sum(map(len, documents)) / len(documents) or 1.0

    def likelihood(term: str) -> float:
        background = (df[term] + 1) / max(total_df, 1)
        return math.log((tf[term] + mu * background) / (len(words) + mu))

    def mean(values: Sequence[float], otherwise: float) -> float:
        return sum(values) / len(values) if values else otherwise

    held = [term for term in terms if tf[term]]
    near = held if options.missing_terms == "skipped" or len(held) == len(terms) else []
    between = [
        mean(
            [
                abs(i - j) - 1
                for i, a in enumerate(words)
                if a == one
                for j, b in enumerate(words)
                if b == other
            ],
            0,
        )
        for one in near
        for other in near
        if one < other
    ]
    own = {term: list(vectors.get(term, zero)) if df[term] else zero for term in terms}
    whole = total([vectors.get(word, zero) for word in words], dimensions)
    similar = [
        (round(cosine(own[term], total([own[t] for t in terms if t != term], dimensions)), 9), tf[term])
        for term in terms
    ]
    close = [cosine(own[term], whole) > options.stm_3_threshold for term in terms]
    return {
        "rep_ql": mean([likelihood(term) for term in terms], -math.inf),
        "rep_tfidf": mean(
            [tf[term] * math.log((len(documents) + 1) / (df[term] + 1)) for term in terms], 0.0
        ),
        "prox_1": mean(between, 0.0) if near else math.inf,
        "prox_2": mean([words.index(term) for term in near], math.inf),
        "reg": min(similar)[1] if similar else 0,
        "stm_1": cosine(total(list(own.values()), dimensions), whole) if terms else -1.0,
        "stm_2": len(held) / max(len(terms), 1),
        "stm_3": sum(close) / max(len(terms), 1),
    }
