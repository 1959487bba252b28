"""Names of models on Hugging Face's hub, and checks of an encoder's directory before any job, without loading it."""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.atomic import load_json
from irpretrain.foundation.errors import ConfigError, InputError, need_folder
from irpretrain.foundation.files import refuse_pipe
from irpretrain.foundation.resources import parse_yaml
from irpretrain.text.word_pieces import TOKENIZER_JSON, VOCABULARIES, check_json_files

# Owner and name, such as google-bert/bert-base-uncased, and after @ a revision: a commit, tag or branch.
HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(?:@[\w./-]+)?")


def hub_name(folder: str) -> str:
    """Return the name of the model that a folder of the hub's cache holds; nothing for any other folder."""
    match = re.search(r"(?:^|/)models--([^/]+?)--([^/]+)/snapshots/[^/]+/?$", folder)
    return f"{match[1]}/{match[2]}" if match else ""


def hub_command(name: str) -> str:
    """Return the command that downloads what is read of a model."""
    repository, _, revision = name.partition("@")
    files = " ".join(f"--include '{pattern}'" for pattern in ("*.json", "*.safetensors", "*.txt"))
    return f"hf download {repository} {files}" + (f" --revision {revision}" if revision else "")


def cached_model(name: str) -> Path | None:
    """Return the folder of a model in the hub's cache (HF_HOME); None if absent, or if the name is a local folder."""
    if not HUB_NAME.fullmatch(name) or os.path.exists(name):
        return None
    from huggingface_hub import snapshot_download  # what is read of the hub is seldom needed
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repository, revision=revision or None, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def hub_remedy(name: str) -> str:
    """Return advice for a missing model whose name may be one of the hub's; else an empty string."""
    if HUB_NAME.fullmatch(name):
        return f"\n  If it names a model of Hugging Face's hub: `{hub_command(name)}` downloads it."
    if "/" not in name:
        return "\n  A model of Hugging Face's hub is named with its owner, such as google-bert/bert-base-uncased."
    return ""


def model_directory(name: str | Path, remedy: str) -> Path:
    """Return the directory of a model named by a path or as on the hub; nothing is downloaded.

    Raises:
        InputError: no such folder, and the hub's cache lacks the model or files of it; the message ends in `remedy`.
    """
    cached_directory = cached_model(str(name))
    for files in ("config.json", "*.safetensors"):
        if cached_directory and not any(cached_directory.glob(files)):
            download = f"`{hub_command(str(name))}` downloads it."
            raise InputError(name, f"there is no {files} in {cached_directory}", remedy=download)
    directory = cached_directory or Path(name)
    need_folder(directory, remedy + hub_remedy(str(directory)))
    _refuse_pipes(directory)
    return directory


def _refuse_pipes(directory: Path) -> None:
    """Raise InputError for a pipe or a device among the files of a model: libraries would read it for ever."""
    for path in sorted(directory.iterdir()):
        refuse_pipe(path)


WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json")
JSON_FILES = (*TOKENIZER_JSON, WEIGHT_FILES[1])  # beside config.json

# Where a model keeps the score head of CEDR-KNRM, which Hugging Face has no shape for.
CEDR_FILE = "cedr_knrm.safetensors"
RERANKER_REMEDY = (
    "Give the Hugging Face directory of a cross-encoder: config.json, model.safetensors and its tokenizer."
)
FILE_NAMES = "config.json, model.safetensors (weights in other files are not read) and tokenizer.json"

# Keys of config.json, ALBERT's and DistilBERT's too: whole numbers from 1, pairs that must divide, numbers from 0.
SIZE_KEYS = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size", "embedding_size",
    "num_hidden_groups", "inner_group_num", "dim", "n_layers", "n_heads", "hidden_dim",
)  # fmt: skip
DIVISIBLE_KEYS = (("hidden_size", "num_attention_heads"), ("dim", "n_heads"))
DEVIATION_KEYS = ("initializer_range", "initializer_cutoff_factor", "layer_norm_eps", "norm_eps")
REMEDY = f"Give the Hugging Face directory of an encoder: {FILE_NAMES} or the files that transformers makes one from."


def card_languages(directory: str | Path) -> list[str]:
    """Return the languages that a model's card names (its front matter's `language`), none without such a card."""
    try:
        card = (Path(directory) / "README.md").read_text(encoding="utf-8", errors="replace")
        front_matter = re.match(r"---\n(.*?)\n---", card, re.DOTALL)
        languages = (parse_yaml(front_matter[1]) or {}).get("language", []) if front_matter else []
    except Exception:  # no card, or one that PyYAML cannot read: it raises nearly anything
        return []
    return [str(code).lower() for code in (languages if isinstance(languages, list) else [languages]) if code]


