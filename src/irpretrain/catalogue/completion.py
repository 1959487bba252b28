"""What a configuration names and does not describe is taken from the catalogue, before it is checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.catalogue.entry import SECTIONS, Entry
from irpretrain.catalogue.read import Catalogue, known_paths, placed, read_catalogue
from irpretrain.config.base import deep_merge

Name = tuple[str, str]
"""Section and name, such as ("datasets", "robust04")."""

DESCRIBED_BY = {"corpora": "path", "datasets": "corpus", "first_stages": "label", "downstream_tasks": "label"}
"""The key without which an entry of a section is no description of its own, but changes the catalogue's."""
DATA_FOLDER = "data"
"""Default of `data_folder`."""
REFERENCES = (
    ("collections", "", "corpora"),
    ("datasets", "corpus", "corpora"),
    ("datasets", "train_on", "datasets"),
    ("models", "select_on.dataset", "datasets"),
    ("models", "select_on.candidates", "first_stages"),
    ("predictors", "dataset", "datasets"),
    ("term_weights", "dataset", "datasets"),
    ("first_stages", "tuned_on", "datasets"),
    ("first_stages", "candidates", "first_stages"),
    ("first_stages", "training_candidates", "first_stages"),
    ("experiments", "dataset", "datasets"),
    ("experiments", "candidates", "first_stages"),
    ("experiments", "first_stages", "first_stages"),
    ("downstream", "tasks", "downstream_tasks"),
    ("attributions", "dataset", "datasets"),
    ("attributions", "candidates", "first_stages"),
    ("query_pages", "dataset", "datasets"),
    ("query_pages", "candidates", "first_stages"),
)
"""Section, key (or the entry itself), and the section in which its value is a name."""


def complete(given: dict[str, Any], folder: str | Path | None = None) -> dict[str, Any]:
    """Return a configuration with every entry that it names and the catalogue knows.

    An entry that the configuration describes itself (see `DESCRIBED_BY`) stays as it is; the keys of any other
    are laid over the catalogue's. What an entry of the catalogue names is taken from there too.

    Args:
        given: the configuration, not yet checked; what in it has another shape than it should is passed over.
        folder: where the catalogue lies; None for the project's own. It is read only if something is missing.

    Raises:
        ConfigError: the catalogue has faults.
    """
    result = dict(given)
    offers: dict[Name, dict[str, Any]] | None = None
    tried = set[Name]()
    while missing := [name for name in dict.fromkeys(_named(result)) if _is_missing(result, name, tried)]:
        if offers is None:
            offers = _offers(read_catalogue(folder), str(given.get("data_folder", DATA_FOLDER)))
        for section, name in missing:
            tried.add((section, name))
            if (offer := offers.get((section, name))) is not None:
                entries = _entries(result, section)
                result[section] = {**entries, name: deep_merge(offer, entries.get(name, {}))}
    return _without_other_runs(result, tried)


def _named(given: dict[str, Any]) -> Iterator[Name]:
    """Yield what a configuration names: its own entries, and what they refer to."""
    for section in SECTIONS:
        for name in _entries(given, section):
            yield section, name
    for section, key, target in REFERENCES:
        for entry in _entries(given, section).values():
            value = entry
            for part in filter(None, key.split(".")):
                value = value.get(part) if isinstance(value, dict) else None
            for name in value if isinstance(value, list) else [value]:
                if isinstance(name, str):
                    yield target, name


def _is_missing(given: dict[str, Any], name: Name, tried: set[Name]) -> bool:
    section, key = name
    entry = _entries(given, section).get(key, {})
    return name not in tried and isinstance(entry, dict) and DESCRIBED_BY[section] not in entry


def _entries(given: dict[str, Any], section: str) -> dict[str, Any]:
    entries = given.get(section)
    return entries if isinstance(entries, dict) else {}


def _offers(catalogue: Catalogue, data_folder: str) -> dict[Name, dict[str, Any]]:
    """Return what the catalogue can add to a configuration, with paths that lead into the data folder."""
    offers: dict[Name, dict[str, Any]] = {}
    for name, entry in catalogue.items():
        paths = known_paths(entry, catalogue)
        for section, key, described in _sections(name, entry):
            described = placed(described, paths, data_folder)
            offers[section, key] = deep_merge(offers.get((section, key), {}), described)
    return offers


def _sections(name: str, entry: Entry) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield section, key and description of what an entry offers, each marked with the entry's name."""
    for section in ("corpora", "datasets", "downstream_tasks"):
        for key, described in getattr(entry, section).items():
            yield section, key, {**described, "entry": name}
    for key, stage in entry.first_stages.items():
        runs = {dataset: {**run, "entry": name} for dataset, run in stage["runs"].items()}
        yield "first_stages", key, {**stage, "runs": runs}


def _without_other_runs(given: dict[str, Any], tried: set[Name]) -> dict[str, Any]:
    """Leave out the catalogue's runs over data sets that the configuration does not have, and first stages that have no
    other runs: without runs they would search an index."""
    stages = _entries(given, "first_stages")
    kept = {}
    for name, stage in stages.items():
        runs = stage.get("runs") if isinstance(stage, dict) else None
        if ("first_stages", name) in tried and isinstance(runs, dict):
            datasets = _entries(given, "datasets")
            stage = {**stage, "runs": {key: run for key, run in runs.items() if key in datasets}}
            if not stage["runs"]:
                continue
        kept[name] = stage
    return {**given, "first_stages": kept} if stages else given
