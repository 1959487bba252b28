"""What tokenizers are called in the paths of token stores and ranking groups: one name for equal tokenizers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

from irpretrain.config import Config
from irpretrain.corpora.embedded import Manifest, resolve
from irpretrain.models.encoder_files import hub_name
from irpretrain.provenance import sha256

FILE = "tokenizer.json"

# Of a hash, where tokenizers differ whose directories have the same name.
DIGITS = 8


def tokenizer_names(config: Config, manifest: Manifest) -> dict[str, str]:
    """Return path of an encoder → its tokenizer's name in paths: empty for section `encoder`, else `@` and a name.

    Tokenizers are equal if their files are.
    """
    encoders = [config.encoder, *(model.encoder for model in config.models.values() if model.encoder)]
    contents = {encoder.path: _content(encoder.path, manifest) for encoder in encoders}
    names: dict[str, str] = {}
    for path, content in sorted(contents.items()):
        names.setdefault(content, _name(path))
    common = Counter(names.values())
    names |= {content: f"{name}-{content[:DIGITS]}" for content, name in names.items() if common[name] > 1}
    names[contents[config.encoder.path]] = ""
    return {path: names[content] for path, content in contents.items()}


def _content(path: str, manifest: Manifest) -> str:
    """The identity of an encoder's tokenizer: the hash of its file, or of its path if there is none."""
    kind, asset = resolve(path)
    if kind == "embedded":
        files = manifest.asset(str(asset)).files
        return next((digest for name, digest in files.items() if Path(name).name == FILE), _digest(path))
    file = Path(path, FILE)
    return sha256(file) if file.is_file() else _digest(path)


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


def _name(path: str) -> str:
    name = (hub_name(path) or path.partition(":")[2] or path).rstrip("/").rpartition("/")[2]
    return "@" + (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "encoder")
