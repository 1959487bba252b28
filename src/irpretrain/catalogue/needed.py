"""The files outside the project that a configuration reads, and which of them the catalogue knows."""

from collections import ChainMap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from irpretrain.catalogue.entry import LISTING
from irpretrain.catalogue.read import read_catalogue
from irpretrain.config.root import Config
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.sources import Kind, used_files


@dataclass(frozen=True, slots=True)
class Needed:
    """One file or folder.

    Attributes:
        path: as the configuration gives it.
        kind: what is in it.
        inside: where it is a folder, which of its files count: patterns, or else endings of names.
    """

    path: str
    kind: Kind
    inside: tuple[str, ...] = ()


def needed_files(config: Config) -> Iterator[Needed]:
    """Yield what the experiments and tasks of a configuration read, embedded assets and ir_datasets' data left out."""
    for used in used_files(config):
        for path in used.paths:
            if resolve(path)[0] == "file":
                yield Needed(path, used.kind, used.inside)


def missing_files(config: Config) -> list[Needed]:
    """Return what is needed, is not there and is a file of the catalogue, so that it is known how to get it."""
    missing = [needed for needed in needed_files(config) if not Path(needed.path).exists()]
    if not missing:
        return []
    catalogued = catalogue_paths(config.data_folder)
    return [needed for needed in dict.fromkeys(missing) if needed.path in catalogued]


def missing_by_entry(config: Config) -> dict[str, list[str]]:
    """Return the paths of what is missing, by the catalogue's entries."""
    missing = missing_files(config)
    entries = catalogue_paths(config.data_folder) if missing else {}
    by_entry: dict[str, list[str]] = {}
    for needed in missing:
        by_entry.setdefault(entries[needed.path], []).append(needed.path)
    return dict(sorted(by_entry.items()))


def read_entries(config: Config, folders: Iterable[str]) -> set[str]:
    """Return the catalogue's entries of which a configuration reads files, whichever of the data folders has them."""
    entries = ChainMap(*map(catalogue_paths, folders))
    return {entries[needed.path] for needed in needed_files(config) if needed.path in entries}


def told(missing: dict[str, list[str]], heading: str) -> str:
    """Return which files are missing, and where each can be had, as text for the screen; nothing where none is."""
    if not missing:
        return ""
    catalogue = read_catalogue()
    width = max(map(len, missing))
    lines = [heading]
    for name, paths in missing.items():
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        lines.append(f"  {name:<{width}}  {paths[0]}{others}  {catalogue[name].source}")
    lines.append(f"{LISTING} says where each belongs, on which terms, and how to get it.")
    return "\n".join(lines)


@cache
def catalogue_paths(data_folder: str) -> dict[str, str]:
    """Return every path of the catalogue, in the data folder, with the name of its entry."""
    return {f"{data_folder}/{path}": name for name, entry in read_catalogue().items() for path in entry.files}
