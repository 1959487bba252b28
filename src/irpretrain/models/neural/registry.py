"""Rankers over words by type, fresh or from their directory."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from irpretrain.config.base import explain
from irpretrain.config.finetuning import NeuralConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import InputError, refusing
from irpretrain.foundation.randomness import generator
from irpretrain.models.neural.duet import MAX_NGRAPH_LENGTH, NGRAPH_COUNT, Duet
from irpretrain.models.neural.knrm import ConvKnrm, Drmm, Knrm
from irpretrain.models.neural.ranker import MODEL_TYPE, NeuralRanker, draw_weights
from irpretrain.models.parameters import copy_parameters, refuse_broken
from irpretrain.text.statistics import read_totals
from irpretrain.text.vocabulary import Vocabulary, frequent_ngraphs
from irpretrain.text.word_vectors import open_word_vectors

RANKERS: dict[str, type[Any]] = {
    "knrm": Knrm,
    "conv-knrm": ConvKnrm,
    "drmm": Drmm,
    "duet": Duet,
    "duet-v2": Duet,
}


def _read_ranker_config(directory: str | Path) -> dict[str, Any] | None:
    """Return the config.json of a ranker over words; None for any other directory."""
    try:
        model_config = json.loads((Path(directory) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ranker = isinstance(model_config, dict) and model_config.get("model_type") == MODEL_TYPE
    return model_config if is_ranker else None


def is_neural_ranker(directory: str | Path) -> bool:
    return _read_ranker_config(directory) is not None


def empty_ranker(
    options: NeuralConfig, vocabulary: Vocabulary, dimensions: int, facts: dict[str, Any]
) -> NeuralRanker:
    """Return a ranker of the options' type; its weights are still to be drawn or read."""
    ranker: NeuralRanker = RANKERS[options.type](options, vocabulary, dimensions, **facts)
    return ranker


def load_neural_ranker(directory: str | Path) -> NeuralRanker:
    """Load a saved ranker; InputError if there is none, or its files do not belong together."""
    directory = Path(directory)
    if (model_config := _read_ranker_config(directory)) is None:
        raise InputError(directory, "this is not a ranker over words")
    with refusing(directory, "the ranker cannot be loaded"):
        vocabulary = Vocabulary.read(directory, model_config["collection_words"], model_config["words"])
        options = explain(NeuralConfig, model_config["options"], "config.json: options")
        ranker = empty_ranker(options, vocabulary, model_config["dimensions"], model_config["facts"])
        ranker.load_state_dict(load_file(directory / "model.safetensors"))
    copy_parameters(ranker)
    refuse_broken(directory, ranker)
    return ranker


def make_neural_ranker(
    options: NeuralConfig,  # type, and which words it reads
    statistics: str | Path,  # merged WORD_COUNTS of the collection
    vectors: str | Path | None,  # its word vectors; None for a ranker that reads none
    text: TextConfig,  # how texts are cut into words
    seed: int,  # of the weights, and of the vectors of words without one
    output: str | Path,  # directory to write
) -> dict[str, Any]:
    """Write a ranker over words with fresh weights.

    Returns:
        Counts: words known and left out, known words without a vector, parameters that training changes.

    Raises:
        ConfigError: no word is left.
        ValueError: the ranker reads vectors, and there are none.
        IntegrityError: the vectors are damaged, or of another collection.
    """
    vocabulary = Vocabulary.of_collection(statistics, text.word_kind, options.minimum_count)
    columns = WORD_COUNTS.read(statistics, ["count", "documents"])
    counts, documents = (columns[name].to_numpy()[vocabulary.word_numbers] for name in ("count", "documents"))
    facts: dict[str, Any] = {}
    if options.type == "duet":
        facts["ngraphs"] = frequent_ngraphs(vocabulary.words, counts, NGRAPH_COUNT, MAX_NGRAPH_LENGTH)
    vector_rows, words_without_vector = np.zeros((len(vocabulary), 0), np.float32), 0
    if options.needs_vectors:
        if vectors is None:
            raise ValueError(f"{options.type} reads word vectors; none are given")
        word_vectors = open_word_vectors(vectors, vocabulary.collection_words)
        vector_rows, words_without_vector = draw_missing_vectors(word_vectors[vocabulary.word_numbers], seed)
    ranker = empty_ranker(options, vocabulary, vector_rows.shape[1], facts)
    draw_weights(ranker, seed)
    _set_vectors(ranker, vector_rows, idf(documents, read_totals(statistics).documents))
    ranker.save(output)
    trained_parameters = [parameter for parameter in ranker.parameters() if parameter.requires_grad]
    return {
        "words": len(vocabulary),
        "words_left_out": vocabulary.collection_words - len(vocabulary),
        "words_without_vector": words_without_vector,
        "trained_parameters": sum(parameter.numel() for parameter in trained_parameters),
    }


def idf(document_frequencies: np.ndarray, collection_size: int) -> np.ndarray:
    """Return ln(documents of the collection / documents that hold the word), float32."""
    return np.log(collection_size / np.maximum(document_frequencies, 1)).astype(np.float32)


def draw_missing_vectors(vectors: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """Return vectors with the zero ones replaced by random ones, and how many these are."""
    is_missing = ~vectors.any(axis=1)
    known_vectors = vectors[~is_missing].astype(np.float64)
    deviation = float(np.sqrt(np.mean(known_vectors**2))) if len(known_vectors) else 1.0
    filled_vectors = vectors.copy()
    # From a normal distribution with the others' mean square: a word without a vector is similar to itself alone.
    drawn_vectors = generator(seed, "initialise", "word vectors").normal(
        0.0, deviation, (int(is_missing.sum()), vectors.shape[1])
    )
    filled_vectors[is_missing] = drawn_vectors.astype(np.float32)
    return filled_vectors, int(is_missing.sum())


def _set_vectors(ranker: NeuralRanker, vectors: np.ndarray, idf_values: np.ndarray) -> None:
    """Put word vectors and idf where the ranker has them; padding, the row 0, keeps its zeros."""
    with torch.no_grad():
        for module in ranker.modules():
            if isinstance(module, nn.Embedding):
                module.weight[1:] = torch.from_numpy(vectors)
        for name, buffer in ranker.named_buffers():
            if name == "idf":
                buffer[1:] = torch.from_numpy(idf_values)