def check_encoder_files(
    directory: str | Path, options: EncoderConfig, lengths: Mapping[str, int], key: str = "encoder"
) -> None:
    """Check files, layers, vocabulary and positions of an encoder, without torch.

    Args:
        lengths: configuration key → longest sequence that it sets.
        key: of the configuration section of `options`.

    Raises:
        InputError: there is no encoder, or one with another vocabulary.
        ConfigError: the encoder has fewer layers or positions.
    """
    directory = Path(directory)
    encoder_config = _check_files(directory, (WEIGHT_FILES, VOCABULARIES), REMEDY)
    _check_vocabulary(directory, options.vocabulary_size, key)
    layers = encoder_config.get("num_hidden_layers")
    if options.layers is not None and isinstance(layers, int) and options.layers > layers:
        raise ConfigError(f"{key}.layers: {options.layers} layers asked for, but {directory} has {layers}")
    positions = encoder_config.get("max_position_embeddings")
    for length_key, length in lengths.items():
        if isinstance(positions, int) and 0 < positions < length:
            raise ConfigError(
                f"{length_key}: {length} is longer than the {positions} positions of the encoder {directory}; lower it"
            )


def check_reranker_files(directory: str | Path) -> None:
    """Check that a directory may hold a re-ranker; InputError without a usable config.json or safetensors."""
    _check_files(Path(directory), (WEIGHT_FILES,), RERANKER_REMEDY)


def _check_files(directory: Path, choices: Iterable[Sequence[str]], remedy: str) -> dict[str, Any]:
    """Return the config.json, once one file of each choice is there."""
    need_folder(directory, remedy + hub_remedy(str(directory)))
    _refuse_pipes(directory)
    model_config = read_config(directory, remedy)
    for choice in choices:
        if not any((directory / name).is_file() for name in choice):
            raise InputError(directory, f"there is no {' or '.join(choice)}", remedy=remedy)
    check_json_files(directory, JSON_FILES)
    return model_config


def read_config(directory: str | Path, remedy: str = REMEDY) -> dict[str, Any]:
    """Return the config.json of a Hugging Face directory; InputError if it is missing, no JSON or has odd numbers."""
    path = Path(directory, "config.json")
    if not os.path.exists(path):
        raise InputError(directory, "there is no config.json", remedy=remedy)
    model_config = load_json(path, remedy)
    if not isinstance(model_config, dict):
        raise InputError(path, "this is not a JSON object", remedy=remedy)
    if fault := _value_fault(model_config):
        raise InputError(path, fault, remedy=remedy)
    return model_config


def _value_fault(model_config: Mapping[str, Any]) -> str | None:
    """Return which value of config.json fails or spoils a later step, though libraries may read it; None if sound."""
    for key, value in model_config.items():
        is_number = type(value) in (int, float)  # no truth value
        maximum = 1 if "dropout" in key else math.inf
        if value is None:
            continue
        if key in SIZE_KEYS and (type(value) is not int or value < 1):
            expected = "a whole number from 1"
        elif (key in DEVIATION_KEYS or maximum == 1) and not (is_number and 0 <= value <= maximum):
            expected = "a number from 0 to 1" if maximum == 1 else "a number from 0"
        elif is_number and not math.isfinite(value):
            expected = "a finite number"
        elif key == "architectures" and not isinstance(value, list):
            expected = "a list"
        else:
            continue
        return f"{key} is {json.dumps(value)}, not {expected}"
    for size_key, heads_key in DIVISIBLE_KEYS:
        size, heads = model_config.get(size_key), model_config.get(heads_key)
        if size and heads and size % heads:
            return f"{size_key} is {size}, which {heads} attention heads cannot share"
    return None


def _check_vocabulary(directory: Path, expected_size: int | None, key: str) -> None:
    path = directory / "tokenizer.json"
    if expected_size is None or not os.path.isfile(path):
        return
    try:
        content = load_json(path, REMEDY)
        added_tokens = {token["content"] for token in content.get("added_tokens", [])}
        entry_count = len(added_tokens | set(content["model"]["vocab"]))
    except (KeyError, TypeError, AttributeError):
        raise InputError(path, "this is not a tokenizer of the tokenizers library", remedy=REMEDY) from None
    if entry_count != expected_size:
        raise InputError(
            directory,
            f"the vocabulary has {entry_count:,} entries, expected {expected_size:,}",
            remedy=f"Set {key}.vocabulary_size to the encoder's own (null for no check), or give the right encoder.",
        )


# Folder inside a pre-trained model's directory that holds the weights of intermediate steps.
SNAPSHOTS = "snapshots"


def snapshot_name(step: int) -> str:
    return f"step-{step:06d}"


def snapshot_directory(model: str | Path, step: int, last_step: int) -> Path:
    """Return the directory of the weights after `step` steps of a model that is trained for `last_step` steps."""
    return Path(model) if step == last_step else Path(model) / SNAPSHOTS / snapshot_name(step)
