"""Names of models on Hugging Face's hub."""

from __future__ import annotations

import re
from pathlib import Path

from irpretrain.errors import InputError, need_folder

NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(?:@[\w./-]+)?")
"""Owner and name, such as google-bert/bert-base-uncased, and after @ a revision: a commit, tag or branch."""


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
    """Return the cache's folder of a model, whose path ends in the commit; None where there is none.

    A folder of this name, relative to the working directory, goes first. HF_HOME says where the cache is.
    """
    if not NAME.fullmatch(name) or Path(name).exists():
        return None
    from huggingface_hub import snapshot_download  # what is read of the hub is seldom needed
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repository, revision=revision or None, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def check_folder(directory: str | Path, remedy: str) -> None:
    """Raise InputError, with the command that downloads a model of this name, where there is no such folder."""
    need_folder(directory, remedy + hub_remedy(str(directory)))


def hub_remedy(name: str) -> str:
    """Return the line of a message on a model that is not there which says what to do if it is one of the hub's;
    nothing for what cannot be its name there."""
    if NAME.fullmatch(name):
        return f"\n  If it names a model of Hugging Face's hub: `{hub_command(name)}` downloads it."
    if "/" not in name:
        return "\n  A model of Hugging Face's hub is named with its owner, such as google-bert/bert-base-uncased."
    return ""


def model_directory(name: str | Path, remedy: str) -> Path:
    """Return the directory of a model that is named by a path, or as the hub does; nothing is downloaded.

    Raises:
        InputError: there is no such folder, and the hub's cache has no model of this name, or lacks files of it; it
            ends in `remedy`.
    """
    cached = cached_model(str(name))
    for files in ("config.json", "*.safetensors"):
        if cached and not any(cached.glob(files)):
            download = f"`{hub_command(str(name))}` downloads it."
            raise InputError(name, f"there is no {files} in {cached}", remedy=download)
    directory = cached or Path(name)
    check_folder(directory, remedy)
    return directory
