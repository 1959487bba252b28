"""Rankers over a few words, with given or random weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.models.neural.ranker import NeuralRanker, draw_weights
from irpretrain.models.neural.registry import empty_ranker
from irpretrain.text.vocabulary import Vocabulary, frequent_ngraphs

LETTERS = tuple("abcdefghijklmnop")
TYPES: dict[str, dict[str, Any]] = {
    "knrm": {},
    "conv-knrm": {},
    "drmm": {},
    "duet": {"query_words": 4, "document_words": 105},
    "duet-v2": {"query_words": 5, "document_words": 108},
}
"""Options of each type; of Duets a few maxima over windows."""


def vocabulary(words: Sequence[str] = LETTERS) -> Vocabulary:
    """The words, which are all that their collection has."""
    return Vocabulary(list(words), np.arange(len(words)), len(words), "alphanumeric")


def ranker(name: str, vectors: Any = None, words: Sequence[str] = LETTERS) -> Any:
    """A ranker of a name in TYPES with drawn weights, out of training; its vectors are given, or drawn of 8 numbers."""
    options = NeuralConfig.model_validate({"type": name, **TYPES[name], "collection": "c"})
    known = vocabulary(words)
    draw = np.random.default_rng(1)
    rows = np.asarray(draw.normal(size=(len(known), 8)) if vectors is None else vectors, np.float32)
    facts = {}
    if not options.needs_vectors:
        facts["ngraphs"] = frequent_ngraphs(known.words, np.ones(len(known), int), 30, 5)
        rows = rows[:, :0]
    made = empty_ranker(options, known, rows.shape[1], facts)
    draw_weights(made, 1)
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
