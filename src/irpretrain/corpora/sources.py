"""The files and folders that a configuration names: whether they are there, before anything is computed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from irpretrain.config.corpora import DatasetConfig, FileConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import (
    collections_with_vectors,
    given_models,
    longest_sequences,
    used_corpora,
    used_datasets,
    used_indexes,
    used_runs,
    used_tasks,
    used_weightings,
    uses_encoder,
)
from irpretrain.corpora.embedded import Manifest, installed_path, resolve
from irpretrain.corpora.files import given_files, list_files, one_file
from irpretrain.corpora.registry import format_module, option_files
from irpretrain.errors import ConfigError, InputError, IRPretrainError
from irpretrain.models.encoder_files import (
    ENCODER_REMEDY,
    GENERATOR_REMEDY,
    check_encoder_files,
    check_model_files,
    check_reranker_files,
)

EFFECTIVE = os.access in os.supports_effective_ids


def check_sources(config: Config, manifest: Manifest) -> None:
    """Raise one ConfigError that lists every source in use which is missing or is not what it should be.

    Only what some experiment needs is looked at, and no file of documents, queries or judgements is opened.
    """
    faults: list[str] = []
    for name in used_corpora(config):
        with _collected(faults, f"corpora.{name}.path"):
            if not _is_embedded(config.corpora[name].path, manifest):
                _check_usable(corpus_files(config, name))
        with _collected(faults, f"corpora.{name}.options"):
            for path in corpus_aids(config, name):
                _check_usable([one_file(path)])
    for name in used_datasets(config):
        dataset = config.datasets[name]
        for part, file in zip(("queries", "qrels"), _topics_and_judgements(dataset), strict=True):
            with _collected(faults, f"datasets.{name}.{part}.path"):
                _check_files(file, manifest)
        with _collected(faults, f"datasets.{name}.folds"):
            _check_folds(dataset)
    for stage, name in used_runs(config):
        with _collected(faults, f"first_stages.{stage}.runs.{name}.path"):
            _check_files(config.first_stages[stage].runs[name], manifest)
    for name in used_tasks(config):
        for part, file in config.downstream_tasks[name].files.items():
            with _collected(
                faults, f"downstream_tasks.{name}.{config.downstream_tasks[name].kind}.{part}.path"
            ):
                _check_files(file, manifest)
    if uses_encoder(config):
        with _collected(faults, "encoder.path"):
            _check_encoder(config, manifest)
    for name, path in own_encoders(config).items():
        with _collected(faults, f"term_weights.{name}.encoder.path"):
            if not _is_embedded(path, manifest):
                longest = {f"term_weights.{name}.max_length": config.term_weights[name].max_length}
                _check_usable(_with_files(path))
                check_model_files(path, ENCODER_REMEDY, longest)
    for name in used_indexes(config):
        _check_index(config, name, manifest, faults)
    for name in collections_with_vectors(config):
        vectors = config.word_vectors.files.get(name)
        if vectors is not None and not _is_embedded(vectors, manifest):
            with _collected(faults, f"word_vectors.files.{name}"):
                _check_usable([one_file(vectors)])
    for name in given_models(config):
        with _collected(faults, f"models.{name}.cross_encoder"):
            path = str(config.models[name].cross_encoder)
            if not _is_embedded(path, manifest):
                _check_usable(_with_files(path))
                check_reranker_files(path)
    if faults:
        listed = "\n".join("  - " + fault.replace("\n", "\n  ") for fault in faults)
        raise ConfigError(f"Some sources cannot be used; paths are relative to {Path.cwd()}\n{listed}")


def used_assets(config: Config) -> list[str]:
    """Return the embedded assets that some experiment needs."""
    files = [file for name in used_datasets(config) for file in _topics_and_judgements(config.datasets[name])]
    files += [file for name in used_tasks(config) for file in config.downstream_tasks[name].files.values()]
    paths = [config.corpora[name].path for name in used_corpora(config)]
    paths += [path for file in files for path in file.paths]
    given = [str(config.models[name].cross_encoder) for name in given_models(config)]
    indexes = (config.indexes[name] for name in used_indexes(config))
    generators = [index.model for index in indexes if index.type == "doc2query"]
    own = [*own_encoders(config).values(), *generators]
    encoder = [config.encoder.path] if uses_encoder(config) else []
    resolved = [resolve(path) for path in [*paths, *encoder, *own, *given]]
    return list(dict.fromkeys(str(name) for kind, name in resolved if kind == "embedded"))


def with_caveats(config: Config, manifest: Manifest) -> Config:
    """Return the configuration with the caveats of the embedded assets in use first among the report's notes."""
    found = (manifest.asset(name).caveat for name in used_assets(config))
    caveats = [caveat for caveat in found if caveat and caveat not in config.report.notes]
    report = config.report.model_copy(update={"notes": [*caveats, *config.report.notes]})
    return config.model_copy(update={"report": report})


