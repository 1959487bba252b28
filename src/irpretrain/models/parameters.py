"""What every model over a Hugging Face network shares: parameters, files, device, longest sequence."""

import json
import logging
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn

from irpretrain.config.training import Packing
from irpretrain.foundation.atomic import atomic_directory, load_json
from irpretrain.foundation.errors import ConfigError, InputError, refusing
from irpretrain.foundation.randomness import generator
from irpretrain.models.encoder_files import WEIGHT_FILES, read_config
from irpretrain.models.linear import use_fast_linear
from irpretrain.text.pair_tokenizer import sequence_limit
from irpretrain.text.word_pieces import REMEDY, TOKENIZER_JSON, VOCABULARIES, check_json_files

TOKENIZER_FILES = {*VOCABULARIES, *TOKENIZER_JSON, "merges.txt"}
TOKENIZER_CONFIG = "tokenizer_config.json"
# Key of `TOKENIZER_CONFIG`: where transformers and sentence-transformers cut a sequence unless told otherwise.
MAX_LENGTH_KEY = "model_max_length"
# Key of config.json: how texts were read in training; transformers keeps and ignores it.
READING_KEY = "irpretrain"
DEFAULT_DEVIATION = 0.02


# Output layers of other tasks, by the beginnings of their names: the model that is loaded has its own.
#
# ModernBERT's MLM head ends in `decoder`, which is also what sequence-to-sequence models call their second half: of
# it the output layer's weights alone are harmless.
HEAD_NAMES = (
    "classifier", "cls", "discriminator_predictions", "generator_lm_head",
    "generator_predictions", "head", "lm_head", "lm_predictions", "mask_predictions", "pre_classifier",
    "predictions", "qa_outputs", "score", "sop_classifier", "vocab_layer_norm", "vocab_projector", "vocab_transform",
)  # fmt: skip

# Types in safetensors of weights that count only together with scales.
QUANTISED_TYPES = ("I8", "F8_E4M3", "F8_E5M2")

# Names of weights that a file may hold and that the model leaves out by design.
UNREAD_WEIGHTS = re.compile(
    r"(.*\.)?position_ids"  # a buffer of the numbers 0, 1, 2 …, which older versions of transformers saved
    r"|(\w+\.)?pooler\..*"  # of an encoder; classifiers of tokens, and some of sequences, read no pooled state
)

# Layer whose weights are 0 in sound models of RoBERTa's kind, which do without token types.
ZERO_LAYER = "token_type_embeddings"


def load_network(architecture: Any, directory: Path, remedy: str, **options: Any) -> tuple[Any, set[str]]:
    """Load a Hugging Face model of class `architecture`: single precision, safetensors only, none of its code run.

    Returns:
        The model, and the names of the parameters that are random: missing in the directory, or of another shape.

    Raises:
        InputError: it cannot be loaded, or has surplus weights, quantised, NaN or infinite ones, or layers of zeros.
    """
    model_config = read_config(directory, remedy)
    check_json_files(directory, WEIGHT_FILES[1:])
    with (
        refusing(directory, "the model cannot be loaded", remedy),
        quiet(),
        torch.random.fork_rng(devices=[]),
    ):
        network, loading_info = architecture.from_pretrained(
            directory,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
        )
        # Nothing here reads them, and transformers refuses to save a configuration that has the first.
        network.config.output_attentions = network.config.output_hidden_states = False
        network.config.return_dict = True  # outputs are read by name
        # Some wrong values of config.json pass until a network computes: DeBERTa's pooler_hidden_act.
        with torch.inference_mode():
            network.eval()(input_ids=torch.zeros((1, 2), dtype=torch.int64))
    copy_parameters(network)
    mismatched_weights = {entry[0] for entry in loading_info.get("mismatched_keys", ())}
    missing_names = set(loading_info["missing_keys"]) | mismatched_weights
    _refuse_extra(directory, model_config, network, set(loading_info["unexpected_keys"]), missing_names)
    _refuse_quantised(directory)
    refuse_broken(directory, network, missing_names)
    return network, missing_names


