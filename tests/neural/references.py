"""The rankers once more, in NumPy and double precision, word by word as the papers' formulas have it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Words = Sequence[int]


def weights(made: Any) -> dict[str, np.ndarray]:
    """All weights of a ranker, in double precision."""
    return {name: tensor.detach().numpy().astype(np.float64) for name, tensor in made.state_dict().items()}


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return 0.0 if lengths == 0 else float(a @ b / lengths)


def kernel_features(query: Sequence[np.ndarray], document: Sequence[np.ndarray], options: Any) -> list[float]:
    """φ: one feature a kernel."""
    width = 2 / (options.kernels - 1)
    found = []
    for kernel in range(options.kernels):
        mean = 1.0 if kernel == 0 else 1 - width / 2 - (kernel - 1) * width
        sigma = options.exact_sigma if kernel == 0 else options.sigma
        total = 0.0
        for q in query:
            soft = sum(math.exp(-((cosine(q, d) - mean) ** 2) / (2 * sigma**2)) for d in document)
            total += options.log_scale * math.log(max(soft, 1e-10))
        found.append(total)
    return found


def squashed(made: Any, features: Sequence[float]) -> float:
    known = weights(made)
    value = float(known["combine.weight"][0] @ np.array(features) + known["combine.bias"][0])
    return math.tanh(value) if made.options.score == "tanh" else value


def knrm(made: Any, query: Words, document: Words) -> float:
    vectors = weights(made)["vectors.weight"]
    return squashed(made, kernel_features(vectors[list(query)], vectors[list(document)], made.options))


def conv_knrm(made: Any, query: Words, document: Words) -> float:
    known, options = weights(made), made.options

    def ngrams(words: Words, length: int) -> list[np.ndarray]:
        weight = known[f"convolutions.{length - 1}.weight"]
        bias = known[f"convolutions.{length - 1}.bias"]
        found = []
        for start in range(len(words)):
            value = bias.copy()
            for place in range(length):
                if start + place < len(words):
                    value += weight[:, :, place] @ known["vectors.weight"][words[start + place]]
            found.append(np.maximum(value, 0))
        return found

    features: list[float] = []
    for a in range(1, options.ngrams + 1):
        for b in range(1, options.ngrams + 1):
            if a == b or options.cross_match:
                features += kernel_features(ngrams(query, a), ngrams(document, b), options)
    return squashed(made, features)


def drmm(made: Any, query: Words, document: Words) -> float:
    known, options = weights(made), made.options
    vectors = known["vectors.weight"]
    scores, gates = [], []
    for q in query:
        histogram = np.zeros(options.bins)
        for d in document:
            if d == q:
                histogram[-1] += 1
            else:
                place = int((cosine(vectors[q], vectors[d]) + 1) / 2 * (options.bins - 1))
                histogram[min(place, options.bins - 2)] += 1
        if options.histogram == "log-count":
            histogram = np.log(1 + histogram)
        elif options.histogram == "normalised":
            histogram /= max(len(document), 1)
        state = histogram
        for layer in range(len(options.hidden) + 1):
            state = np.tanh(known[f"matching.{layer}.weight"] @ state + known[f"matching.{layer}.bias"])
        scores.append(state[0])
        given = np.array([known["idf"][q]]) if options.gate == "idf" else vectors[q]
        gates.append(math.exp(known["gate.weight"][0] @ given))
    return sum(g * z for g, z in zip(gates, scores, strict=True)) / sum(gates) if gates else 0.0


def duet(made: Any, query: Words, document: Words) -> float:
    known, options = weights(made), made.options
    activate = np.tanh if options.activation == "tanh" else lambda x: np.maximum(x, 0)
    q = [*query, *[0] * options.query_words][: options.query_words]
    d = [*document, *[0] * options.document_words][: options.document_words]

    def layer(name: str, x: np.ndarray) -> np.ndarray:
        return activate(known[f"{name}.weight"] @ x + known[f"{name}.bias"])

    def inputs(word: int) -> np.ndarray:
        """What the distributed model reads of a word."""
        if options.distributed == "words":
            return known["vectors.weight"][word]
        found = np.zeros(len(made._ngraphs))
        if word:
            marked = f"#{made.vocabulary.words[word - 1]}#"
            for place, ngraph in enumerate(made._ngraphs):
                found[place] = sum(marked.startswith(ngraph, start) for start in range(len(marked)))
        return found

    def windows(words: Words, name: str) -> list[np.ndarray]:
        weight, bias = known[f"{name}.weight"], known[f"{name}.bias"]
        found = []
        for start in range(len(words) - options.window + 1):
            value = bias.copy()
            for place in range(options.window):
                value += weight[:, :, place] @ inputs(words[start + place])
            found.append(activate(value))
        return found

    local = []
    for word in q:
        value = 1.0
        if options.matches == "idf":
            value = known["idf"][word] / known["idf"].max()
        row = np.array([value * (word == other and word != 0) for other in d])
        local.append(layer("local_windows", row))
    h_local = layer("local_second", layer("local_first", np.concatenate(local)))

    e_q = layer("query_layer", np.max(windows(q, "query_windows"), axis=0))
    of_document = windows(d, "document_windows")
    pooled = []
    for start in range(len(of_document) - options.pooling + 1):
        most = np.max(of_document[start : start + options.pooling], axis=0)
        pooled.append(e_q * layer("document_layer", most))
    h_distributed = layer("distributed_second", layer("distributed_first", np.concatenate(pooled)))

    def last(name: str, x: np.ndarray) -> float:
        return float(known[f"{name}.weight"][0] @ x + known[f"{name}.bias"][0])

    if options.combination == "sum":
        return math.tanh(last("local_score", h_local)) + math.tanh(last("distributed_score", h_distributed))
    state = layer("network_second", layer("network_first", h_local + h_distributed))
    return 0.1 * last("network_score", state)


REFERENCES = {"knrm": knrm, "conv-knrm": conv_knrm, "drmm": drmm, "duet": duet, "duet-v2": duet}


def reference(made: Any, query: Words, document: Words) -> float:
    """The score of a pair by the formulas of the ranker's type."""
    return REFERENCES[made.options.type](made, query, document)