def corpus_files(config: Config, corpus: str) -> list[Path]:
    """Return the files of a user's own corpus, in their order; InputError where there is none."""
    section = config.corpora[corpus]
    return list_files(section.path, format_module("documents", section.format).SUFFIXES, section.files)


def corpus_aids(config: Config, corpus: str) -> list[str]:
    """Return the files that the options of a corpus name, such as its spam rankings."""
    section = config.corpora[corpus]
    return option_files("documents", section.format, section.options)


def encoder_files(config: Config) -> list[Path]:
    """Return the files of a user's own encoder."""
    return list_files(config.encoder.path, [""])


def own_encoders(config: Config) -> dict[str, str]:
    """Return the paths of the encoders that weightings in use have of their own, by the weighting."""
    encoders = ((name, config.term_weights[name].encoder) for name in used_weightings(config))
    return {name: encoder.path for name, encoder in encoders if encoder is not None}


def _check_index(config: Config, name: str, manifest: Manifest, faults: list[str]) -> None:
    """Look for what an index is made of beside the corpus."""
    index = config.indexes[name]
    if index.type == "expansion":
        with _collected(faults, f"indexes.{name}.path"):
            _check_usable([one_file(index.path)])
    elif index.type == "doc2query":
        with _collected(faults, f"indexes.{name}.model"):
            if not _is_embedded(index.model, manifest):
                keys = ("max_length", "query_length")
                longest = {f"indexes.{name}.{key}": getattr(index, key) for key in keys}
                _check_usable(_with_files(index.model))
                check_model_files(index.model, GENERATOR_REMEDY, longest)


def _topics_and_judgements(dataset: DatasetConfig) -> tuple[FileConfig, FileConfig]:
    return dataset.queries, dataset.qrels


@contextmanager
def _collected(faults: list[str], key: str) -> Iterator[None]:
    """Add what is refused inside to `faults`; a fault of a file with the key that names the file."""
    try:
        yield
    except InputError as error:
        faults.append(f"{key}: {error}")
    except IRPretrainError as error:
        faults.append(str(error))


def _is_embedded(path: str, manifest: Manifest) -> bool:
    """Whether a path is an embedded asset; ConfigError where there is no such asset."""
    kind, where = resolve(path)
    if kind == "embedded":
        manifest.asset(str(where))
    return kind == "embedded"


def _check_files(file: FileConfig, manifest: Manifest) -> None:
    own = [path for path in file.paths if not _is_embedded(path, manifest)]
    _check_usable(given_files(own, getattr(format_module(file.kind, file.format), "SUFFIXES", None)))


def _check_usable(paths: Iterable[str | Path]) -> None:
    """Refuse what may not be read, and names that Snakemake would fill in, so that it might read another file."""
    for path in paths:
        if re.search(r"\{.*\}", str(path), re.DOTALL):  # there is no way to quote them
            raise InputError(
                path,
                "its name has { and }, between which Snakemake looks for a wildcard",
                remedy="Rename it, or give a link to it that has a plain name.",
            )
        if Path(path).exists() and not os.access(path, os.R_OK, effective_ids=EFFECTIVE):
            raise InputError(path, "you may not read it", remedy="Change its permissions, or give a copy.")


def _check_folds(dataset: DatasetConfig) -> None:
    if not isinstance(dataset.folds, int):
        from irpretrain.evaluation.folds import given_folds  # loads pyarrow, so only where folds are given

        if isinstance(dataset.folds, str):
            _check_usable([dataset.folds])
            if not Path(dataset.folds).exists():
                one_file(dataset.folds)
        given_folds(dataset)


def _check_encoder(config: Config, manifest: Manifest) -> None:
    path = config.encoder.path
    embedded = _is_embedded(path, manifest)
    if not embedded:
        _check_usable(_with_files(path))
    folder = installed_path(manifest.asset(str(resolve(path)[1]))) if embedded else Path(path)
    if folder is not None:  # a package that is not installed is reported by the stage that copies from it
        check_encoder_files(folder, config.encoder, longest_sequences(config))


def _with_files(directory: str | Path) -> list[Path]:
    """Return a model's directory and all that lies in it."""
    folder = Path(directory)
    return [folder, *(sorted(folder.rglob("*")) if folder.is_dir() else ())]