def _refuse_extra(
    directory: Path,
    model_config: Mapping[str, Any],
    network: Any,
    extra_weights: set[str],
    missing_names: set[str],
) -> None:
    """Raise InputError where the file has weights that the model should read and does not."""
    loaded_heads = {name for name, _ in network.named_children()} - {
        name.partition(".")[0] for name in missing_names
    }
    name_of_layers = network.config.attribute_map.get("num_hidden_layers", "num_hidden_layers")
    layer_count, file_layer_count = (
        count if isinstance(count, int) else 0
        for count in (getattr(network.config, name_of_layers, 0), model_config.get(name_of_layers))
    )
    dropped_layers = range(layer_count, file_layer_count)  # by `keep_layers`

    def is_harmless(name: str) -> bool:
        layer = re.search(r"(?:^|\.)layers?\.(\d+)\.", name)
        if UNREAD_WEIGHTS.fullmatch(name) or (layer is not None and int(layer[1]) in dropped_layers):
            return True
        head = name.partition(".")[0]
        return (head in HEAD_NAMES and head not in loaded_heads) or name in ("decoder.weight", "decoder.bias")

    position_type = str(getattr(network.config, "position_embedding_type", None))
    if position_type.startswith("relative_key") and not any(
        "distance_embedding" in n for n, _ in network.named_modules()
    ):
        raise InputError(
            directory,
            f"config.json has position_embedding_type {position_type}, which this version of transformers does not "
            "compute",
            remedy="Take an encoder with absolute position embeddings.",
        )
    if unread_weights := sorted(name for name in extra_weights if not is_harmless(name)):
        raise InputError(
            directory,
            f"model.safetensors holds {len(unread_weights)} weights that the model of its config.json does not read, "
            f"such as {', '.join(unread_weights[:3])}",
            remedy="config.json and model.safetensors must belong together: layers and position embeddings too.",
        )


def _refuse_quantised(directory: Path) -> None:
    """Raise InputError where weights are quantised: they would be read without their scales."""
    for file in sorted(directory.glob("model*.safetensors")):
        with safe_open(file, "pt") as weights:
            for name in weights.keys():  # noqa: SIM118 (no mapping)
                if (number_type := weights.get_slice(name).get_dtype()) in QUANTISED_TYPES:
                    raise InputError(
                        file,
                        f"the weights {name} are of type {number_type}",
                        remedy="Quantised models are not read; take the model in single or half precision.",
                    )


def refuse_broken(path: Path, module: nn.Module, drawn_names: Set[str] = frozenset()) -> None:
    """Raise InputError where a weight is NaN or infinite, or all weights of a layer are 0, as in a torn file.

    Args:
        path: file of the weights, or folder of a Hugging Face model.
        drawn_names: names of the parameters that are not from the file.
    """
    file = path / "model.safetensors" if (path / "model.safetensors").is_file() else path
    for name, parameter in module.named_parameters():
        # One pass over the weights, without a copy: both are NaN where a weight is.
        smallest, largest = map(float, parameter.detach().aminmax()) if parameter.numel() else (0.0, 0.0)
        if not (math.isfinite(smallest) and math.isfinite(largest)):
            fault = "hold NaN or infinity"
        elif (
            name.endswith("weight")
            and ZERO_LAYER not in name
            and name not in drawn_names
            and smallest == largest == 0
        ):
            fault = "are all 0: the file may be torn"
        else:
            continue
        raise InputError(file, f"the weights {name} {fault}", remedy="Get the model anew, or take another.")


def keep_layers(config: Any, layers: int | None, directory: Path) -> None:
    """Cut a configuration to the first `layers` layers; ConfigError if the encoder has fewer."""
    if layers is None:
        return
    if layers > config.num_hidden_layers:
        raise ConfigError(
            f"encoder.layers: {layers} layers asked for, but {directory} has {config.num_hidden_layers}"
        )
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]


def is_bert(encoder: Any) -> bool:
    return type(encoder).__name__ == "BertModel" and not encoder.config.is_decoder


def deviation_of(config: Any) -> float:
    """Return the standard deviation of fresh weights, BERT's where the encoder names none."""
    return float(getattr(config, "initializer_range", DEFAULT_DEVIATION))


def copy_parameters(module: nn.Module) -> None:
    """Copy parameters out of the memory-mapped file."""
    # Matrix products round differently at addresses that are not multiples of the vector width: without this, a
    # loaded and a saved model differ in the last bit.
    for parameter in module.parameters():
        parameter.data = parameter.data.clone()


