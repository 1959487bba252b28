"""Models for others to take, with their cards."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from irpretrain.config.root import Config
from irpretrain.corpora.catalogue.table import HUB
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.sources import language_mismatch
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_files import hub_name
from irpretrain.text.languages import ENGLISH, language
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.corpora import Catalogue
from irpretrain.workflow.plan.part import PlanPart, Wildcards, as_json, is_embedded, is_made, paths_of
from irpretrain.workflow.plan.shown import ReportFiles

NOTHING = "no experiment of the configuration tests a model that is trained here"


def example_target(config: Config) -> str:
    """Return a file that a configuration makes without comparisons, preferably of the user's own documents."""
    own_corpora = _own_corpora(config)
    if own_corpora and config.term_weights and own_corpora.isdisjoint(chain(*config.collections.values())):
        return paths.WEIGHTED_INDEX.format(index=next(iter(config.term_weights)), corpus=min(own_corpora))
    return example_export(config)


def example_export(config: Config) -> str:
    """Return the folder of a model that is pre-trained, on the user's own documents if any is."""
    models = [name for name, model in config.models.items() if model.tasks and has_known_shape(config, name)]
    models_on_own_corpora = [name for name in models if _own_corpora(config) & _corpora_of(config, name)]
    return paths.EXPORTED.format(model=next(iter(models_on_own_corpora or models), "{model}"), seed=1)


def _own_corpora(config: Config) -> set[str]:
    return {name for name, corpus in config.corpora.items() if not (is_made(corpus.path) or corpus.entry)}


def _corpora_of(config: Config, model: str) -> set[str]:
    return set(config.collections[str(config.models[model].collection)])


def has_known_shape(config: Config, model: str) -> bool:
    """Whether Hugging Face has a shape for a model: not for the head of CEDR-KNRM, its own or its start's."""
    return all(config.training_of(name).head != "cedr-knrm" for name in config.with_starts([model]))


@dataclass(frozen=True, eq=False)
class Exports(PlanPart):
    """Jobs of an exported model."""

    catalogue: Catalogue
    shown: ReportFiles

    def models(self, wildcards: Wildcards) -> list[str]:
        """Every model that is pre-trained for some experiment, those that others start from too; ConfigError for none.

        Models that have the head of CEDR-KNRM are left out.
        """
        pretrained = [
            paths.EXPORTED.format(model=model, seed=seed)
            for model, seed in self.shown.pretrainings
            if self.config.models[model].tasks and has_known_shape(self.config, model)
        ]
        if not pretrained:
            raise ConfigError(f"{NOTHING}; name one, such as {example_export(self.config)}")
        return pretrained

    def scores(self, wildcards: Wildcards) -> dict[str, str]:
        """Existing scores of experiments that test a model, with their hashes."""
        # No job makes them for an export, so they are no inputs; an export is made again if they have changed.
        experiments = self.config.experiments
        experiments_of_model = [
            name for name in self.shown.scored_experiments if wildcards.model in experiments[name].models
        ]
        return {
            path: sha256(path) for path in paths_of(paths.SCORES, experiments_of_model) if Path(path).exists()
        }

    def card(self, wildcards: Wildcards) -> dict[str, Any]:
        """Fields of report.model_card.CardFacts."""
        model = self.config.models[wildcards.model]
        stages = [self.config.models[name] for name in self.config.with_starts([wildcards.model])]
        encoder = self.config.encoder_of(wildcards.model)
        collections = dict.fromkeys(str(stage.collection) for stage in stages if stage.tasks)
        corpora = dict.fromkeys(corpus for name in collections for corpus in self.config.collections[name])
        return {
            "key": wildcards.model,
            "label": model.label,
            "seed": int(wildcards.seed),
            "scored": {"model": [wildcards.model], "seed": [wildcards.seed], "fold": ["0"]},
            "papers": [
                numbers.citation
                for paper, numbers in zip(self.shown.papers, self.shown.numbers, strict=True)
                if wildcards.model in self.config.of_papers([paper]).used_models
            ],
            "stages": [self._stage(name) for name in self._stages(wildcards)],
            "encoder": self._source(encoder.label, encoder),
            "encoder_caveat": " ".join(filter(None, self._caveats(encoder.path))),
            "language": language(self.config.text.language).code,
            "corpora": [self._source(corpus, self.config.corpora[corpus]) for corpus in corpora],
        }

    def trained(self, wildcards: Wildcards) -> list[str]:
        """The trainings that a model went through, the first one first."""
        return [paths.PRETRAINED.format(model=name, seed=wildcards.seed) for name in self._stages(wildcards)]

    def probes(self, wildcards: Wildcards) -> list[str]:
        """What the model made of held-out groups after each training, the first one first."""
        return [paths.PROBE.format(model=name, seed=wildcards.seed) for name in self._stages(wildcards)]

    def _stages(self, wildcards: Wildcards) -> list[str]:
        model, *starts = self.config.with_starts([wildcards.model])
        return [*(name for name in reversed(starts) if self.config.models[name].tasks), model]

    def _stage(self, model: str) -> dict[str, Any]:
        return {
            "model": model,
            "tasks": [
                {**as_json(task), "options": as_json(self.config.objectives[task.objective])}
                for task in self.config.models[model].tasks
            ],
            "training": as_json(self.config.training_of(model)),
        }

    def _source(self, name: str, section: Any) -> list[str]:
        if is_embedded(section.path):
            asset = self.manifest.asset(str(resolve(section.path)[1]))
            return [name, asset.licence, asset.hub or ""]
        if getattr(section, "entry", None):
            entry = self.catalogue.entries[section.entry]
            return [name, entry.licence.terms, ""]
        for entry in self.catalogue.entries.values():  # an encoder of the catalogue has no key `entry`
            for folder in self.catalogue.folders:
                file = entry.files.get(os.path.relpath(section.path, folder))
                if file and file.url and file.url.startswith(HUB):
                    return [name, entry.licence.terms, file.url.removeprefix(HUB)]
        return [name, "not known here: the user's own files", hub_name(section.path)]

    def _caveats(self, path: str) -> Iterator[str]:
        if is_embedded(path):
            yield self.manifest.asset(str(resolve(path)[1])).caveat or ""
        texts = self.config.text.language
        if mismatch := language_mismatch(path, self.manifest, texts):
            yield mismatch[0].upper() + mismatch[1:]
        if texts != ENGLISH:
            yield f"Wherever an option below names a stop list or a stemmer, it is the one of `text.language: {texts}`."
