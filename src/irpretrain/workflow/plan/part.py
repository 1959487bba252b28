"""What every part of the plan asks of the configuration: parts of it, files that it names, shards of its corpora."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from irpretrain.config import Config
from irpretrain.config.base import deciding
from irpretrain.config.corpora import CorpusConfig, DatasetConfig, FileConfig
from irpretrain.config.experiments import DownstreamTaskConfig
from irpretrain.config.retrieval import RunConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.corpora.catalogue.absence import absent_file
from irpretrain.corpora.embedded import Manifest, resolve
from irpretrain.corpora.file_lists import files_of_sources, list_files
from irpretrain.corpora.formats.ir_datasets import PARTS
from irpretrain.corpora.registry import Kind, format_of
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_files import hub_name, hub_remedy
from irpretrain.workflow.plan import paths

# What jobs ask a scheduler for: priority, memory, time. A job that failed asks for more at each attempt.


# Priority of the jobs that refuse wrong data in seconds, so that nothing costly is started before them.
CHEAP_CHECKS = 1000

# Priority of tables and reports: what can be shown is shown before anything else is computed.
RESULTS = 900

# Priority of the models of the first paper that is reported: its report comes before others are prepared.
FIRST_PAPER = 850

# Priority of what models wait for; models of later papers have priorities by paper, `Models.training_priority`.
PREPARATION = 800


class Wildcards(Protocol):
    """The wildcards of a job, as Snakemake gives them: a string for each name."""

    def __getattr__(self, name: str, /) -> str: ...


ResourceRequest = Callable[[Wildcards, int], int]
NumberOf = int | Callable[[Wildcards], int]


def memory(megabytes: NumberOf, processes: NumberOf = 1) -> ResourceRequest:
    """Return a request of memory, in MB: of one process, times the processes of the job."""

    def request(wildcards: Wildcards, attempt: int) -> int:
        return _number_of(megabytes, wildcards) * _number_of(processes, wildcards) * attempt

    return request


def minutes(minutes_per_attempt: int) -> ResourceRequest:
    """Return a request of run time, in minutes."""

    def request(wildcards: Wildcards, attempt: int) -> int:
        return minutes_per_attempt * attempt

    return request


def _number_of(value: NumberOf, wildcards: Wildcards) -> int:
    return value(wildcards) if callable(value) else value


# A file or files that a job reads under one name; an empty list for nothing.
Input = str | list[str]

# The files that a job reads, by its wildcards.
Files = Callable[[Wildcards], list[str]]

WILDCARD = re.compile(r"\{(\w+)\}")
SHARD = {"corpus", "shard"}

# Section of the configuration with entries by name → the wildcard that names an entry in the paths of jobs.
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
    "term_weight_pages": "page",
    "weight_distributions": "distribution",
}


@dataclass(frozen=True, eq=False)
class PlanPart:
    """A part of the plan, for one configuration and the manifest of embedded data."""

    config: Config
    manifest: Manifest

    # Parts of the configuration

    def settings(self, key: str, *, include: Any = None, exclude: Any = None) -> Any:
        """Return a part of the configuration as plain values, whose changes rerun the job.

        Args:
            key: a section, or a key in one: `text`, `axioms.bm25`. Of a section with entries by name it is the
                entry of a job's wildcard (`models.label` is the label of the job's model), and the result is a function
                of wildcards.
            include, exclude: the keys that matter to the job, or do not, as pydantic takes them.
        """
        section, *names = key.split(".")

        def values(root: Any) -> Any:
            return as_json(reduce(getattr, names, root), include, exclude)

        if section not in ENTRY_WILDCARDS:
            return values(getattr(self.config, section))

        def entry_values(wildcards: Wildcards) -> Any:
            return values(self.entry(section, wildcards))

        return entry_values

    def entry(self, section: str, wildcards: Wildcards) -> Any:
        """Return the entry of a section that a job's wildcard names; KeyError where there is none."""
        return getattr(self.config, section)[getattr(wildcards, ENTRY_WILDCARDS[section])]

    # Files that the configuration names

    def source_at(self, key: str) -> Callable[[Wildcards], str]:
        """Return the location of a configured path, as a function: Snakemake looks for wildcards in plain strings."""
        value = self.settings(key)
        return lambda wildcards: self.source(value(wildcards) if callable(value) else value)

    def source(self, path: str, kind: Kind = "documents") -> str:
        """Return the location of a configured path: the copy of an embedded asset, a description file, or itself."""
        match resolve(path):
            case "embedded", name:
                return paths.INPUT.format(asset=name)
            case "ir_datasets", name:
                return paths.IR_DATASET.format(part=PARTS[kind], identifier=name)
        return path

    @cache
    def model_files(self, path: str) -> Input:
        """Return the files of a model that a path names, so that a changed one reruns what is made of it."""
        if is_embedded(path):
            return self.source(path)
        return list(map(str, list_files(self.require_path(path, hub_remedy(path)), [""])))

    def files_of(self, section: FileConfig) -> list[str]:
        """Return the files of topics, judgements or a run; embedded ones as their verified copies."""
        copies = [self.source(path, section.kind) for path in section.paths if is_made(path)]
        user_paths = [path for path in section.paths if not is_made(path)]
        suffixes = format_of(section.kind, section.format).suffixes
        return [*copies, *map(str, files_of_sources(list(map(self.require_path, user_paths)), suffixes))]

    def require_path(self, path: str, remedy: str = "") -> str:
        """Return a path; ConfigError with the keys that name it where there is no such file or folder."""
        if not os.path.exists(path):
            raise absent_file(self.config, path, remedy)
        return path

    def soundness(self, section: str) -> Files:
        """Return what must be so before the files of a job's entry are read, where they come from the catalogue."""
        return lambda wildcards: self.verification_files(self.entry(section, wildcards))

    def verification_files(
        self, section: CorpusConfig | DatasetConfig | DownstreamTaskConfig | RunConfig
    ) -> list[str]:
        """Return the proof that the files of a section are the published ones, where these come from the catalogue."""
        return [paths.CATALOGUE_SOUND.format(entry=section.entry)] if section.entry else []

    # Encoders

    def encoder(self, wildcards: Wildcards) -> Any:
        return as_json(self._encoder(wildcards))

    def encoder_directory(self, wildcards: Wildcards) -> str:
        return self.source(self._encoder(wildcards).path)

    def encoder_files(self, wildcards: Wildcards) -> Input:
        return self.model_files(self._encoder(wildcards).path)

    def _encoder(self, wildcards: Wildcards) -> EncoderConfig:
        names = as_mapping(wildcards)
        if "model" in names:
            return self.config.encoder_of(names["model"])
        name = names.get("tokenizer", "")
        encoders = [self.config.encoder, *(self.config.encoder_of(model) for model in self.config.models)]
        for encoder in encoders:
            if self._tokenizers[encoder.path] == name:
                return encoder
        names_there = ", ".join(filter(None, sorted(set(self._tokenizers.values())))) or "none"
        raise ConfigError(
            f"no model has an encoder whose tokenizer is called {name}; there are: {names_there}"
        )

    def tokenizer_of(self, model: str) -> str:
        """Return the name of a model's tokenizer in paths; see `tokenizer_names`."""
        return self._tokenizers[self.config.encoder_of(model).path]

    @cached_property
    def _tokenizers(self) -> dict[str, str]:
        return tokenizer_names(self.config, self.manifest)

    # Files of other jobs

    def file(self, template: str, section: str, **keys: str) -> Callable[[Wildcards], Input]:
        """Return a function that fills a template of `plan.paths` with a job's wildcards and keys of its entry.

        `keys` maps a wildcard of the path → key of the entry, if names differ. The function returns nothing if a key is
        null.
        """
        wildcard_names = set(WILDCARD.findall(template))

        def fill(wildcards: Wildcards) -> Input:
            names = self._names(wildcard_names, section, wildcards, **keys)
            return [] if None in names.values() else template.format_map(names)

        return fill

    def of_collection(self, template: str, section: str = "collections") -> Files:
        """Return a file of every shard of the collection that a job, or its entry of a section, names."""
        wildcard_names = {"collection", *WILDCARD.findall(template)} - SHARD

        def files(wildcards: Wildcards) -> list[str]:
            names = self._names(wildcard_names, section, wildcards)
            return self.each_shard(template, self.config.collections[names["collection"]], **names)

        return files

    def of_dataset(self, template: str, section: str = "datasets") -> Files:
        """Return a file of every shard of the corpus of the data set that a job, or its entry of a section, names."""
        wildcard_names = {"dataset", *WILDCARD.findall(template)} - SHARD

        def files(wildcards: Wildcards) -> list[str]:
            names = self._names(wildcard_names, section, wildcards)
            return self.each_shard(template, [self.config.datasets[names["dataset"]].corpus], **names)

        return files

    def each_shard(self, template: str, corpora: Iterable[str], **wildcards: object) -> list[str]:
        """Return a file of every shard of some corpora, in their order; `wildcards` are the path's other ones."""
        return [
            template.format_map({**wildcards, "corpus": corpus, "shard": shard})
            for corpus in corpora
            for shard in range(self.config.corpora[corpus].shards)
        ]

    def _names(
        self, wildcard_names: set[str], section: str, wildcards: Wildcards, **keys: str
    ) -> dict[str, Any]:
        job_wildcards = as_mapping(wildcards)
        if "tokenizer" in wildcard_names - job_wildcards.keys():
            job_wildcards["tokenizer"] = self.tokenizer_of(job_wildcards["model"])
        entry_names = (wildcard_names - job_wildcards.keys()) | keys.keys()
        entry = self.entry(section, wildcards) if entry_names else None
        return job_wildcards | {
            name: reduce(getattr, keys.get(name, name).split("."), entry) for name in entry_names
        }


