"""Models and ranking groups for others to take, with their cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from irpretrain.config.usage import used_models, with_starts
from irpretrain.corpora.embedded import resolve
from irpretrain.errors import ConfigError
from irpretrain.plan import paths
from irpretrain.plan.catalogue import Catalogue
from irpretrain.plan.requests import Wildcards
from irpretrain.plan.room import Room, each, is_embedded, plain
from irpretrain.plan.shown import Shown

NOTHING = "no experiment of the configuration tests a model that is trained here"


@dataclass(frozen=True, eq=False)
class Exports(Room):
    """Jobs of an exported model (wildcards `model` and `seed`), or of exported groups."""

    catalogue: Catalogue
    shown: Shown

    def models(self, wildcards: Wildcards) -> list[str]:
        """Every trained model that some experiment tests, and its scores; ConfigError where none is."""
        pairs = self.shown.trained_models
        if not pairs:
            raise ConfigError(f"{NOTHING}; name a file: {paths.EXPORTED}")
        return [
            template.format(model=model, seed=seed)
            for template in (paths.EXPORTED, paths.EXPORTED_SCORES)
            for model, seed in pairs
        ]

    def groups(self, wildcards: Wildcards) -> list[str]:
        """The ranking groups of every trained model that some experiment tests; ConfigError where none is."""
        pairs = self.shown.taught_groups
        if not pairs:
            raise ConfigError(f"{NOTHING}; name a file: {paths.EXPORTED_GROUPS}")
        return [
            paths.EXPORTED_GROUPS.format(collection=collection, objective=objective)
            for collection, objective in pairs
        ]

    def group_card(self, wildcards: Wildcards) -> dict[str, Any]:
        """Fields of report.group_export.GroupFacts."""
        corpora = self.config.collections[wildcards.collection]
        return {
            "objective": wildcards.objective,
            "collection": wildcards.collection,
            "options": plain(self.config.objectives[wildcards.objective]),
            "encoder": self._source(self.config.encoder.label, self.config.encoder),
            "corpora": [self._source(corpus, self.config.corpora[corpus]) for corpus in corpora],
        }

    def scores(self, wildcards: Wildcards) -> list[str]:
        """Scores of every experiment that tests a model."""
        experiments = self.config.experiments
        tested = [name for name in self.shown.scored if wildcards.model in experiments[name].models]
        return each(paths.SCORES, tested)

    def card(self, wildcards: Wildcards) -> dict[str, Any]:
        """Fields of report.model_card.CardFacts."""
        model, encoder = self.config.models[wildcards.model], self.config.encoder
        stages = [self.config.models[name] for name in with_starts(self.config, [wildcards.model])]
        collections = dict.fromkeys(str(stage.collection) for stage in stages if stage.tasks)
        corpora = dict.fromkeys(corpus for name in collections for corpus in self.config.collections[name])
        return {
            "key": wildcards.model,
            "label": model.label,
            "seed": int(wildcards.seed),
            "encoder": self._source(encoder.label, encoder),
            "corpora": [self._source(corpus, self.config.corpora[corpus]) for corpus in corpora],
            "papers": [
                numbers.citation
                for paper, numbers in zip(self.shown.papers, self.shown.numbers, strict=True)
                if wildcards.model in used_models(self.config.of_papers([paper]))
            ],
            "tasks": [
                {**plain(task), "options": plain(self.config.objectives[task.objective])}
                for task in model.tasks
            ],
            "training": plain(self.config.training_of(wildcards.model)),
            "encoder_caveat": self._caveat(encoder.path),
        }

    def _source(self, name: str, section: Any) -> list[str]:
        """Fields of report.cards.Source for a corpus or an encoder, as far as they are known."""
        if is_embedded(section.path):
            asset = self.manifest.asset(str(resolve(section.path)[1]))
            return [name, asset.licence, asset.hub or ""]
        if getattr(section, "entry", None):
            entry = self.catalogue.entries[section.entry]
            return [name, entry.licence.terms, entry.hub or ""]
        return [name, "not known here: the user's own files", ""]

    def _caveat(self, path: str) -> str:
        """What a reader of any number made with the encoder must know."""
        return (self.manifest.asset(str(resolve(path)[1])).caveat or "") if is_embedded(path) else ""
