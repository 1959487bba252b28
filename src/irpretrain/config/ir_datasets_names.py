"""`ir_datasets:<id>` in place of a name: the entries of `corpora`, `datasets` and `first_stages` that it stands for."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from irpretrain.catalogue.completion import REFERENCES
from irpretrain.config.base import deep_merge
from irpretrain.corpora.ir_datasets_library import PREFIX, corpus_identifier


def with_ir_datasets(given: dict[str, Any]) -> dict[str, Any]:
    """Return an unchecked configuration with an entry for each `ir_datasets:<id>` of a corpus, data set or first stage.

    Configured keys of the entry win.

    Raises:
        ConfigError: ir_datasets has no such data set.
        SetupError: ir_datasets is not installed.
    """
    if not _mentions_any(given):
        return given
    result = copy.deepcopy(given)
    for section, key, target in REFERENCES:
        for name, entry in list(_entries(result, section).items()):
            *parents, last = key.split(".") if key else [name]
            holder = entry if key else _entries(result, section)
            for parent in parents:
                holder = holder.get(parent) if isinstance(holder, dict) else None
            if isinstance(holder, dict) and last in holder:
                holder[last] = _named(holder[last], _adder(result, target, holder.get("dataset")))
    return result


def _mentions_any(given: dict[str, Any]) -> bool:
    """Whether a text of the configuration names a data set of ir_datasets."""
    parts: list[Any] = [given]
    seen: set[int] = set()
    while parts:
        part = parts.pop()
        if isinstance(part, str) and part.startswith(PREFIX):
            return True
        if isinstance(part, dict | list) and id(part) not in seen:
            seen.add(id(part))
            parts.extend([*part, *part.values()] if isinstance(part, dict) else part)
    return False


def entry_name(identifier: str) -> str:
    return "ir-datasets-" + re.sub("[^a-z0-9]+", "-", identifier.lower()).strip("-")


def _named(value: Any, add: Callable[[str], str]) -> Any:
    """Return a name, or a list of names, with what `add` calls the data sets of ir_datasets among them."""
    names = [
        add(name.removeprefix(PREFIX)) if isinstance(name, str) and name.startswith(PREFIX) else name
        for name in (value if isinstance(value, list) else [value])
    ]
    return names if isinstance(value, list) else names[0]


def _adder(given: dict[str, Any], section: str, dataset: Any) -> Callable[[str], str]:
    """Return a function that adds an entry to a section and returns its name; first stages rank for `dataset`."""

    def add(identifier: str) -> str:
        path, entry = {"path": PREFIX + identifier}, dict[str, Any]()
        if section == "corpora":
            entry = path
        elif section == "datasets":
            corpus = _adder(given, "corpora", None)(corpus_identifier(identifier))
            entry = {"label": identifier, "corpus": corpus, "queries": path, "qrels": path}
        elif section == "first_stages":
            if not isinstance(dataset, str):  # refused as an unknown name
                return PREFIX + identifier
            ranked = _named(dataset, _adder(given, "datasets", None))
            entry = {"label": f"scoreddocs of {identifier}", "runs": {ranked: path}}
        name = entry_name(identifier)
        entries = given.setdefault(section, {})
        entries[name] = deep_merge(entry, entries.get(name) or {})
        return name

    return add


def _entries(given: dict[str, Any], section: str) -> dict[str, Any]:
    entries = given.get(section)
    return entries if isinstance(entries, dict) else {}