class JobOptions(dict[str, Any]):
    """Options of a job, of which only some decide its result.

    Snakemake runs a job again if the text of a parameter has changed. This text has the deciding options alone; the
    job's script gets all of them, as a plain dictionary.
    """

    def __init__(self, values: dict[str, Any], deciding: dict[str, Any]) -> None:
        super().__init__(values)
        self._deciding = deciding

    def __repr__(self) -> str:
        return repr(self._deciding)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def as_json(value: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return a value of the configuration as JSON has it."""
    if isinstance(value, BaseModel):
        values = value.model_dump(mode="json", include=include, exclude=exclude)
        return JobOptions(values, deciding(value, values))
    return [as_json(item) for item in value] if isinstance(value, list) else value


def reading_options(section: BaseModel) -> Any:
    """Return the keys of a section that decide how files are read, without its catalogue entry and cost estimates."""
    return without_keys(as_json(section), {"entry", "about"})


def without_keys(values: Any, keys: set[str]) -> Any:
    """Return plain values without some keys, at any depth."""
    if not isinstance(values, dict):
        return values
    return {key: without_keys(value, keys) for key, value in values.items() if key not in keys}


def is_embedded(path: str) -> bool:
    return resolve(path)[0] == "embedded"


def is_made(path: str) -> bool:
    """Whether a job makes the file of a configured path: an embedded asset, a data set of ir_datasets."""
    return resolve(path)[0] != "file"


def wildcard_number(name: str) -> Callable[[Wildcards], int]:
    return lambda wildcards: int(getattr(wildcards, name))


def first_stage_run(dataset: str, first_stage: str) -> str:
    return paths.FIRST_STAGE_RUN.format(dataset=dataset, candidates=first_stage)


def paths_of(template: str, names: Iterable[str]) -> list[str]:
    [wildcard] = WILDCARD.findall(template)
    return [template.format_map({wildcard: name}) for name in names]


def pattern_of(names: Iterable[str]) -> str:
    """Return a constraint of a wildcard to names, which nothing satisfies where there are none."""
    return "|".join(names) or "(?!)"


def as_list(files: Input) -> list[str]:
    return [files] if isinstance(files, str) else files


def files_in(entries_of: Callable[[Wildcards], Any], key: str = "") -> Files:
    """Return the files that a parameter of a job names, part by part, for its inputs; `key` has those of each part."""

    def files(wildcards: Wildcards) -> list[str]:
        entries = entries_of(wildcards)
        entry_list = entries.values() if isinstance(entries, dict) else entries
        return [path for entry in entry_list for path in as_list(entry[key] if key else entry)]

    return files


def as_mapping(wildcards: Any) -> dict[str, str]:
    return dict(wildcards.items())


# What tokenizers are called in the paths of token stores and ranking groups: one name for equal tokenizers.


TOKENIZER_FILE = "tokenizer.json"

# Of a hash, where tokenizers differ whose directories have the same name.
HASH_DIGITS = 8


def tokenizer_names(config: Config, manifest: Manifest) -> dict[str, str]:
    """Return path of an encoder → its tokenizer's name in paths: empty for section `encoder`, else `@` and a name.

    Tokenizers are equal if their files are.
    """
    encoders = [config.encoder, *(model.encoder for model in config.models.values() if model.encoder)]
    contents = {encoder.path: _content_hash(encoder.path, manifest) for encoder in encoders}
    names: dict[str, str] = {}
    for path, content in sorted(contents.items()):
        names.setdefault(content, _tokenizer_name(path))
    uses = Counter(names.values())
    names |= {content: f"{name}-{content[:HASH_DIGITS]}" for content, name in names.items() if uses[name] > 1}
    names[contents[config.encoder.path]] = ""
    return {path: names[content] for path, content in contents.items()}


def _content_hash(path: str, manifest: Manifest) -> str:
    path_kind, asset = resolve(path)
    if path_kind == "embedded":
        files = manifest.asset(str(asset)).files
        return next(
            (digest for name, digest in files.items() if Path(name).name == TOKENIZER_FILE), _digest(path)
        )
    file = Path(path, TOKENIZER_FILE)
    return sha256(file) if file.is_file() else _digest(path)


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


def _tokenizer_name(path: str) -> str:
    name = (hub_name(path) or path.partition(":")[2] or path).rstrip("/").rpartition("/")[2]
    return "@" + (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "encoder")
