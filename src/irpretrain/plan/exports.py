"""Models for others to take, with their cards."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.catalogue.table import HUB
from irpretrain.config.text import EncoderConfig
from irpretrain.config.usage import (
    active_experiments,
    first_stages_of,
    trained_on,
    used_models,
    used_weightings,
    with_starts,
)
from irpretrain.corpora.embedded import resolve
from irpretrain.errors import ConfigError
from irpretrain.models.encoder_files import hub_name
from irpretrain.papers.files import read_paper
from irpretrain.plan import paths
from irpretrain.plan.corpora import Catalogue
from irpretrain.plan.datasets import Experiments
from irpretrain.plan.part import PlanPart, each, is_embedded, plain
from irpretrain.plan.requests import Wildcards
from irpretrain.plan.shown import Shown
from irpretrain.provenance import sha256

NOTHING = "no experiment of the configuration tests a model that is trained here"


@dataclass(frozen=True, eq=False)
class Exports(PlanPart):
    """Jobs of an exported model."""

    catalogue: Catalogue
    experiments: Experiments
    shown: Shown

    def models(self, wildcards: Wildcards) -> list[str]:
        """Every model that is trained for some experiment; ConfigError if there is none.

        Pre-trained models, also those that others start from, stored fine-tuned ones, and weighers of words, without
        models that have the head of CEDR-KNRM.
        """
        pretrained = [
            paths.EXPORTED.format(model=model, seed=seed)
            for model, seed in self.shown.pretrainings
            if self.config.models[model].tasks and self._has_known_shape(model)
        ]
        weighers = [
            paths.EXPORTED_WEIGHER.format(weighting=name, fold=0)
            for name in used_weightings(self.shown.config)
            if self.config.term_weights[name].model == "regressor"
        ]
        if not (models := [*pretrained, *self._finetuned(), *weighers]):
            raise ConfigError(f"{NOTHING}; name a file: {paths.EXPORTED}")
        return models

    def _finetuned(self) -> list[str]:
        return [
            paths.EXPORTED_FINETUNED.format(fold=fold, **cell._asdict())
            for experiment in active_experiments(self.shown.config)
            for cell in self.experiments.cells(experiment)
            if cell.regime != "zero-shot"
            and self.config.models[cell.model].neural is None
            and self._has_known_shape(cell.model)
            and self.config.finetuning_of(cell.model).keep_models
            for fold in self.experiments.datasets.fold_numbers(cell.dataset)
        ]

    def _has_known_shape(self, model: str) -> bool:
        """Whether Hugging Face has a shape for a model: not for the head of CEDR-KNRM, its own or its start's."""
        stages = with_starts(self.config, [model])
        return all(self.config.training_of(name).head != "cedr-knrm" for name in stages)

    def scores(self, wildcards: Wildcards) -> dict[str, str]:
        """Existing scores of experiments that test a model, with their hashes."""
        # No job makes them for an export, so they are no inputs; an export is made again if they have changed.
        experiments = self.config.experiments
        return self._there(name for name in self.shown.scored if wildcards.model in experiments[name].models)

    def weigher_scores(self, wildcards: Wildcards) -> dict[str, str]:
        """The same of experiments with a first stage over a weighting."""
        stages = set(self._stages(wildcards.weighting))
        experiments = self.config.experiments
        return self._there(
            name for name in self.shown.scored if stages.intersection(first_stages_of(experiments[name]))
        )

    def _there(self, experiments: Iterable[str]) -> dict[str, str]:
        return {path: sha256(path) for path in each(paths.SCORES, experiments) if Path(path).exists()}

    def _stages(self, weighting: str) -> list[str]:
        """First stages that search the index of a weighting, or weigh queries by it."""
        stages = self.config.first_stages.items()
        return [name for name, stage in stages if weighting in (stage.index, stage.query_weights)]

    def card(self, wildcards: Wildcards) -> dict[str, Any]:
        """Fields of report.model_card.CardFacts."""
        model = self.config.models[wildcards.model]
        stages = [self.config.models[name] for name in with_starts(self.config, [wildcards.model])]
        given = next((stage for stage in stages if stage.cross_encoder), None)
        encoder = (
            EncoderConfig(path=str(given.cross_encoder), label=given.label)
            if given
            else self.config.encoder_of(wildcards.model)
        )
        collections = dict.fromkeys(str(stage.collection) for stage in stages if stage.tasks)
        corpora = dict.fromkeys(corpus for name in collections for corpus in self.config.collections[name])
        return {
            "key": wildcards.model,
            "label": model.label,
            "seed": int(wildcards.seed),
            "kind": "ranker",
            "what": "A cross-encoder for re-ranking.",
            "scored": {"model": [wildcards.model], "seed": [wildcards.seed], "fold": ["0"]},
            "regime": "zero-shot",
            "papers": [
                numbers.citation
                for paper, numbers in zip(self.shown.papers, self.shown.numbers, strict=True)
                if wildcards.model in used_models(self.config.of_papers([paper]))
            ],
            **self._trained(wildcards.model),
            "earlier": [{"model": name, **self._trained(name)} for name in self._earlier(wildcards)],
            **self._made_from(encoder, corpora),
        }

    def earlier(self, wildcards: Wildcards) -> list[str]:
        """The trainings that a model went through before its own, the first one first."""
        return [paths.PRETRAINED.format(model=name, seed=wildcards.seed) for name in self._earlier(wildcards)]

    def probes(self, wildcards: Wildcards) -> list[str]:
        """What the model made of held-out groups after each training, the first one first."""
        names = [*self._earlier(wildcards), wildcards.model]
        return [paths.PROBE.format(model=name, seed=wildcards.seed) for name in names]

    def _earlier(self, wildcards: Wildcards) -> list[str]:
        _, *starts = with_starts(self.config, [wildcards.model])
        return [name for name in reversed(starts) if self.config.models[name].tasks]

    def _trained(self, model: str) -> dict[str, Any]:
        return {
            "tasks": [
                {**plain(task), "options": plain(self.config.objectives[task.objective])}
                for task in self.config.models[model].tasks
            ],
            "training": plain(self.config.training_of(model)),
        }

    def finetuned_card(self, wildcards: Wildcards) -> dict[str, Any]:
        """The same of a model that was fine-tuned for one fold, which the scores are of."""
        queries = self.config.datasets[trained_on(self.config, wildcards.dataset)]
        trained = self._source(queries.corpus, self.config.corpora[queries.corpus])
        card = self.card(wildcards)
        fold = {name: [getattr(wildcards, name)] for name in ("dataset", "candidates", "regime", "fold")}
        return card | {
            "label": f"{card['label']}, fine-tuned on {queries.label}",
            "what": f"A cross-encoder for re-ranking, fine-tuned ({wildcards.regime}) for fold {wildcards.fold}.",
            "scored": card["scored"] | fold,
            "regime": wildcards.regime,
            "training": plain(self.config.finetuning_of(wildcards.model), exclude={"recipe"}),
            "corpora": card["corpora"] + [source for source in [trained] if source not in card["corpora"]],
        }

    def finetuned_directory(self, wildcards: Wildcards) -> str:
        """Where fine-tuning keeps a model; ConfigError where it keeps none."""
        if not self.config.finetuning_of(wildcards.model).keep_models:
            raise ConfigError("finetuning.keep_models is false, so that no fine-tuned model can be exported")
        model = f"{wildcards.dataset}/{wildcards.candidates}/{wildcards.model}/{wildcards.regime}"
        return f"{paths.FINETUNED_MODELS}/{model}/seed-{wildcards.seed}/fold-{wildcards.fold}"

    def weigher_card(self, wildcards: Wildcards) -> dict[str, Any]:
        """The same of a model that weighs words."""
        weighting = self.config.term_weights[wildcards.weighting]
        corpus = self.config.datasets[str(weighting.dataset)].corpus
        return {
            "key": wildcards.weighting,
            "label": weighting.label,
            "seed": weighting.seed,
            "kind": "weigher",
            "what": f"Weights of the words of {weighting.kind}, from a token regression.",
            "scored": {"model": self._stages(wildcards.weighting), "fold": ["0"]},
            "regime": "first-stage",
            "papers": [read_paper("deepct").citation],
            "tasks": [],
            "training": {"max_length": weighting.max_length, **plain(weighting.training)},
            **self._made_from(weighting.encoder or self.config.encoder, [corpus]),
        }

    def _made_from(self, encoder: EncoderConfig, corpora: Iterable[str]) -> dict[str, Any]:
        return {
            "encoder": self._source(encoder.label, encoder),
            "encoder_caveat": self._caveat(encoder.path),
            "corpora": [self._source(corpus, self.config.corpora[corpus]) for corpus in corpora],
        }

    def _source(self, name: str, section: Any) -> list[str]:
        """Fields of report.model_card.Source for a corpus or an encoder, as far as they are known."""
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

    def _caveat(self, path: str) -> str:
        """What a reader of any number made with the encoder must know."""
        return (self.manifest.asset(str(resolve(path)[1])).caveat or "") if is_embedded(path) else ""
