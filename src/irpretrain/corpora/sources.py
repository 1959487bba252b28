"""The files and folders that a configuration names: whether they are there, before anything is computed."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from irpretrain.config.corpora import CorpusConfig, DatasetConfig, FileConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import (
    collections_with_vectors,
    given_models,
    longest_sequences,
    used_corpora,
    used_datasets,
    used_encoders,
    used_indexes,
    used_runs,
    used_tasks,
)
from irpretrain.corpora.embedded import Manifest, installed_path, resolve
from irpretrain.corpora.files import given_files, list_files, one_file
from irpretrain.corpora.ir_datasets_library import check_downloaded
from irpretrain.corpora.registry import format_module
from irpretrain.errors import ConfigError, InputError, IRPretrainError
from irpretrain.models.encoder_files import (
    GENERATOR_REMEDY,
    check_encoder_files,
    check_model_files,
    check_reranker_files,
)

EFFECTIVE = os.access in os.supports_effective_ids


Kind = Literal["records", "folds", "encoder"]


@dataclass(frozen=True, slots=True)
class UsedFiles:
    """Files or folders that one key of the configuration names, and that something reads which is run.

    Attributes:
        key: the key, such as models.mono.cross_encoder.
        paths: as the configuration gives them; `embedded:<asset>` and `ir_datasets:<id>` among them.
        kind: what is in them.
        inside: which files of a folder count: patterns, or else endings of names.
        check: raises InputError or ConfigError where some paths, of those that are files or folders, cannot be used.
    """

    key: str
    paths: Sequence[str]
    kind: Kind
    inside: tuple[str, ...]
    check: Callable[[Sequence[str]], None]


def used_files(config: Config) -> Iterator[UsedFiles]:
    """Yield all that the experiments, tasks and reports of a configuration read, key by key."""
    for name in used_corpora(config):
        corpus = config.corpora[name]
        inside = tuple(corpus.files or format_module("documents", corpus.format).SUFFIXES)
        check = partial(_check_documents, corpus)
        yield UsedFiles(f"corpora.{name}.path", [corpus.path], "records", inside, check)
        aids = corpus_aids(config, name)
        yield UsedFiles(f"corpora.{name}.options", aids, "records", (), _check_files)
    for name in used_datasets(config):
        dataset = config.datasets[name]
        yield _topics(f"datasets.{name}.queries.path", dataset.queries)
        yield _topics(f"datasets.{name}.qrels.path", dataset.qrels)
        if not isinstance(dataset.folds, int):
            folds = [dataset.folds] if isinstance(dataset.folds, str) else []
            yield UsedFiles(f"datasets.{name}.folds", folds, "folds", (), partial(_check_folds, dataset))
    for stage, name in used_runs(config):
        yield _topics(f"first_stages.{stage}.runs.{name}.path", config.first_stages[stage].runs[name])
    for name in used_tasks(config):
        task = config.downstream_tasks[name]
        for part, section in task.files.items():
            yield _topics(f"downstream_tasks.{name}.{task.kind}.{part}.path", section)
    for key, encoder in used_encoders(config).items():
        check = partial(_check_model, check_encoder_files, (encoder, longest_sequences(config, key), key))
        yield UsedFiles(f"{key}.path", [encoder.path], "encoder", (), check)
    for name in used_indexes(config):
        index = config.indexes[name]
        if index.type == "expansion":
            yield UsedFiles(f"indexes.{name}.path", [index.path], "records", (), _check_files)
        elif index.type == "doc2query":
            longest = {f"indexes.{name}.{key}": getattr(index, key) for key in ("max_length", "query_length")}
            check = partial(_check_model, check_model_files, (GENERATOR_REMEDY, longest))
            yield UsedFiles(f"indexes.{name}.model", [index.model], "encoder", (), check)
    for name in collections_with_vectors(config):
        if name in config.word_vectors.files:
            vectors = [config.word_vectors.files[name]]
            yield UsedFiles(f"word_vectors.files.{name}", vectors, "records", (), _check_files)
    for name in given_models(config):
        model = [str(config.models[name].cross_encoder)]
        check = partial(_check_model, check_reranker_files, ())
        yield UsedFiles(f"models.{name}.cross_encoder", model, "encoder", (), check)


def check_sources(config: Config, manifest: Manifest) -> None:
    """Raise one ConfigError that lists every source in use which is missing or is not what it should be.

    Only what some experiment needs is looked at, and no file of documents, queries or judgements is opened.
    """
    faults: list[str] = []
    for used in used_files(config):
        with _collected(faults, used.key):
            used.check([path for path in used.paths if _is_file(path, manifest)])
    for key, encoder in used_encoders(config).items():
        with _collected(faults, f"{key}.path"):
            if not _is_file(encoder.path, manifest):
                installed = installed_path(manifest.asset(str(resolve(encoder.path)[1])))
                if installed is not None:  # else the stage that copies from the package reports it
                    check_encoder_files(installed, encoder, longest_sequences(config, key), key)
    _refuse(f"Some sources cannot be used; paths are relative to {Path.cwd()}", faults)


def used_ir_datasets(config: Config) -> dict[tuple[str, str], str]:
    """Return identifier and part of what is read of ir_datasets, with the first key that names it."""
    keys: dict[tuple[str, str], str] = {}
    for used in used_files(config):
        section, *_, key, _ = used.key.split(".") if used.key.count(".") > 1 else ("", "", "")
        part = {"corpora": "docs", "first_stages": "scoreddocs"}.get(section, key)  # else queries or qrels
        for kind, name in map(resolve, used.paths):
            if kind == "ir_datasets":
                keys.setdefault((str(name), part), used.key)
    return keys


def check_downloads(config: Config) -> None:
    """Raise one ConfigError that lists all that is read of ir_datasets and is not on the disk."""
    faults: list[str] = []
    for (identifier, part), key in used_ir_datasets(config).items():
        with _collected(faults, key):
            check_downloaded(identifier, part)
    _refuse("Some data of ir_datasets cannot be used", faults)


def used_assets(config: Config) -> list[str]:
    """Return the embedded assets that some experiment needs."""
    resolved = [resolve(path) for used in used_files(config) for path in used.paths]
    return list(dict.fromkeys(str(name) for kind, name in resolved if kind == "embedded"))


def with_caveats(config: Config, manifest: Manifest) -> Config:
    """Return the configuration with the caveats of the embedded assets in use first among the report's notes."""
    asset_caveats = (manifest.asset(name).caveat for name in used_assets(config))
    caveats = [caveat for caveat in asset_caveats if caveat and caveat not in config.report.notes]
    report = config.report.model_copy(update={"notes": [*caveats, *config.report.notes]})
    return config.model_copy(update={"report": report})


