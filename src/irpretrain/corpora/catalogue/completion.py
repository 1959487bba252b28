"""Complete a configuration from the catalogue (entries that it names and does not describe), and find its files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.base import deep_merge
from irpretrain.config.references import REFERENCES, EntryName
from irpretrain.config.root import Config
from irpretrain.corpora.catalogue.read import (
    SECTIONS,
    Catalogue,
    Entry,
    known_paths,
    read_catalogue,
    with_paths,
)
from irpretrain.foundation.resources import project_directory

# The key without which an entry of a section is no description of its own, but changes the catalogue's.
DESCRIBED_BY = {"corpora": "path", "datasets": "corpus", "first_stages": "label", "downstream_tasks": "label"}

# Default of `data_folder`.
DATA_FOLDER = "data"

# Keys whose names the catalogue may know; runs over a data set do not ask for it.
COMPLETED_REFERENCES = [row for row in REFERENCES if row.target in SECTIONS and row.key != "runs"]


def complete(content: dict[str, Any], folder: str | Path | None = None) -> dict[str, Any]:
    """Return an unchecked configuration with every entry that it names and the catalogue knows, and what these name.

    An entry that the configuration describes itself (see `DESCRIBED_BY`) stays unchanged; the keys of any other are
    laid over the catalogue's. ConfigError if the catalogue has faults.
    """
    result = dict(content)
    # The catalogue is read only if something is missing.
    values_by_name: dict[EntryName, dict[str, Any]] | None = None
    tried_names = set[EntryName]()
    while missing_names := [
        name for name in dict.fromkeys(_names_in(result)) if _is_missing(result, name, tried_names)
    ]:
        if values_by_name is None:
            data_folder = str(content.get("data_folder", DATA_FOLDER))
            values_by_name = _catalogue_values(read_catalogue(folder), data_folder)
        for section, name in missing_names:
            tried_names.add((section, name))
            if (catalogue_values := values_by_name.get((section, name))) is not None:
                entries = entries_of(result, section)
                result[section] = {**entries, name: deep_merge(catalogue_values, entries.get(name, {}))}
    return _without_other_runs(result, tried_names)


def _names_in(content: dict[str, Any]) -> Iterator[EntryName]:
    for section in SECTIONS:
        for name in entries_of(content, section):
            yield section, name
    for names, key, target in naming_keys(content):
        for name in names[key] if isinstance(names[key], list) else [names[key]]:
            if isinstance(name, str):
                yield target, name


def naming_keys(content: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield mapping, key and section of the names that the catalogue may know in an unchecked configuration."""
    for section, key, target, *_ in COMPLETED_REFERENCES:
        for name, parent_values in list(entries_of(content, section).items()):
            *parent_keys, last_key = key.split(".") if key else [name]
            parent_values = parent_values if key else entries_of(content, section)
            for parent_key in parent_keys:
                parent_values = parent_values.get(parent_key) if isinstance(parent_values, dict) else None
            if isinstance(parent_values, dict) and last_key in parent_values:
                yield parent_values, last_key, target


def _is_missing(content: dict[str, Any], name: EntryName, tried_names: set[EntryName]) -> bool:
    section, key = name
    entry = entries_of(content, section).get(key, {})
    return name not in tried_names and isinstance(entry, dict) and DESCRIBED_BY[section] not in entry


def entries_of(content: dict[str, Any], section: str) -> dict[str, Any]:
    entries = content.get(section)
    return entries if isinstance(entries, dict) else {}


def _catalogue_values(catalogue: Catalogue, data_folder: str) -> dict[EntryName, dict[str, Any]]:
    values_by_name: dict[EntryName, dict[str, Any]] = {}
    for name, entry in catalogue.items():
        locations = {path: f"{data_folder}/{path}" for path in known_paths(entry, catalogue)}
        for section in SECTIONS:
            for key, section_entry in getattr(entry, section).items():
                values = with_paths(section_entry, locations)
                for section_values in values["runs"].values() if section == "first_stages" else [values]:
                    section_values["entry"] = name
                values_by_name[section, key] = deep_merge(values_by_name.get((section, key), {}), values)
    return values_by_name


def _without_other_runs(content: dict[str, Any], tried_names: set[EntryName]) -> dict[str, Any]:
    """Leave out the catalogue's runs over other data sets, and first stages without runs, which would search."""
    stages = entries_of(content, "first_stages")
    kept_stages = {}
    for name, stage in stages.items():
        runs = stage.get("runs") if isinstance(stage, dict) else None
        if ("first_stages", name) in tried_names and isinstance(runs, dict):
            datasets = entries_of(content, "datasets")
            stage = {**stage, "runs": {key: run for key, run in runs.items() if key in datasets}}
            if not stage["runs"]:
                continue
        kept_stages[name] = stage
    return {**content, "first_stages": kept_stages} if stages else content


# Where the files of the catalogue's data sets are looked for: beside the results, then beside the project.


def data_folders(data_folder: str) -> list[str]:
    """Return the folders in which files of the catalogue are looked for, first to last.

    A relative `data_folder` is that of the working directory (`--directory`), then that of the project: data in the
    project serve every run.
    """
    project_data_folder = project_directory() / data_folder
    if Path(data_folder).is_absolute() or project_data_folder.resolve() == Path(data_folder).resolve():
        return [data_folder]
    return [data_folder, os.path.relpath(project_data_folder)]


def searched_folders_text(data_folder: str) -> str:
    """Return these folders, whole, for a message."""
    return " and ".join(os.path.abspath(folder) for folder in data_folders(data_folder))


def folder_of(entry: Entry, data_folder: str) -> str:
    """Return the folder that has an entry's files: the first that has any of them, else the first."""
    folders = data_folders(data_folder)
    folders_with_files = (folder for folder in folders for path in entry.files if Path(folder, path).exists())
    return next(folders_with_files, folders[0])


def with_data_of_the_project(config: Config) -> Config:
    """Return the configuration with the project's catalogue files for entries that the working directory lacks."""
    locations: dict[str, str] = {}
    if any(Path(folder).exists() for folder in data_folders(config.data_folder)[1:]):
        for entry in read_catalogue().values():
            folder = folder_of(entry, config.data_folder)
            if folder != config.data_folder:
                locations |= {f"{config.data_folder}/{path}": f"{folder}/{path}" for path in entry.files}
    return with_locations(config, locations) if locations else config


def with_locations(config: Config, locations: dict[str, str], folds: int | None = None) -> Config:
    """Return the configuration with paths replaced (`locations`), and files of folds by the number `folds`."""
    config_values = config.model_dump()
    moved_values = with_paths(config_values, locations)
    for name, dataset in config.datasets.items():
        if folds is not None and isinstance(dataset.folds, str) and dataset.folds in locations:
            moved_values["datasets"][name]["folds"] = folds
    if moved_values == config_values:
        return config
    return Config.model_validate({**moved_values, "skip_absent": config.skip_absent})
