"""What can be told of an encoder's directory without loading it, so that a wrong one is refused before any job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from irpretrain.config.text import EncoderConfig
from irpretrain.errors import ConfigError, InputError

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
TOKENIZERS = ("tokenizer.json", "vocab.txt")
REMEDY = "Give the Hugging Face directory of a BERT-architecture encoder: config.json, model.safetensors and "
REMEDY += "tokenizer.json or vocab.txt."


def check_encoder_files(directory: str | Path, options: EncoderConfig, lengths: Mapping[str, int]) -> None:
    """Check files, architecture, layers, vocabulary and positions of an encoder; torch is not needed.

    Args:
        directory: the Hugging Face directory.
        options: section `encoder` of the configuration.
        lengths: key of the configuration → longest sequence that it asks for.

    Raises:
        InputError: the directory is not a BERT encoder's, or has another vocabulary than `options` expects.
        ConfigError: more layers or longer sequences are asked for than the encoder has.
    """
    directory = Path(directory)
    if not directory.is_dir():
        missing = "this is a file, not a folder" if directory.is_file() else "there is no such folder"
        raise InputError(directory, missing, remedy=REMEDY)
    described = read_config(directory)
    for choice in (WEIGHTS, TOKENIZERS):
        if not any((directory / name).is_file() for name in choice):
            raise InputError(directory, f"there is no {' or '.join(choice)}", remedy=REMEDY)
    _check_vocabulary(directory, options.vocabulary_size)
    layers = described.get("num_hidden_layers")
    if options.layers is not None and isinstance(layers, int) and options.layers > layers:
        raise ConfigError(f"encoder.layers: {options.layers} layers asked for, but {directory} has {layers}")
    positions = described.get("max_position_embeddings")
    for key, length in lengths.items():
        if isinstance(positions, int) and length > positions:
            raise ConfigError(
                f"{key}: {length} is longer than the {positions} positions of the encoder {directory}; lower it"
            )


def check_reranker_files(directory: str | Path) -> None:
    """Check that a directory may hold a re-ranker of whatever architecture: a configuration and weights as safetensors.

    Raises:
        InputError: it is no folder, or one of these is missing.
    """
    directory = Path(directory)
    remedy = "Give the Hugging Face directory of a cross-encoder: config.json, model.safetensors and its tokenizer."
    if not directory.is_dir():
        raise InputError(directory, "there is no such folder", remedy=remedy)
    for choice in (("config.json",), WEIGHTS):
        if not any((directory / name).is_file() for name in choice):
            raise InputError(directory, f"there is no {' or '.join(choice)}", remedy=remedy)


def read_config(directory: str | Path) -> dict[str, Any]:
    """Return the config.json of a Hugging Face directory.

    Raises:
        InputError: there is none, it is not JSON, or the model is not of the BERT architecture.
    """
    path = Path(directory, "config.json")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path.parent, f"there is no {path.name}", remedy=REMEDY) from None
    except ValueError as error:
        raise InputError(path, f"this is not JSON: {error}", remedy=REMEDY) from None
    kind = found.get("model_type", "bert") if isinstance(found, dict) else None
    if kind != "bert":
        raise InputError(path, f"the encoder is of type {kind!r}, not 'bert'", remedy=REMEDY)
    return dict(found)


def _check_vocabulary(directory: Path, expected: int | None) -> None:
    if expected is None:
        return
    found = _vocabulary_size(directory)
    if found is not None and found != expected:
        raise InputError(
            directory,
            f"the vocabulary has {found:,} entries, expected were {expected:,}",
            remedy="Set encoder.vocabulary_size to the encoder's own (null for no check), or give the right encoder.",
        )


def _vocabulary_size(directory: Path) -> int | None:
    """Entries of the vocabulary, added tokens included; None where the files do not tell without loading them."""
    path = directory / "tokenizer.json"
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        added = {token["content"] for token in content.get("added_tokens", [])}
        return len(added | set(content["model"]["vocab"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(path, "this is not a tokenizer of the tokenizers library", remedy=REMEDY) from None
