"""The rankers once more, in NumPy and double precision, word by word as the papers' formulas have it."""

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


def kernel_features(query: Sequence[np.ndarray], document: Sequence[np.ndarray]) -> list[float]:
    """φ: one feature for each of 11 kernels."""
    features = []
    for kernel in range(11):
        mean = 1.0 if kernel == 0 else 0.9 - 0.2 * (kernel - 1)
        sigma = 0.001 if kernel == 0 else 0.1
        total = 0.0
        for q in query:
            soft = sum(math.exp(-((cosine(q, d) - mean) ** 2) / (2 * sigma**2)) for d in document)
            total += 0.01 * math.log(max(soft, 1e-10))
        features.append(total)
    return features


def squashed(made: Any, features: Sequence[float]) -> float:
    known = weights(made)
    return math.tanh(float(known["combine.weight"][0] @ np.array(features) + known["combine.bias"][0]))


def knrm(made: Any, query: Words, document: Words) -> float:
    vectors = weights(made)["vectors.weight"]
    return squashed(made, kernel_features(vectors[list(query)], vectors[list(document)]))


def conv_knrm(made: Any, query: Words, document: Words) -> float:
    known = weights(made)

    def ngrams(words: Words, length: int) -> list[np.ndarray]:
        weight = known[f"convolutions.{length - 1}.weight"]
        bias = known[f"convolutions.{length - 1}.bias"]
        found = []
        for start in range(len(words)):
            value = bias.copy()
            for position in range(length):
                if start + position < len(words):
                    value += weight[:, :, position] @ known["vectors.weight"][words[start + position]]
            found.append(np.maximum(value, 0))
        return found

    features: list[float] = []
    for a in range(1, 4):
        for b in range(1, 4):
            features += kernel_features(ngrams(query, a), ngrams(document, b))
    return squashed(made, features)


def drmm(made: Any, query: Words, document: Words) -> float:
    known = weights(made)
    vectors = known["vectors.weight"]
    scores, gates = [], []
    for q in query:
        histogram = np.zeros(30)
        for d in document:
            if d == q:
                histogram[29] += 1
            else:
                histogram[min(int((cosine(vectors[q], vectors[d]) + 1) / 2 * 29), 28)] += 1
        state = np.log(1 + histogram)
        for layer in range(2):
            state = np.tanh(known[f"matching.{layer}.weight"] @ state + known[f"matching.{layer}.bias"])
        scores.append(state[0])
        gates.append(math.exp(known["gate.weight"][0, 0] * known["idf"][q]))
    return sum(g * z for g, z in zip(gates, scores, strict=True)) / sum(gates) if gates else 0.0


def duet(made: Any, query: Words, document: Words) -> float:
    known, options = weights(made), made.options
    is_second = options.type == "duet-v2"
    activate = (lambda x: np.maximum(x, 0)) if is_second else np.tanh
    q = [*query, *[0] * options.query_words][: options.query_words]
    d = [*document, *[0] * options.document_words][: options.document_words]

    def layer(name: str, x: np.ndarray) -> np.ndarray:
        return activate(known[f"{name}.weight"] @ x + known[f"{name}.bias"])

    def inputs(word: int) -> np.ndarray:
        """What the distributed model reads of a word."""
        if is_second:
            return known["vectors.weight"][word]
        found = np.zeros(len(made.ngraphs))
        if word:
            marked = f"#{made.vocabulary.words[word - 1]}#"
            for position, ngraph in enumerate(made.ngraphs):
                found[position] = sum(marked.startswith(ngraph, start) for start in range(len(marked)))
        return found

    def windows(words: Words, name: str) -> list[np.ndarray]:
        weight, bias = known[f"{name}.weight"], known[f"{name}.bias"]
        read = {word: inputs(word) for word in set(words)}
        states = []
        for start in range(len(words) - 2):
            value = bias.copy()
            for position in range(3):
                value += weight[:, :, position] @ read[words[start + position]]
            states.append(activate(value))
        return states

    local = []
    for word in q:
        value = 1.0
        if is_second:
            value = known["idf"][word] / known["idf"].max()
        row = np.array([value * (word == other and word != 0) for other in d])
        local.append(layer("local_windows", row))
    h_local = layer("local_second", layer("local_first", np.concatenate(local)))

    e_q = layer("query_layer", np.max(windows(q, "query_windows"), axis=0))
    of_document = windows(d, "document_windows")
    pooled = []
    for start in range(len(of_document) - 99):
        most = np.max(of_document[start : start + 100], axis=0)
        pooled.append(e_q * layer("document_layer", most))
    h_distributed = layer("distributed_second", layer("distributed_first", np.concatenate(pooled)))

    def last(name: str, x: np.ndarray) -> float:
        return float(known[f"{name}.weight"][0] @ x + known[f"{name}.bias"][0])

    if is_second:
        state = layer("network_second", layer("network_first", h_local + h_distributed))
        return 0.1 * last("network_score", state)
    return math.tanh(last("local_score", h_local)) + math.tanh(last("distributed_score", h_distributed))


REFERENCES = {"knrm": knrm, "conv-knrm": conv_knrm, "drmm": drmm, "duet": duet, "duet-v2": duet}


def reference(made: Any, query: Words, document: Words) -> float:
    """The score of a pair by the formulas of the ranker's type."""
    return REFERENCES[made.options.type](made, query, document)
