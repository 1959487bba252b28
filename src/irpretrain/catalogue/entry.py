"""What the catalogue knows of a data set: one YAML file of resources/datasets, checked."""

from pathlib import PurePosixPath
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from irpretrain.config.base import Section

SECTIONS = ("corpora", "datasets", "first_stages", "downstream_tasks")
"""Sections of the configuration that an entry may fill."""
LISTING = "make run ARGS=datasets"
"""The command that says how to get data; it needs no environment that is activated."""


class Licence(Section):
    """On which terms the data may be used."""

    terms: str = Field(min_length=1, description="In one clause.")
    page: str = Field(min_length=1, description="Where they can be read, and where access is asked for.")


class SourceFile(Section):
    """One file as its publisher gives it, or a folder of files."""

    holds: str = Field(min_length=1, description="What is in it, in a few words.")
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="As published.")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$", description="As published.")
    bytes: int | None = Field(None, ge=1, description="Size of the published file.")
    folder: bool = Field(False, description="Whether it is a folder.")
    files: int | None = Field(
        None, ge=1, description="Of a folder: how many files its corpus must find in it; null: any number."
    )
    optional: bool = Field(
        False, description="Whether the data set is whole without it, such as a run of others."
    )
    url: str | None = Field(
        None,
        description="Where its publisher has it, for whoever accepts the terms: the file, a Hugging Face model, or, "
        "with `unpack`, an archive.",
    )
    unpack: str | None = Field(
        None, description="Folder of the data folder into which the archive at `url` is unpacked."
    )
    then: str | None = Field(
        None, description="Command that makes the file from what was fetched; {data} is the data folder."
    )

    @model_validator(mode="after")
    def _check_folder(self) -> Self:
        if self.folder and (self.md5 or self.sha256 or self.bytes):
            raise ValueError("a folder has no checksum and no size")
        if self.files is not None and not self.folder:
            raise ValueError("files is for folders")
        return self


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

    def required(self) -> dict[str, SourceFile]:
        """Return the files without which the data set is not whole."""
        return {path: file for path, file in self.files.items() if not file.optional}
