"""Where the files of the catalogue's data sets are looked for: beside the results, then beside the project."""

import os
from pathlib import Path
from typing import Any

from irpretrain.catalogue.entry import Entry
from irpretrain.catalogue.read import read_catalogue
from irpretrain.config.root import Config
from irpretrain.resources import project_directory


def data_folders(data_folder: str) -> list[str]:
    """Return the folders in which files of the catalogue are looked for, first to last.

    A relative `data_folder` is that of the working directory (`--directory`), then that of the project: data in the
    project are there for every run.
    """
    in_project = project_directory() / data_folder
    if Path(data_folder).is_absolute() or in_project.resolve() == Path(data_folder).resolve():
        return [data_folder]
    return [data_folder, os.path.relpath(in_project)]


def searched(data_folder: str) -> str:
    """Return these folders, whole, for a message."""
    return " and ".join(os.path.abspath(folder) for folder in data_folders(data_folder))


def folder_of(entry: Entry, data_folder: str) -> str:
    """Return the folder that has an entry's files: the first that has any of them, else the first."""
    folders = data_folders(data_folder)
    return next((folder for folder in folders if has_any(entry, folder)), folders[0])


def has_any(entry: Entry, folder: str) -> bool:
    """Whether any file of an entry is in a folder."""
    return any(Path(folder, path).exists() for path in entry.files)


def with_data_of_the_project(config: Config) -> Config:
    """Return the configuration with files of the catalogue read where they are, for entries that the working directory
    has nothing of and the project has."""
    places: dict[str, str] = {}
    if any(Path(folder).exists() for folder in data_folders(config.data_folder)[1:]):
        for entry in read_catalogue().values():
            folder = folder_of(entry, config.data_folder)
            if folder != config.data_folder:
                places |= {f"{config.data_folder}/{path}": f"{folder}/{path}" for path in entry.files}
    return moved(config, places) if places else config


def moved(config: Config, places: dict[str, str], folds: int | None = None) -> Config:
    """Return the configuration with other paths in place of some.

    Args:
        places: path → other path.
        folds: a number of folds that stands in place of files of folds.
    """

    def replaced(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: replaced(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [replaced(inner) for inner in value]
        if isinstance(value, str) and value in places and key != "label":
            return folds if key == "folds" and folds is not None else places[value]
        return value

    plain = replaced(config.model_dump())
    if plain == config.model_dump():
        return config
    return Config.model_validate({**plain, "skip_absent": config.skip_absent})
