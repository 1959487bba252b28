"""The catalogue of data sets, read only where a target needs it: which entries are there, and their files."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from irpretrain.catalogue.entry import Entry
from irpretrain.catalogue.folders import data_folders, folder_of
from irpretrain.plan import paths
from irpretrain.plan.part import PlanPart, each, plain
from irpretrain.plan.requests import Wildcards


class Catalogue(PlanPart):
    """Jobs of an entry of resources/datasets."""

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Entries by name."""
        from irpretrain.catalogue.read import read_catalogue

        return dict(read_catalogue())

    @property
    def folders(self) -> list[str]:
        """Folders in which files are looked for."""
        return data_folders(self.config.data_folder)

    def folder(self, wildcards: Wildcards) -> str:
        return folder_of(self.entries[wildcards.entry], self.config.data_folder)

    def options(self, wildcards: Wildcards) -> Any:
        """What an entry says of its files and how to read them."""
        return plain(self.entries[wildcards.entry])

    def states(self, wildcards: Wildcards) -> dict[str, str]:
        """Size and time of what is there, so that a changed file is verified anew."""
        from irpretrain.catalogue.states import fingerprint

        folder = self.folder(wildcards)
        return {path: fingerprint(f"{folder}/{path}") for path in self._present(wildcards.entry)}

    def present(self, wildcards: Wildcards | None = None) -> list[str]:
        """Entries of which anything is there; the others need no job to be missing."""
        return [entry for entry in self.entries if self._present(entry)]

    def reports(self, wildcards: Wildcards | None = None) -> list[str]:
        return each(paths.CATALOGUE_REPORT, self.present())

    def _present(self, entry: str) -> list[str]:
        """The files of an entry that are there, by their paths in the data folder."""
        folder = folder_of(self.entries[entry], self.config.data_folder)
        return [path for path in self.entries[entry].files if Path(folder, path).exists()]
