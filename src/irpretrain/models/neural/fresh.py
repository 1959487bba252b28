"""A ranker over words before training: the words and word vectors of a collection, and drawn weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from irpretrain.config.neural import DuetConfig, NeuralConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import WORD_COUNTS
from irpretrain.models.neural.duet import NGRAPH_LENGTH, NGRAPHS
from irpretrain.models.neural.ranker import NeuralRanker, draw_weights
from irpretrain.models.neural.registry import empty_ranker
from irpretrain.randomness import generator
from irpretrain.text.ngraphs import frequent_ngraphs
from irpretrain.text.statistics import read_totals
from irpretrain.text.vocabulary import Vocabulary
from irpretrain.text.word_vectors import WordVectors


def make_neural_ranker(
    options: NeuralConfig,
    statistics: str | Path,
    vectors: str | Path | None,
    text: TextConfig,
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Write a ranker over words with fresh weights.

    Args:
        options: type, and which words it reads.
        statistics: merged WORD_COUNTS of the collection.
        vectors: its word vectors; None for a ranker that reads none.
        text: how texts are cut into words.
        seed: of the weights, and of the vectors of words without one.
        output: directory to write.

    Returns:
        Counts: words known and left out, known words without a vector, parameters that training changes.

    Raises:
        ConfigError: no word is left.
        ValueError: the ranker reads vectors, and none are given.
        IntegrityError: the vectors are damaged, or of another collection.
    """
    vocabulary = Vocabulary.of_collection(
        statistics, text.word_kind, options.minimum_count, options.stop_list
    )
    columns = WORD_COUNTS.read(statistics, ["count", "documents"])
    counts, documents = (columns[name].to_numpy()[vocabulary.numbers] for name in ("count", "documents"))
    facts: dict[str, Any] = {}
    if isinstance(options, DuetConfig):
        facts["ngraphs"] = frequent_ngraphs(vocabulary.words, counts, NGRAPHS, NGRAPH_LENGTH)
    rows, without = np.zeros((len(vocabulary), 0), np.float32), 0
    if options.needs_vectors:
        if vectors is None:
            raise ValueError(f"{options.type} reads word vectors; none are given")
        opened = WordVectors.open(vectors, vocabulary.collection_words)
        rows, without = with_drawn(opened.rows[vocabulary.numbers], seed)
    ranker = empty_ranker(options, vocabulary, rows.shape[1], facts)
    draw_weights(ranker, seed)
    _fill(ranker, rows, idf(documents, read_totals(statistics).documents))
    ranker.save(output)
    trained = sum(parameter.numel() for parameter in ranker.parameters() if parameter.requires_grad)
    return {
        "words": len(vocabulary),
        "words_left_out": vocabulary.collection_words - len(vocabulary),
        "words_without_vector": without,
        "trained_parameters": trained,
    }


def idf(documents: np.ndarray, collection_documents: int) -> np.ndarray:
    """Return ln(documents of the collection / documents that hold the word), float32."""
    return np.log(collection_documents / np.maximum(documents, 1)).astype(np.float32)


def with_drawn(rows: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """Return vectors in which those that are zero are drawn, and how many these are.

    They are drawn from a normal distribution with the others' mean square, so that a word without a vector is similar
    to itself alone.
    """
    lacking = ~rows.any(axis=1)
    nonzero = rows[~lacking].astype(np.float64)
    deviation = float(np.sqrt(np.mean(nonzero**2))) if len(nonzero) else 1.0
    filled = rows.copy()
    drawn = generator(seed, "initialise", "word vectors").normal(
        0.0, deviation, (int(lacking.sum()), rows.shape[1])
    )
    filled[lacking] = drawn.astype(np.float32)
    return filled, int(lacking.sum())


def _fill(ranker: NeuralRanker, rows: np.ndarray, weights: np.ndarray) -> None:
    """Put word vectors and idf where the ranker has them; padding, the row 0, keeps its zeros."""
    with torch.no_grad():
        for module in ranker.modules():
            if isinstance(module, nn.Embedding):
                module.weight[1:] = torch.from_numpy(rows)
        for name, buffer in ranker.named_buffers():
            if name == "idf":
                buffer[1:] = torch.from_numpy(weights)
