"""What tests of Lucene indexes share: tables of a few weights and queries, and Lucene's formulas."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import TERM_VECTORS, TERM_WEIGHTS

TEXT = TextConfig(words="alphanumeric", fields=["title", "body"])
OPTIONS = RetrievalConfig(depth=10, memory_mb=256, threads=2)


def write_vectors(path: Path, vectors: Mapping[str, Mapping[str, int]]) -> Path:
    TERM_VECTORS.write(path, _rows(vectors))
    return path


def write_weights(path: Path, weights: Mapping[str, Mapping[str, float]]) -> Path:
    TERM_WEIGHTS.write(path, _rows(weights))
    return path


def _rows(texts: Mapping[str, Mapping[str, float]]) -> list[dict]:
    return [
        {"part": 0, "position": position, "document_id": name}
        | {"terms": [{"term": term, "weight": terms[term]} for term in sorted(terms)]}
        for position, (name, terms) in enumerate(texts.items())
    ]


def stored_length(length: int) -> int:
    """The length that Lucene keeps in a byte: exact to 40, then of four significant bits (SmallFloat.intToByte4)."""
    free = 24
    if length < free:
        return length
    value = length - free
    bits = value.bit_length()
    shift = max(bits - 4, 0)
    return free + (value >> shift << shift)


def scores_by_formula(
    model: str, documents: Mapping[str, Mapping[str, int]], query: Sequence[str], *parameters: float
) -> dict[str, float]:
    """The scores of docs/methods/evaluation.md of documents (term → frequency or weight) with a term of a query.

    Lengths are as Lucene keeps them, their average is that of exact ones; no document is empty.
    """
    lengths = {name: sum(terms.values()) for name, terms in documents.items()}
    total = sum(lengths.values())

    def score(term: str, weight: int, length: int) -> float:
        background = (sum(terms.get(term, 0) for terms in documents.values()) + 1) / (total + 1)
        if model == "bm25":
            k1, b = parameters
            holding = sum(term in terms for terms in documents.values())
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            return idf * weight / (weight + k1 * (1 - b + b * length / (total / len(documents))))
        if model == "ql":
            [mu] = parameters
            return max(math.log(1 + weight / (mu * background)) + math.log(mu / (length + mu)), 0)
        [smoothing] = parameters
        return math.log(1 + (1 - smoothing) * weight / length / (smoothing * background))

    return {
        name: sum(score(term, terms[term], stored_length(lengths[name])) for term in query if term in terms)
        for name, terms in documents.items()
        if set(query) & terms.keys()
    }
