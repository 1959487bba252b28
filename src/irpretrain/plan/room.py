"""What every room of the plan asks of the configuration: parts of it, files that it names, shards of its corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from irpretrain.config import Config
from irpretrain.config.corpora import FileConfig
from irpretrain.corpora.embedded import Manifest, resolve
from irpretrain.corpora.files import given_files, list_files
from irpretrain.corpora.registry import format_module
from irpretrain.plan import paths
from irpretrain.plan.requests import Wildcards

Input = str | list[str]
"""A file or files that a job reads under one name; an empty list for nothing."""
Files = Callable[[Wildcards], list[str]]
"""The files that a job reads, by its wildcards."""

ENTRY_WILDCARDS = {
    "corpora": "corpus",
    "collections": "collection",
    "datasets": "dataset",
    "objectives": "objective",
    "predictors": "predictor",
    "diagnoses": "diagnosis",
    "term_weights": "weighting",
    "indexes": "index",
    "first_stages": "candidates",
    "models": "model",
    "experiments": "experiment",
    "downstream_tasks": "task",
    "downstream": "experiment",
    "attributions": "page",
    "query_pages": "page",
    "term_weight_pages": "page",
    "weight_distributions": "distribution",
}
"""Section of the configuration with entries by name → the wildcard that names an entry in the paths of jobs."""


@dataclass(frozen=True, eq=False)
class Room:
    """A part of the plan, for one configuration and the manifest of embedded data."""

    config: Config
    manifest: Manifest

    # Parts of the configuration

    def settings(self, key: str, *, include: Any = None, exclude: Any = None) -> Any:
        """Return a part of the configuration as plain values: a change of any of them reruns what depends on it.

        Args:
            key: a section, or what is in one: `text`, `retrieval.indri`. Of a section with entries by name it is the
                entry that a job's wildcard names: `models.label` is the label of the job's model.
            include: the only keys that matter to the job, as pydantic takes them.
            exclude: keys that do not.

        Returns:
            The values, or for entries by name a function of a job's wildcards that returns them.
        """
        section, *names = key.split(".")

        def values(start: Any) -> Any:
            return plain(reduce(getattr, names, start), include, exclude)

        if section not in ENTRY_WILDCARDS:
            return values(getattr(self.config, section))

        def entry_values(wildcards: Wildcards) -> Any:
            return values(self.entry(section, wildcards))

        return entry_values

    def entry(self, section: str, wildcards: Wildcards) -> Any:
        """Return the entry of a section that a job's wildcard names; KeyError where there is none."""
        return getattr(self.config, section)[getattr(wildcards, ENTRY_WILDCARDS[section])]

    # Files that the configuration names

    def source(self, path: str) -> str:
        """Return where a path of the configuration lies: the verified copy of an embedded asset, or the path itself."""
        return paths.INPUT.format(asset=resolve(path)[1]) if is_embedded(path) else path

    def model_files(self, path: str) -> Input:
        """Return the files of a model that a path names, so that a changed one reruns what is made of it."""
        return self.source(path) if is_embedded(path) else strings(list_files(path, [""]))

    def files_of(self, section: FileConfig) -> list[str]:
        """Return the files of topics, judgements or a run; embedded ones as their verified copies."""
        copies = [self.source(path) for path in section.paths if is_embedded(path)]
        others = [path for path in section.paths if not is_embedded(path)]
        suffixes = getattr(format_module(section.kind, section.format), "SUFFIXES", None)
        return [*copies, *strings(given_files(others, suffixes))]

    def sound(self, section: Any) -> list[str]:
        """Return what must be so before the files of a section are read that comes from the catalogue."""
        return [paths.CATALOGUE_SOUND.format(entry=section.entry)] if section.entry else []

    # Shards of corpora

    def each_shard(self, template: str, corpora: Iterable[str], **wildcards: object) -> list[str]:
        """Return a file of every shard of some corpora, in their order; `wildcards` are the path's other ones."""
        return [
            template.format(corpus=corpus, shard=shard, **wildcards)
            for corpus in corpora
            for shard in range(self.config.corpora[corpus].shards)
        ]

    def of_collection(self, template: str) -> Files:
        """Return a file of every shard of a job's collection."""

        def files(wildcards: Wildcards) -> list[str]:
            corpora = self.config.collections[wildcards.collection]
            return self.each_shard(template, corpora, **_others(wildcards))

        return files

    def of_dataset(self, template: str, section: str = "datasets") -> Files:
        """Return a file of every shard of the corpus that a job's data set judges; the data set is the job's wildcard,
        or that of its entry in another section."""

        def files(wildcards: Wildcards) -> list[str]:
            corpus = self.config.datasets[self._dataset(section, "dataset", wildcards)].corpus
            return self.each_shard(template, [corpus], **_others(wildcards))

        return files

    def dataset_file(self, template: str, section: str, key: str = "dataset") -> Callable[[Wildcards], str]:
        """Return a file of the data set that `key` of a job's entry names."""

        def file(wildcards: Wildcards) -> str:
            return template.format(dataset=self._dataset(section, key, wildcards))

        return file

    def _dataset(self, section: str, key: str, wildcards: Wildcards) -> str:
        if section == "datasets":
            return wildcards.dataset
        name: str = reduce(getattr, key.split("."), self.entry(section, wildcards))
        return name


def plain(value: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return a value of the configuration as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", include=include, exclude=exclude)
    return [plain(item) for item in value] if isinstance(value, list) else value


def described(section: BaseModel) -> Any:
    """Return what decides how files are read: a section without the entry of the catalogue that it comes from, and
    without what only estimates of cost read."""
    return without(plain(section), {"entry", "about"})


def without(values: Any, keys: set[str]) -> Any:
    """Return plain values without some keys, at any depth."""
    if not isinstance(values, dict):
        return values
    return {key: without(value, keys) for key, value in values.items() if key not in keys}


def is_embedded(path: str) -> bool:
    """Whether a path of the configuration names an embedded asset."""
    return resolve(path)[0] == "embedded"


def wildcard_number(name: str) -> Callable[[Wildcards], int]:
    """Return a wildcard of a job as a number."""
    return lambda wildcards: int(getattr(wildcards, name))


def first_stage_run(dataset: str, first_stage: str) -> str:
    """Return the run of a first stage."""
    return paths.FIRST_STAGE_RUN.format(dataset=dataset, candidates=first_stage)


def one_of(names: Iterable[str]) -> str:
    """Return a constraint of a wildcard to names, which nothing satisfies where there are none."""
    return "|".join(names) or "(?!)"


def strings(files: Iterable[Path]) -> list[str]:
    """Return paths as a rule has them."""
    return [str(path) for path in files]


def as_list(files: Input) -> list[str]:
    """Return a file, or files, as a list."""
    return [files] if isinstance(files, str) else files


def as_mapping(wildcards: Any) -> dict[str, str]:
    """Return the wildcards of a job by their names."""
    return dict(wildcards.items())


def _others(wildcards: Wildcards) -> dict[str, str]:
    """The wildcards of a job but those of a shard."""
    return {name: value for name, value in as_mapping(wildcards).items() if name not in ("corpus", "shard")}
