"""DeepCT: weights of words, and views of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from irpretrain.config.retrieval import TF_INDEX
from irpretrain.config.term_weights import TRAINED_MODELS, TermWeightsConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.datasets import Datasets
from irpretrain.workflow.plan.part import Input, PlanPart, Wildcards, as_json, first_stage_run

# What of a weighting does not decide its weights: its name in tables, and what only its integers take.
IRRELEVANT_KEYS = {
    "label": True,
    "same_as": True,
    "square_root": True,
    "inference": {"compute": {"gpus"}},
}


@dataclass(frozen=True, eq=False)
class TermWeights(PlanPart):
    """Jobs of a weighting, which the wildcard `weighting` names."""

    datasets: Datasets

    # Which weightings a rule is for

    def learned(self, kind: str | None, *models: str) -> list[str]:
        """Return the weightings of a kind (of any: None) by some models, but those that are the same as another."""
        return [
            name
            for name, weighting in self.config.term_weights.items()
            if kind in (None, weighting.kind) and weighting.model in models and not weighting.same_as
        ]

    def counted(self) -> list[str]:
        """Return the weightings that are term frequencies, as the tf index is."""
        return [TF_INDEX, *self.learned("passages", "tf")]

    def indexed(self) -> list[str]:
        """Return the weightings whose predicted weights become integers."""
        return [
            name
            for name, weighting in self.config.term_weights.items()
            if weighting.kind == "passages" and (weighting.same_as or weighting.model != "tf")
        ]

    # What decides them

    def options(self, wildcards: Wildcards) -> Any:
        """What decides a weighting."""
        return as_json(self._weighting(wildcards), exclude=IRRELEVANT_KEYS) | {"label": wildcards.weighting}

    def threads(self, wildcards: Wildcards) -> int:
        compute = self._weighting(wildcards).training.compute
        return compute.threads * compute.process_count

    # Files

    def folds(self, wildcards: Wildcards) -> Input:
        """The folds of the data set that the model of one fold is trained on; fold 0 has all queries."""
        dataset = self._weighting(wildcards).dataset
        return paths.FOLDS.format(dataset=dataset) if int(wildcards.fold) else []

    def if_model(self, model: str, template: str) -> Callable[[Wildcards], Input]:
        """Return a file that only weightings by some model read."""
        file = self.file(template, "term_weights")
        return lambda wildcards: file(wildcards) if self._weighting(wildcards).model == model else []

    def model_of_all(self, wildcards: Wildcards) -> list[str]:
        """The model that all queries train, of a weighting that learns."""
        return self._models(wildcards, [0])

    def models_of_folds(self, wildcards: Wildcards) -> list[str]:
        """The models that weight a data set's queries."""
        return self._models(wildcards, self._folds_of_queries(wildcards))

    def weighed_folds(self, wildcards: Wildcards) -> Input:
        """The folds of these models, where there is one of each."""
        is_trained = self._weighting(wildcards).model in TRAINED_MODELS
        uses_folds = is_trained and self._folds_of_queries(wildcards) != [0]
        return paths.FOLDS.format(dataset=wildcards.dataset) if uses_folds else []

    def predicted(self, wildcards: Wildcards) -> str:
        """Weights of a shard's words by a weighting, or by the one that it is the same as."""
        name = self.config.predictor_of(wildcards.weighting)
        return paths.TERM_WEIGHTS.format(weighting=name, corpus=wildcards.corpus, shard=wildcards.shard)

    def _folds_of_queries(self, wildcards: Wildcards) -> list[int]:
        """Where a data set's own queries gave the targets, one model a test fold, else one of all."""
        learns_from_dataset = self._weighting(wildcards).dataset == wildcards.dataset
        return self.datasets.fold_numbers(wildcards.dataset) if learns_from_dataset else [0]

    def _models(self, wildcards: Wildcards, folds: list[int]) -> list[str]:
        if self._weighting(wildcards).model not in TRAINED_MODELS:
            return []
        return [paths.TERM_MODEL.format(weighting=wildcards.weighting, fold=fold) for fold in folds]

    def _encoder(self, wildcards: Wildcards) -> EncoderConfig:
        return self._weighting(wildcards).encoder or self.config.encoder

    def _weighting(self, wildcards: Wildcards) -> TermWeightsConfig:
        return self.config.term_weights[wildcards.weighting]


class WeightViews(PlanPart):
    """Distributions of weights (wildcard `distribution`), and pages of heat maps (wildcard `page`)."""

    def shown(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Weightings of a distribution, each with its files."""
        distribution = self.config.weight_distributions[wildcards.distribution]
        return {
            name: self.each_shard(paths.TERM_VECTORS, distribution.corpora, weighting=name)
            for name in distribution.weightings
        }

    # Pages of heat maps

    def page_weightings(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Label and term vectors of each weighting of a page."""
        page, labels = self.config.term_weight_pages[wildcards.page], self.config.index_labels
        corpus = self.config.datasets[page.dataset].corpus
        return [
            {
                "label": labels[name],
                "vectors": self.each_shard(paths.TERM_VECTORS, [corpus], weighting=name),
            }
            for name in page.weightings
        ]

    def page_runs(self, wildcards: Wildcards) -> list[str]:
        page = self.config.term_weight_pages[wildcards.page]
        return [first_stage_run(page.dataset, name) for name in page.first_stages]