def corpus_files(config: Config, corpus: str) -> list[Path]:
    """Return the files of a user's own corpus, in their order; InputError where there is none."""
    section = config.corpora[corpus]
    return list_files(section.path, format_module("documents", section.format).SUFFIXES, section.files)


def corpus_aids(config: Config, corpus: str) -> list[str]:
    """Return the files that the options of a corpus name, such as its spam rankings."""
    section = config.corpora[corpus]
    module = format_module("documents", section.format)
    if not hasattr(module, "option_files"):
        return []
    return list(module.option_files(module.Options(**section.options)))


def corpus_folders_beside(config: Config, corpus: str) -> list[str]:
    """Return the folders that a format reads beside the files of a user's own corpus, such as CORD-19's parses."""
    section = config.corpora[corpus]
    module = format_module("documents", section.format)
    if not hasattr(module, "folders_beside") or not Path(section.path).exists():
        return []
    options = module.Options(**section.options)
    files = corpus_files(config, corpus)
    return [str(folder) for path in files for folder in module.folders_beside(path, options)]


def _topics(key: str, section: FileConfig) -> UsedFiles:
    """Topics, judgements, a run, or a task's file."""
    inside = getattr(format_module(section.kind, section.format), "SUFFIXES", None)
    return UsedFiles(
        key, section.paths, "records", tuple(inside or ()), partial(_check_files, suffixes=inside)
    )


@contextmanager
def _collected(faults: list[str], key: str) -> Iterator[None]:
    """Add what is refused inside to `faults`; a fault of a file with the key that names the file."""
    try:
        yield
    except InputError as error:
        faults.append(f"{key}: {error}")
    except IRPretrainError as error:
        faults.append(str(error))


def _refuse(heading: str, faults: list[str]) -> None:
    """Raise a ConfigError that lists the faults, if there are any."""
    if faults:
        raise ConfigError("\n".join([heading, *("  - " + fault.replace("\n", "\n  ") for fault in faults)]))


def _is_file(path: str, manifest: Manifest) -> bool:
    """Whether a path is one of a file or folder; ConfigError where it names an embedded asset that does not exist."""
    kind, where = resolve(path)
    if kind == "embedded":
        manifest.asset(str(where))
    return kind == "file"


def _check_documents(corpus: CorpusConfig, paths: Sequence[str]) -> None:
    suffixes = format_module("documents", corpus.format).SUFFIXES
    for path in paths:
        _check_usable(list_files(path, suffixes, corpus.files))


def _check_files(paths: Sequence[str], suffixes: Sequence[str] | None = None) -> None:
    _check_usable(given_files(paths, suffixes))


def _check_model(check: Callable[..., None], arguments: Sequence[Any], paths: Sequence[str]) -> None:
    for path in paths:
        folder = Path(path)
        _check_usable([folder, *(sorted(folder.rglob("*")) if folder.is_dir() else ())])
        check(path, *arguments)


def _check_usable(paths: Iterable[str | Path]) -> None:
    """Refuse what may not be read, and names that Snakemake would fill in, so that it might read another file."""
    for path in paths:
        if re.search(r"\{.*\}", str(path), re.DOTALL):  # there is no way to quote them
            raise InputError(
                path,
                "its name contains { and }, which Snakemake reads as a wildcard",
                remedy="Rename it, or give a link to it that has a plain name.",
            )
        if Path(path).exists() and not os.access(path, os.R_OK, effective_ids=EFFECTIVE):
            raise InputError(
                path, "you have no permission to read it", remedy="Change its permissions, or give a copy."
            )


def _check_folds(dataset: DatasetConfig, paths: Sequence[str]) -> None:
    from irpretrain.evaluation.folds import given_folds  # loads pyarrow, so only where folds are given

    for path in paths:
        _check_usable([path])
        if not Path(path).exists():
            one_file(path)
    given_folds(dataset)
