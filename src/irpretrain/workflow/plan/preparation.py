"""From what a user configures to what is planned: files that are not there are refused, left out, or stood in for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from irpretrain.config import Config, parse_config
from irpretrain.corpora.catalogue.absence import missing_by_entry, refuse_absent, without_absent
from irpretrain.corpora.catalogue.completion import moved, with_data_of_the_project
from irpretrain.corpora.embedded import Manifest, read_manifest
from irpretrain.corpora.sources import check_downloads, check_sources, used_files, with_caveats
from irpretrain.foundation.resources import project_directory
from irpretrain.models.encoder_files import cached_model


@dataclass(frozen=True)
class Prepared:
    """A configuration whose files are there."""

    config: Config  # without what files are missing for
    manifest: Manifest  # embedded data
    missing: dict[str, list[str]]  # files of the catalogue that are not there, by its entries
    as_if_there: bool  # whether these have empty stand-ins, so that a dry run plans what needs them


def check_library(library: ModuleSpec | None) -> None:
    """Raise SetupError where the library that jobs import is an installed copy, which has no workflow beside it."""
    if library is not None and library.origin is not None:
        project_directory(Path(library.origin).resolve().parent)


def prepare(
    given: dict[str, Any],  # the configuration, overlays laid over the default
    source: str,  # names of its files, for messages
    manifest_file: str | Path,  # resources/embedded.yaml
    # Whether missing data of ir_datasets are refused, and missing files of the catalogue, where `skip_absent`
    # does not leave them out.
    needs_data: bool,
    stand_ins: Callable[[], str] | None,  # makes a folder for stand-ins, for a dry run; None for a run
) -> Prepared:
    """Return what is planned of a configuration; ConfigError or InputError where it cannot be."""
    config = with_cached_models(with_data_of_the_project(parse_config(given, source)))
    missing = missing_by_entry(config)
    if needs_data:
        refuse_absent(config)
    as_if_there = bool(missing) and config.skip_absent and stand_ins is not None
    if as_if_there and stand_ins is not None:
        from irpretrain.workflow.plan.stand_ins import with_stand_ins

        config = with_stand_ins(config, stand_ins())
    config = without_absent(config)
    manifest = read_manifest(manifest_file)
    check_sources(config, manifest)
    if needs_data:
        check_downloads(config)
    return Prepared(with_caveats(config, manifest), manifest, missing, as_if_there)


def with_cached_models(config: Config) -> Config:
    """Return the configuration with models that it names as Hugging Face's hub does read from the hub's cache."""
    paths = [path for used in used_files(config) if used.kind == "encoder" for path in used.paths]
    folders = {path: str(folder) for path in paths if (folder := cached_model(path)) is not None}
    return moved(config, folders) if folders else config
