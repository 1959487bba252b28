"""The catalogue as a whole: every file of resources/datasets, found by being there."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from irpretrain.catalogue.entry import SECTIONS, Entry
from irpretrain.config.explain import listed_faults
from irpretrain.corpora.registry import Kind
from irpretrain.errors import ConfigError
from irpretrain.resources import parse_yaml, resources_directory

TASK_KINDS: tuple[Kind, ...] = ("questions", "sentences")
"""Of the records of tasks beside retrieval; keys of their entries."""
Catalogue = dict[str, Entry]
"""Entries by their names, which are those of their files, sorted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Records of one kind in one or several files.

    Attributes:
        paths: in the data folder.
        aids: files in the data folder that the options name.
        expected: how many records there must be, where that is known.
        patterns: which files of a folder count, as in `corpora.files.list_files`.
    """

    kind: Kind
    format: str
    paths: list[str]
    aids: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    expected: int | None = None
    patterns: list[str] | None = None


def readings(entry: Entry) -> Iterator[Reading]:
    """Yield everything that an entry says how to read."""
    for _, kind, section in _sections_with_files(entry):
        path, options = section["path"], section.get("options", {})
        yield Reading(
            kind,
            section.get("format", "trec"),
            [path] if isinstance(path, str) else list(path),
            [value for value in options.values() if isinstance(value, str) and value in entry.files],
            options,
            section.get("expected"),
            section.get("files"),
        )


def _sections_with_files(entry: Entry) -> Iterator[tuple[str, Kind, Any]]:
    """Yield key, kind of the records and content of every section of an entry that names files of records."""
    for name, corpus in entry.corpora.items():
        yield f"corpora.{name}", "documents", corpus
    for name, dataset in entry.datasets.items():
        yield f"datasets.{name}.queries", "topics", dataset.get("queries")
        yield f"datasets.{name}.qrels", "judgements", dataset.get("qrels")
    for name, stage in entry.first_stages.items():
        for key, run in (stage.get("runs") or {}).items():
            yield f"first_stages.{name}.runs.{key}", "runs", run
    for name, task in entry.downstream_tasks.items():
        for kind in TASK_KINDS:
            for part, files in task.get(kind, {}).items():
                yield f"downstream_tasks.{name}.{kind}.{part}", kind, files


def read_catalogue(folder: str | Path | None = None) -> Catalogue:
    """Read and check every `<name>.yaml` of a folder (null: the project's own).

    Raises:
        ConfigError: one message that lists every fault of every file.
    """
    faults: list[str] = []
    catalogue: Catalogue = {}
    for path in sorted(Path(folder or resources_directory() / "datasets").glob("*.yaml")):
        try:
            catalogue[path.stem] = _read_entry(path)
        except ConfigError as error:
            faults.append(str(error))
    faults += _faults_between(catalogue)
    if faults:
        raise ConfigError("\n".join(["The catalogue of data sets has faults", *(f"  - {f}" for f in faults)]))
    return catalogue


def known_paths(entry: Entry, catalogue: Catalogue) -> set[str]:
    """Return the paths that an entry may name: its own files, and those of the entries that it needs."""
    needed = (catalogue[name].files for name in entry.needs if name in catalogue)
    return set(entry.files).union(*needed)


def placed(described: Any, known: Collection[str], data: str | Path) -> Any:
    """Return a description in which every text that is a known path of the data folder leads into that folder."""
    if isinstance(described, dict):
        return {key: placed(value, known, data) for key, value in described.items()}
    if isinstance(described, list):
        return [placed(value, known, data) for value in described]
    return f"{data}/{described}" if isinstance(described, str) and described in known else described


def named_paths(entry: Entry) -> Iterator[tuple[str, Any]]:
    """Yield (key, path) of every place of an entry that must name a file."""
    for key, _, section in _sections_with_files(entry):
        value = section.get("path") if isinstance(section, dict) else None
        for path in value if isinstance(value, list) else [value]:
            yield f"{key}.path", path
    for name, dataset in entry.datasets.items():
        if isinstance(dataset.get("folds"), str):
            yield f"datasets.{name}.folds", dataset["folds"]


def _read_entry(path: Path) -> Entry:
    try:
        return Entry.model_validate(parse_yaml(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name}: this is not valid YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {listed_faults(error)}") from None


def _faults_between(catalogue: Catalogue) -> Iterator[str]:
    """Yield needs that lead nowhere, paths that no entry explains, and names that two entries give."""
    givers: dict[tuple[str, str], str] = {}
    for name, entry in catalogue.items():
        for other in entry.needs:
            if other not in catalogue:
                yield f"{name}.yaml: needs {other}, which is not in the catalogue"
        paths = known_paths(entry, catalogue)
        for key, path in named_paths(entry):
            if path not in paths:
                yield f"{name}.yaml: {key} is {path!r}, which is not among the files of this entry or those it needs"
        for section in SECTIONS:
            if section == "first_stages":
                continue  # runs of one may come with several data sets
            for key in getattr(entry, section):
                if (other := givers.setdefault((section, key), name)) != name:
                    yield f"{name}.yaml: {section}.{key} is in {other}.yaml too; call one of them something else"