def refuse_missing(directory: Path, missing_names: set[str]) -> None:
    """Raise InputError where parameters are missing: transformers has filled them with random numbers."""
    if missing_names:
        examples = ", ".join(sorted(missing_names)[:3])
        raise InputError(
            directory,
            f"{len(missing_names)} parameters are missing or of another shape, such as {examples}",
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
                values = generator(seed, "initialise", name).normal(0.0, deviation, tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(values))


def max_positions(network: Any) -> int | None:
    """Return the longest sequence that a Hugging Face model has position embeddings for; None without a limit."""
    position_count = getattr(network.config, "max_position_embeddings", None)
    if not isinstance(position_count, int) or position_count <= 0:
        return None
    embeddings = getattr(network.base_model, "embeddings", None)
    padding_index = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    # RoBERTa and its kin number positions from one after the padding's id.
    return position_count if padding_index is None else position_count - padding_index - 1


def check_embeddings(network: Any, needed_count: int, directory: str | Path) -> None:
    """Raise InputError if the tokenizer in a model's directory needs more embeddings than the model has."""
    embedding_count = network.get_input_embeddings().weight.shape[0]
    if needed_count > embedding_count:
        raise InputError(
            directory,
            f"the tokenizer needs {needed_count:,} embeddings but the model has only {embedding_count:,}",
            remedy="Model and tokenizer must belong together.",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' loading report and progress bars; what matters of it is checked here."""
    from transformers.utils import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    shows_bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if shows_bars:
            transformers_logging.enable_progress_bar()


def copy_tokenizer(source: Path, folder: Path, max_length: int | None = None) -> None:
    """Copy the files of a tokenizer; `max_length` is where it cuts a sequence, in word pieces; None: as before."""
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)
    if max_length is not None:
        tokenizer_config = _tokenizer_config(folder) | {MAX_LENGTH_KEY: max_length}
        text = json.dumps(tokenizer_config, indent=2, ensure_ascii=False) + "\n"
        (folder / TOKENIZER_CONFIG).write_text(text, encoding="utf-8")


def longest_sequence(directory: Path) -> int | None:
    """Return where the tokenizer of a model's directory cuts a sequence, in word pieces; None without a limit."""
    return sequence_limit(_tokenizer_config(directory).get(MAX_LENGTH_KEY))


def _tokenizer_config(directory: Path) -> dict[str, Any]:
    path = directory / TOKENIZER_CONFIG
    tokenizer_config = load_json(path, REMEDY) if path.is_file() else {}
    if not isinstance(tokenizer_config, dict):
        raise InputError(path, "this is not a JSON object", remedy=REMEDY)
    return tokenizer_config


def open_weights(folder: Path) -> None:
    """Let everybody read the weights in `folder`; safetensors writes files that only their owner can read."""
    for path in folder.glob("*.safetensors"):
        path.chmod(0o644)


class HubModel(nn.Module):
    """A model over a Hugging Face classifier, saved as a Hugging Face directory.

    Attributes:
        classifier: encoder and output layer, a Hugging Face model, by which saved states name the weights.
        tokenizer_directory: source of the tokenizer's files for `save`.
        packing: whether sequences of a BERT are laid end to end; see `ComputeConfig.packing`.
        trained_length: longest sequence of its training, in word pieces; None: untrained, or unknown. A saved model
            names it, so that other tools cut sequences there too.
        trained_reading: keys of section reranking beside the length, by which texts were read in training: query_length
            and passages. A saved model names them in its config.json, as READING.
        takes_types: whether the network is given token types.
        reads_all_layers: whether hidden states of all layers are read, as only the padded encoder gives them.
    """

    packing: Packing = "off"
    trained_length: int | None = None
    trained_reading: Mapping[str, Any] = {}
    takes_types = True
    reads_all_layers = False

    def __init__(self, classifier: Any, tokenizer_directory: Path) -> None:
        super().__init__()
        self.classifier, self.tokenizer_directory = classifier, tokenizer_directory
        use_fast_linear(self)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def encoder(self) -> Any:
        return self.classifier.base_model

    def limits(self) -> list[int]:
        """Return the longest sequences that parts of the model can read, as far as they have such limits."""
        longest = max_positions(self.classifier)
        return [] if longest is None else [longest]

    def check_length(self, max_length: int, key: str) -> None:
        """Raise ConfigError, naming the configuration's `key`, if sequences may exceed the encoder's positions."""
        position_count = min(self.limits(), default=max_length)
        if max_length > position_count:
            raise ConfigError(
                f"{key}: {max_length} is longer than the encoder's {position_count} positions; lower it"
            )

    def save(self, directory: str | Path) -> None:
        with atomic_directory(directory) as folder:
            self.write_files(folder)

    def write_files(self, folder: Path) -> None:
        """Write the model's files into an existing folder; equal weights give equal bytes."""
        if self.trained_reading:
            setattr(self.classifier.config, READING_KEY, dict(self.trained_reading))
        with quiet():
            self.classifier.save_pretrained(folder)
        copy_tokenizer(self.tokenizer_directory, folder, self.trained_length)
        open_weights(folder)
