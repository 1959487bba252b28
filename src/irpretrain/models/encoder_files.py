"""What can be told of an encoder's directory without loading it, so that a wrong one is refused before any job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.text import EncoderConfig
from irpretrain.errors import ConfigError, InputError
from irpretrain.given_json import read_given_json
from irpretrain.models.hub import check_folder
from irpretrain.text.word_pieces import VOCABULARIES

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
CEDR_FILE = "cedr_knrm.safetensors"
"""Where a model keeps the score head of CEDR-KNRM, which Hugging Face has no shape for."""
RERANKER_REMEDY = (
    "Give the Hugging Face directory of a cross-encoder: config.json, model.safetensors and its tokenizer."
)
FILES = "config.json, model.safetensors (weights in other files are not read) and tokenizer.json"
REMEDY = (
    f"Give the Hugging Face directory of an encoder: {FILES} or the files that transformers makes one from."
)
GENERATOR_REMEDY = f"Give the Hugging Face directory of a sequence-to-sequence model: {FILES}."


def check_encoder_files(
    directory: str | Path, options: EncoderConfig, lengths: Mapping[str, int], key: str = "encoder"
) -> None:
    """Check files, layers, vocabulary and positions of an encoder; torch is not needed.

    Args:
        directory: the Hugging Face directory.
        options: what the configuration says of it.
        lengths: key of the configuration → longest sequence that it asks for.
        key: of the configuration, where `options` stand.

    Raises:
        InputError: the directory is no encoder's, or has another vocabulary than `options` expects.
        ConfigError: more layers or longer sequences are asked for than the encoder has.
    """
    directory = Path(directory)
    _check_files(directory, (), REMEDY)
    described = read_config(directory)
    _check_files(directory, (WEIGHTS, VOCABULARIES), REMEDY)
    _check_vocabulary(directory, options.vocabulary_size, key)
    layers = described.get("num_hidden_layers")
    if options.layers is not None and isinstance(layers, int) and options.layers > layers:
        raise ConfigError(f"{key}.layers: {options.layers} layers asked for, but {directory} has {layers}")
    _check_positions(directory, described, lengths)


def check_reranker_files(directory: str | Path) -> None:
    """Check that a directory may hold a re-ranker of whatever architecture: a configuration and weights as safetensors.

    Raises:
        InputError: it is no folder, or one of these is missing.
    """
    _check_files(Path(directory), (("config.json",), WEIGHTS), RERANKER_REMEDY)


def check_model_files(directory: str | Path, remedy: str, lengths: Mapping[str, int]) -> None:
    """Check that a directory may hold a model of whatever architecture, and a tokenizer of word pieces.

    Args:
        directory: the Hugging Face directory.
        remedy: what to give instead.
        lengths: key of the configuration → longest sequence that it asks for.

    Raises:
        InputError: it is no folder, or a file is missing.
        ConfigError: longer sequences are asked for than the model has positions.
    """
    directory = Path(directory)
    _check_files(directory, (("config.json",), WEIGHTS, VOCABULARIES), remedy)
    _check_positions(directory, _read_json(directory / "config.json", remedy), lengths)


def _check_files(directory: Path, choices: Iterable[Sequence[str]], remedy: str) -> None:
    """Refuse a directory that lacks all files of a choice."""
    check_folder(directory, remedy)
    for choice in choices:
        if not any((directory / name).is_file() for name in choice):
            raise InputError(directory, f"there is no {' or '.join(choice)}", remedy=remedy)


def _check_positions(directory: Path, described: Mapping[str, Any], lengths: Mapping[str, int]) -> None:
    positions = described.get("max_position_embeddings")
    for key, length in lengths.items():
        if isinstance(positions, int) and 0 < positions < length:
            raise ConfigError(
                f"{key}: {length} is longer than the {positions} positions of the encoder {directory}; lower it"
            )


def _read_json(path: Path, remedy: str) -> dict[str, Any]:
    if not path.exists():
        raise InputError(path.parent, f"there is no {path.name}", remedy=remedy)
    content = read_given_json(path, remedy)
    if not isinstance(content, dict):
        raise InputError(path, "this is not a JSON object", remedy=remedy)
    return content


def read_config(directory: str | Path) -> dict[str, Any]:
    """Return the config.json of a Hugging Face directory.

    Raises:
        InputError: there is none, or it is not JSON.
    """
    return _read_json(Path(directory, "config.json"), REMEDY)


def _check_vocabulary(directory: Path, expected: int | None, key: str) -> None:
    if expected is None:
        return
    entries = _vocabulary_size(directory)
    if entries is not None and entries != expected:
        raise InputError(
            directory,
            f"the vocabulary has {entries:,} entries, expected {expected:,}",
            remedy=f"Set {key}.vocabulary_size to the encoder's own (null for no check), or give the right encoder.",
        )


def _vocabulary_size(directory: Path) -> int | None:
    """Entries of the vocabulary, added tokens included; None where the files do not tell without loading them."""
    path = directory / "tokenizer.json"
    if not path.is_file():
        return None
    try:
        content = read_given_json(path, REMEDY)
        added = {token["content"] for token in content.get("added_tokens", [])}
        return len(added | set(content["model"]["vocab"]))
    except (KeyError, TypeError, AttributeError):
        raise InputError(path, "this is not a tokenizer of the tokenizers library", remedy=REMEDY) from None
