"""Parameters and files of Hugging Face models: what loading and saving any of them takes."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from irpretrain.errors import ConfigError, InputError, refusing
from irpretrain.randomness import generator
from irpretrain.text.word_pieces import VOCABULARIES

if TYPE_CHECKING:
    from transformers import BertModel

TOKENIZER_FILES = (*VOCABULARIES, "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
DEVIATION = 0.02


def load_network(architecture: Any, directory: Path, remedy: str, **options: Any) -> tuple[Any, set[str]]:
    """Load a Hugging Face model as it lies in a directory: in single precision, safetensors only, none of its code run.

    Args:
        architecture: transformers' class, such as `AutoModelForSequenceClassification`.
        directory: config.json, and the weights.
        remedy: what to do about a directory that cannot be loaded.
        options: others of `from_pretrained`, such as `config`.

    Returns:
        The model, and the names of the parameters that the directory lacks or has in another shape: those are random.

    Raises:
        InputError: it cannot be loaded.
    """
    refused = refusing(directory, "the model cannot be loaded", remedy)
    with refused, quiet(), torch.random.fork_rng(devices=[]):
        network, information = architecture.from_pretrained(
            directory,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
        )
    own_memory(network)
    mismatched = {entry[0] for entry in information.get("mismatched_keys", ())}
    return network, set(information["missing_keys"]) | mismatched


def keep_layers(config: Any, layers: int | None, directory: Path) -> None:
    """Let a model that is made from a configuration have the first so many layers; None for all.

    Raises:
        ConfigError: more are asked for than the encoder has.
    """
    if layers is None:
        return
    if layers > config.num_hidden_layers:
        raise ConfigError(
            f"encoder.layers: {layers} layers asked for, but {directory} has {config.num_hidden_layers}"
        )
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]


def bert_of(network: Any) -> BertModel | None:
    """Return the encoder of a Hugging Face model, if it is a BERT."""
    return network.base_model if is_bert(network.base_model) else None


def is_bert(encoder: Any) -> bool:
    """Whether an encoder is a BERT."""
    return type(encoder).__name__ == "BertModel" and not encoder.config.is_decoder


def deviation_of(config: Any) -> float:
    """Return the standard deviation of fresh weights, BERT's where the encoder names none."""
    return float(getattr(config, "initializer_range", DEVIATION))


def own_memory(module: nn.Module) -> None:
    """Copy parameters out of the memory-mapped file.

    They lie there at any address, and matrix products round differently at addresses that are not multiples of
    the vector width: without this, a loaded model and the one that was saved differ in the last bit.
    """
    for parameter in module.parameters():
        parameter.data = parameter.data.clone()


def refuse_missing(directory: Path, missing: set[str]) -> None:
    """Raise InputError where parameters are missing: transformers has filled them with random numbers."""
    if missing:
        some = ", ".join(sorted(missing)[:3])
        raise InputError(
            directory,
            f"{len(missing)} parameters are missing or of another shape, such as {some}",
            remedy="config.json and model.safetensors must belong together.",
        )


def initialise(module: nn.Module, names: set[str], deviation: float, seed: int) -> None:
    """Draw the named parameters as BERT does: weights from N(0, deviation²), biases 0, LayerNorm's scales 1."""
    parameters = dict(module.named_parameters())
    with torch.no_grad():
        for name in sorted(names):
            parameter = parameters[name]
            if name.endswith("bias"):
                parameter.zero_()
            elif parameter.dim() == 1:
                parameter.fill_(1.0)
            else:
                drawn = generator(seed, "initialise", name).normal(0.0, deviation, tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(drawn))


def positions(network: Any) -> int | None:
    """Return the longest sequence that a Hugging Face model has position embeddings for; None where it sets no limit.

    RoBERTa and its kin number positions from one after the padding's id.
    """
    number = getattr(network.config, "max_position_embeddings", None)
    if not isinstance(number, int) or number <= 0:
        return None
    embeddings = getattr(network.base_model, "embeddings", None)
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return number if padding is None else number - padding - 1


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' loading report and progress bars; what matters of it is checked here."""
    from transformers.utils import logging as transformers_logging

    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Copy the tokenizer's files into a model's folder."""
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)


def open_weights(folder: Path) -> None:
    """Let everybody read the weights in `folder`; safetensors writes files that only their owner can read."""
    for path in folder.glob("*.safetensors"):
        path.chmod(0o644)
