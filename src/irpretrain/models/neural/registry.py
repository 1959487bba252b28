"""Rankers over words by type, fresh or from their directory."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file

from irpretrain.config.explain import listed_faults
from irpretrain.config.neural import NeuralConfig
from irpretrain.errors import InputError, IRPretrainError
from irpretrain.models.neural.ranker import MODEL_TYPE, NeuralRanker
from irpretrain.models.parameters import own_memory
from irpretrain.text.vocabulary import Vocabulary

OPTIONS: TypeAdapter[NeuralConfig] = TypeAdapter(NeuralConfig)


def is_neural_ranker(directory: str | Path) -> bool:
    """Whether a model's directory holds a ranker over words."""
    try:
        described = json.loads((Path(directory) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(described, dict) and described.get("model_type") == MODEL_TYPE


def empty_ranker(
    options: NeuralConfig, vocabulary: Vocabulary, dimensions: int, facts: dict[str, Any]
) -> NeuralRanker:
    """Return a ranker of the options' type; its weights are still to be drawn or read."""
    module, _, name = options.ranker.partition(".")
    ranker: type[NeuralRanker] = getattr(import_module(f"irpretrain.models.neural.{module}"), name)
    return ranker(options, vocabulary, dimensions, **facts)


def load_neural_ranker(directory: str | Path) -> NeuralRanker:
    """Load a saved ranker.

    Raises:
        InputError: the directory holds no such ranker, or its files do not belong together.
    """
    directory = Path(directory)
    if not is_neural_ranker(directory):
        raise InputError(directory, "this is not a ranker over words")
    described = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    try:
        vocabulary = Vocabulary.read(directory, described["collection_words"], described["words"])
        options = OPTIONS.validate_python(described["options"])
        ranker = empty_ranker(options, vocabulary, described["dimensions"], described["facts"])
        ranker.load_state_dict(load_file(directory / "model.safetensors"))
    except (
        OSError, ValidationError, KeyError, TypeError, SafetensorError, RuntimeError, IRPretrainError,
    ) as error:  # fmt: skip
        described_error = listed_faults(error) if isinstance(error, ValidationError) else str(error)
        reason = " ".join(described_error.split())[:300]
        raise InputError(directory, f"the ranker cannot be loaded: {reason}") from None
    own_memory(ranker)
    return ranker
