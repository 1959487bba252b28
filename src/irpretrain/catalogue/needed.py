"""The files outside the project that a configuration reads, and which of them the catalogue knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from irpretrain.catalogue.read import read_catalogue
from irpretrain.config.corpora import FileConfig
from irpretrain.config.retrieval import RunConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import (
    collections_with_vectors,
    given_models,
    used_corpora,
    used_datasets,
    used_runs,
    used_tasks,
    uses_encoder,
)
from irpretrain.corpora.embedded import PREFIX
from irpretrain.corpora.registry import format_module
from irpretrain.corpora.sources import corpus_aids, own_encoders


@dataclass(frozen=True, slots=True)
class Needed:
    """One file or folder.

    Attributes:
        path: as the configuration gives it.
        kind: what is in it.
        inside: where it is a folder, which of its files count: patterns, or else endings of names.
    """

    path: str
    kind: Literal["records", "folds", "encoder"]
    inside: tuple[str, ...] = ()


def needed_files(config: Config) -> Iterator[Needed]:
    """Yield what the experiments and tasks of a configuration read, embedded assets left out."""
    yield from (found for found in _named(config) if not found.path.startswith(PREFIX))


def missing_files(config: Config) -> list[Needed]:
    """Return what is needed, is not there and is a file of the catalogue, so that it is known how to get it."""
    missing = [found for found in needed_files(config) if not Path(found.path).exists()]
    if not missing:
        return []
    known = catalogue_paths(config.data_folder)
    return [found for found in dict.fromkeys(missing) if found.path in known]


def missing_by_entry(config: Config) -> dict[str, list[str]]:
    """Return the paths of what is missing, by the catalogue's entries."""
    missing = missing_files(config)
    entries = catalogue_paths(config.data_folder) if missing else {}
    found: dict[str, list[str]] = {}
    for needed in missing:
        found.setdefault(entries[needed.path], []).append(needed.path)
    return dict(sorted(found.items()))


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
    lines.append("snakemake --cores 1 datasets says where each belongs, on which terms, and how to get it.")
    return "\n".join(lines)


@cache
def catalogue_paths(data_folder: str) -> dict[str, str]:
    """Return every path of the catalogue, in the data folder, with the name of its entry."""
    return {f"{data_folder}/{path}": name for name, entry in read_catalogue().items() for path in entry.files}


def _named(config: Config) -> Iterator[Needed]:
    for name in used_corpora(config):
        corpus = config.corpora[name]
        yield Needed(
            corpus.path,
            "records",
            tuple(corpus.files or format_module("documents", corpus.format).SUFFIXES),
        )
        yield from (Needed(path, "records") for path in corpus_aids(config, name))
    for name in used_datasets(config):
        dataset = config.datasets[name]
        yield from _files(dataset.queries)
        yield from _files(dataset.qrels)
        if isinstance(dataset.folds, str):
            yield Needed(dataset.folds, "folds")
    for stage, name in used_runs(config):
        yield from _files(config.first_stages[stage].runs[name])
    for name in used_tasks(config):
        for part in config.downstream_tasks[name].files.values():
            yield from _files(part)
    for name in collections_with_vectors(config):
        if name in config.word_vectors.files:
            yield Needed(config.word_vectors.files[name], "records")
    if uses_encoder(config):
        yield Needed(config.encoder.path, "encoder")
    for name in given_models(config):
        yield Needed(str(config.models[name].cross_encoder), "encoder")
    yield from (Needed(path, "encoder") for path in own_encoders(config).values())


def _files(section: FileConfig | RunConfig) -> Iterator[Needed]:
    inside = tuple(getattr(format_module(section.kind, section.format), "SUFFIXES", ()))
    yield from (Needed(path, "records", inside) for path in section.paths)
