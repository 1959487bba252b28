"""Jobs on corpora: the catalogue, collections, graphs and ranking groups."""

import os
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from irpretrain.config.objectives import needs
from irpretrain.corpora.catalogue.absence import fingerprint
from irpretrain.corpora.catalogue.completion import data_folders, folder_of
from irpretrain.corpora.catalogue.read import Entry, read_catalogue
from irpretrain.foundation.provenance import content_hash
from irpretrain.foundation.records import parts_of_shard
from irpretrain.text.languages import ENGLISH, with_language
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.part import (
    Files,
    Input,
    PlanPart,
    Wildcards,
    as_json,
    as_mapping,
    is_made,
    paths_of,
    reading_options,
)


class Catalogue(PlanPart):
    """Jobs of an entry of resources/datasets, which are read only where a target needs them."""

    @cached_property
    def entries(self) -> dict[str, Entry]:
        return dict(read_catalogue())

    @property
    def folders(self) -> list[str]:
        return data_folders(self.config.data_folder)

    def folder(self, wildcards: Wildcards) -> str:
        return folder_of(self.entries[wildcards.entry], self.config.data_folder)

    def options(self, wildcards: Wildcards) -> Any:
        """An entry's description of its files."""
        return as_json(self.entries[wildcards.entry])

    def states(self, wildcards: Wildcards) -> dict[str, str]:
        """Size and time of what is there, so that a changed file is verified anew."""
        folder = self.folder(wildcards)
        return {path: fingerprint(f"{folder}/{path}") for path in self._present_files(wildcards.entry)}

    def present(self, wildcards: Wildcards | None = None) -> list[str]:
        """Entries of which anything is there; the others need no job to be missing."""
        return [entry for entry in self.entries if self._present_files(entry)]

    def reports(self, wildcards: Wildcards | None = None) -> list[str]:
        return paths_of(paths.CATALOGUE_REPORT, self.present())

    def _present_files(self, entry: str) -> list[str]:
        folder = folder_of(self.entries[entry], self.config.data_folder)
        return [path for path in self.entries[entry].files if Path(folder, path).exists()]


# What decides the links of a shard; the rest of `graph` matters to the whole graph only.
LINK_SETTINGS = {"segment_words", "title_case", "mentions", "mention_lower"}


class Corpora(PlanPart):
    """Jobs of a corpus or of a shard of it."""

    def options(self, wildcards: Wildcards) -> Any:
        options = reading_options(self.config.corpora[wildcards.corpus])
        return with_language(options, self.config.text.language if options["passage_words"] else ENGLISH)

    def link_options(self, wildcards: Wildcards) -> Any:
        options = self.settings("graph", include=LINK_SETTINGS)
        return with_language(options, self.config.text.language)

    def files(self, wildcards: Wildcards) -> Input:
        """The files that a shard reads, so that a changed one reruns it."""
        section = self.config.corpora[wildcards.corpus]
        if is_made(section.path):
            return self.source(section.path)
        self.require_path(section.path)
        # Inputs are hashed: with all files, 50 shards of ClueWeb09-B would read all of it 50 times.
        shard_files = parts_of_shard(self._all_files(wildcards.corpus), int(wildcards.shard), section.shards)
        return [file for _, file, _ in shard_files]

    def file_names(self, wildcards: Wildcards) -> str:
        """A hash of the names of all files, which decide what part of the corpus each is."""
        path = self.config.corpora[wildcards.corpus].path
        return "" if is_made(path) else content_hash(self._all_files(wildcards.corpus))

    @cache
    def _all_files(self, corpus: str) -> list[str]:
        corpus_config = self.config.corpora[corpus]
        return list(map(str, corpus_config.files_in(corpus_config.path)))

    def aid_states(self, wildcards: Wildcards) -> dict[str, str]:
        """Size and time of files that the options name."""
        # As inputs, 15 GB of spam rankings would be hashed for each shard.
        aids = self.config.corpora[wildcards.corpus].option_files
        return {path: fingerprint(path) for path in aids if os.path.exists(path)}

    def documents(self, wildcards: Wildcards) -> list[str]:
        return self.each_shard(paths.DOCUMENTS, [wildcards.corpus])

    def needs_positions(self, wildcards: Wildcards) -> bool:
        """Whether an objective in use needs positions of this corpus's word pieces, or any model may be a target."""
        models = [
            self.config.models[name]
            for name in self.config.needed_models or self.config.models
            if self.tokenizer_of(name) == wildcards.tokenizer
        ]
        collections_of_corpus = {
            name for name, corpora in self.config.collections.items() if wildcards.corpus in corpora
        }
        trained_models = [model for model in models if model.collection in collections_of_corpus]
        return any(
            "positions" in self.needed(task.objective) for model in trained_models for task in model.tasks
        )

    # Collections

    def shard_counts(self, wildcards: Wildcards) -> list[list[Any]]:
        """Corpora in their order, each with its number of shards: where one corpus ends and the next begins."""
        corpora = self.config.collections[wildcards.collection]
        return [[corpus, self.config.corpora[corpus].shards] for corpus in corpora]

    def expected_of_collection(self, wildcards: Wildcards) -> dict[str, int]:
        return self.expected(self.config.collections[wildcards.collection])

    def expected_of_dataset(self, wildcards: Wildcards) -> dict[str, int]:
        return self.expected([self.config.datasets[wildcards.dataset].corpus])

    def expected(self, corpora: list[str]) -> dict[str, int]:
        """Expected number of records of corpora, if known."""
        counts = {corpus: self.config.corpora[corpus].expected for corpus in corpora}
        return {corpus: count for corpus, count in counts.items() if count}

    def titled_documents(self, wildcards: Wildcards) -> list[str]:
        """All documents of a collection, where their titles are looked for in each of its texts."""
        needs_titles = self.config.graph.mentions == "titles"
        return self.of_collection(paths.DOCUMENTS)(wildcards) if needs_titles else []

    # Objectives

    def needed(self, objective: str) -> frozenset[str]:
        """What an objective reads beside documents and tokens: some of irpretrain.config.objectives.NEEDS."""
        return needs(self.config.objectives[objective])

    def if_needed(self, need: str, files: str | Files) -> Callable[[Wildcards], Input]:
        """Return a path, or files, for objectives that need them."""

        def needed_files(wildcards: Wildcards) -> Input:
            if need not in self.needed(wildcards.objective):
                return []
            return files.format_map(as_mapping(wildcards)) if isinstance(files, str) else files(wildcards)

        return needed_files

    def axiom_settings(self, wildcards: Wildcards) -> Any:
        """How axioms are compared, for objectives that do."""
        compares = "axiom_values" in self.needed(wildcards.objective)
        return self.settings("axioms") if compares else {}

    def predictor(self, wildcards: Wildcards) -> Input:
        """The probabilities of the preference predictor that an objective names."""
        name = getattr(self.config.objectives[wildcards.objective], "predictor", None)
        return [] if name is None else paths.PREDICTOR_TABLE.format(predictor=name)
