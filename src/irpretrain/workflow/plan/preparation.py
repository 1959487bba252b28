"""From what a user configures to what is planned: files that are not there are refused, left out, or stood in for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from irpretrain.config import Config, parse_config
from irpretrain.corpora.catalogue.absence import (
    missing_by_entry,
    missing_files,
    refuse_absent,
    without_absent,
)
from irpretrain.corpora.catalogue.completion import with_data_of_the_project, with_locations
from irpretrain.corpora.embedded import Manifest, installed_path, read_manifest
from irpretrain.corpora.sources import (
    UsedFile,
    check_downloads,
    check_sources,
    language_notes,
    used_files,
    with_caveats,
)
from irpretrain.foundation.resources import project_directory, resources_directory
from irpretrain.models.encoder_files import cached_model


@dataclass(frozen=True)
class Prepared:
    """A configuration whose files are there."""

    config: Config  # without what files are missing for
    manifest: Manifest  # embedded data
    missing: dict[str, list[str]]  # files of the catalogue that are not there, by its entries
    as_if_there: bool  # whether these have empty stand-ins, so that a dry run plans what needs them
    warnings: Sequence[str] = ()  # what to say of encoders and the language of the texts


def check_library(library: ModuleSpec | None) -> None:
    """Raise SetupError where the library that jobs import is an installed copy, which has no workflow beside it."""
    if library is not None and library.origin is not None:
        project_directory(Path(library.origin).resolve().parent)


def prepare(
    content: dict[str, Any],  # the configuration, overlays laid over the default
    source: str,  # names of its files, for messages
    manifest_file: str | Path,  # resources/embedded.yaml
    # Whether missing data of ir_datasets are refused, and missing files of the catalogue, where `skip_absent`
    # does not leave them out.
    needs_data: bool,
    stand_ins: Callable[[], str] | None,  # makes a folder for stand-ins, for a dry run; None for a run
) -> Prepared:
    """Return what is planned of a configuration; ConfigError or InputError where it cannot be."""
    config = with_cached_models(with_data_of_the_project(parse_config(content, source)))
    missing_data = missing_by_entry(config)
    if needs_data:
        refuse_absent(config)
    manifest = read_manifest(manifest_file)
    warnings = language_notes(config, manifest)  # before stand-ins: those of encoders are English
    as_if_there = bool(missing_data) and config.skip_absent and stand_ins is not None
    if as_if_there and stand_ins is not None:
        config = with_stand_ins(config, stand_ins())
    config = without_absent(config)
    check_sources(config, manifest)
    if needs_data:
        check_downloads(config)
    return Prepared(with_caveats(config, manifest, warnings), manifest, missing_data, as_if_there, warnings)


def with_cached_models(config: Config) -> Config:
    """Return the configuration with models that it names as Hugging Face's hub does read from the hub's cache."""
    paths = [used_file.path for used_file in used_files(config) if used_file.kind == "encoder"]
    folders = {path: str(folder) for path in paths if (folder := cached_model(path)) is not None}
    return with_locations(config, folders) if folders else config


# Empty files in place of data that are not there, so that everything that reads them can be planned.


# In place of folds that files would give: what is planned depends on their number alone.
STAND_IN_FOLD_COUNT = 5


def with_stand_ins(config: Config, folder: str | Path) -> Config:
    """Return the configuration with a stand-in in `folder` for each file of the catalogue that is missing.

    What is missing is a matter of `missing_files`; the configuration itself is returned where nothing is.
    """
    missing_paths = missing_files(config)
    locations = {
        missing_file.path: str(Path(folder) / missing_file.path.lstrip("/")) for missing_file in missing_paths
    }
    for missing_file in missing_paths:
        if missing_file.kind != "folds":
            write_stand_in(missing_file, Path(locations[missing_file.path]))
    if not missing_paths:
        return config

    def with_any_vocabulary(section: Any) -> Any:
        if section.encoder is None or section.encoder.path not in locations:
            return section
        unchecked_encoder = section.encoder.model_copy(
            update={"vocabulary_size": None}
        )  # the stand-in has its own
        return section.model_copy(update={"encoder": unchecked_encoder})

    sections = {
        name: {key: with_any_vocabulary(entry) for key, entry in getattr(config, name).items()}
        for name in ("models", "term_weights")
    }
    return with_locations(
        with_any_vocabulary(config).model_copy(update=sections), locations, STAND_IN_FOLD_COUNT
    )


def write_stand_in(used_file: UsedFile, location: Path) -> None:
    """Put an empty file at a place; where a folder belongs (its name has no suffix), one with a file that counts; where
    an encoder belongs, the embedded one."""
    location.parent.mkdir(parents=True, exist_ok=True)
    if used_file.kind == "encoder":
        encoder = installed_path(read_manifest(resources_directory() / "embedded.yaml").asset("minilm"))
        if encoder is not None and not location.exists():
            location.symlink_to(encoder)
    elif location.suffix or not used_file.inside:
        location.touch()
    else:
        inner_path = location / _matching_name(used_file.inside[0])
        inner_path.parent.mkdir(parents=True, exist_ok=True)
        inner_path.touch()


def _matching_name(pattern: str) -> str:
    if any(character in pattern for character in "*?"):
        return pattern.replace("**/", "").replace("*", "1").replace("?", "1")
    return f"1{pattern}"
