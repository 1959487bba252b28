"""Names of models on Hugging Face's hub."""

from __future__ import annotations

import re

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
