"""Rankers over a few words, with given or random weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from irpretrain.models.neural.ranker import NeuralRanker, draw_weights
from irpretrain.models.neural.registry import OPTIONS, empty_ranker
from irpretrain.text.ngraphs import frequent_ngraphs
from irpretrain.text.vocabulary import Vocabulary

LETTERS = tuple("abcdefghijklmnop")
TYPES: dict[str, dict[str, Any]] = {
    "knrm": {"type": "knrm"},
    "knrm-linear": {"type": "knrm", "score": "linear", "kernels": 21, "embeddings": "frozen"},
    "conv-knrm": {"type": "conv-knrm", "filters": 6},
    "conv-knrm-equal": {"type": "conv-knrm", "filters": 6, "ngrams": 2, "cross_match": False},
    "drmm": {"type": "drmm"},
    "drmm-vector": {"type": "drmm", "gate": "vector", "bins": 7, "hidden": [4, 3], "histogram": "normalised"},
    "drmm-count": {"type": "drmm", "bins": 5, "histogram": "count"},
    "duet": {"type": "duet", "query_words": 4, "document_words": 9, "hidden": 5, "pooling": 3, "ngraphs": 30},
    "duet-v2": {"type": "duet-v2", "query_words": 5, "document_words": 12, "hidden": 6, "pooling": 4},
    "duet-mixed": {
        "type": "duet",
        "query_words": 4,
        "document_words": 9,
        "hidden": 5,
        "pooling": 3,
        "distributed": "words",
        "matches": "idf",
        "activation": "relu",
    },
}
"""Options of each type and of its variants, by name; small where a size would cost time."""


def vocabulary(words: Sequence[str] = LETTERS) -> Vocabulary:
    """The words, which are all that their collection has."""
    return Vocabulary(list(words), np.arange(len(words)), len(words), "alphanumeric")


def ranker(
    name: str = "knrm", vectors: Any = None, words: Sequence[str] = LETTERS, seed: int = 1, **changes: Any
) -> Any:
    """A ranker of a name in TYPES with drawn weights, out of training; its vectors are given, or drawn of 8 numbers."""
    options = OPTIONS.validate_python({**TYPES[name], "collection": "c", **changes})
    known = vocabulary(words)
    draw = np.random.default_rng(seed)
    rows = np.asarray(draw.normal(size=(len(known), 8)) if vectors is None else vectors, np.float32)
    facts = {}
    if getattr(options, "distributed", "") == "ngraphs":
        facts["ngraphs"] = frequent_ngraphs(known.words, np.ones(len(known), int), options.ngraphs, 5)
        rows = rows[:, :0]
    made = empty_ranker(options, known, rows.shape[1], facts)
    draw_weights(made, seed)
    with torch.no_grad():
        for parameter_name, parameter in made.named_parameters():
            if parameter_name.endswith("bias"):
                parameter.copy_(torch.from_numpy(draw.normal(size=tuple(parameter.shape))))
            elif parameter_name == "vectors.weight":
                parameter[1:] = torch.from_numpy(rows)
        if hasattr(made, "idf"):
            made.idf[1:] = torch.from_numpy(draw.uniform(0.1, 5, len(known)))
    return made.eval()


def ids(*texts: Sequence[int], width: int = 0) -> torch.Tensor:
    """Texts of word ids as a padded batch, at least `width` wide."""
    longest = max(width, 1, *map(len, texts))
    return torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])


def score(made: NeuralRanker, query: Sequence[int], document: Sequence[int]) -> float:
    """The score of one pair by itself."""
    with torch.inference_mode():
        return float(made(ids(query), ids(document))[0])
