"""The whole configuration, and the checks that span sections."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from irpretrain.config.base import Section
from irpretrain.config.corpora import CorpusConfig, DatasetConfig
from irpretrain.config.experiments import EvaluationConfig, ExperimentConfig, ModelConfig, ReportConfig
from irpretrain.config.retrieval import RerankingConfig, RetrievalConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.config.training import FinetuningConfig, PretrainingConfig

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
REGIME = re.compile(r"zero-shot|full|few-shot-[1-9][0-9]*")
NAMED = ("corpora", "collections", "objectives", "models", "datasets", "experiments")


class Config(Section):
    """Everything that decides what is computed. How it is run belongs in a profile."""

    preset: Literal["paper", "released"] = Field(
        "paper",
        description="Fills choices in which papers and their released code differ; a key given here wins.",
    )
    seed: int = Field(
        1,
        ge=0,
        description="Seed of sampling: pseudo-queries, query samples, folds. Models have seeds of their own.",
    )
    text: TextConfig = Field(description="How documents become words and word pieces.")
    corpora: dict[str, CorpusConfig] = Field(min_length=1, description="Corpora by name.")
    collections: dict[str, list[str]] = Field(
        description="Collections for pre-training: names of corpora that count as one."
    )
    encoder: EncoderConfig = Field(description="The encoder that everything starts from.")
    objectives: dict[str, SerializeAsAny[Section]] = Field(
        default_factory=dict,
        description="Pre-training objectives by name; `type` says which file in irpretrain/objectives.",
    )
    pretraining: PretrainingConfig = Field(description="Defaults of pre-training.")
    models: dict[str, ModelConfig] = Field(min_length=1, description="Models by name.")
    datasets: dict[str, DatasetConfig] = Field(default_factory=dict, description="Test collections by name.")
    retrieval: RetrievalConfig = Field(default_factory=RetrievalConfig, description="First-stage retrieval.")
    reranking: RerankingConfig = Field(default_factory=RerankingConfig, description="Re-ranking.")
    finetuning: FinetuningConfig = Field(default_factory=FinetuningConfig, description="Fine-tuning.")
    experiments: dict[str, ExperimentConfig] = Field(
        default_factory=dict, description="What is compared, by name."
    )
    evaluation: EvaluationConfig = Field(
        default_factory=EvaluationConfig, description="Significance and intervals."
    )
    report: ReportConfig = Field(default_factory=ReportConfig, description="Tables, figures and the report.")

    @field_validator("objectives", mode="before")
    @classmethod
    def _read_objectives(cls, given: Any) -> Any:
        from irpretrain.objectives.registry import read_options

        if not isinstance(given, dict):
            raise ValueError("must be a mapping from names to objectives")
        return {name: read_options(name, options) for name, options in given.items()}

    @model_validator(mode="after")
    def _check_references(self) -> Config:
        for section in NAMED:
            for name in getattr(self, section):
                if not NAME.fullmatch(name):
                    raise ValueError(
                        f"{section}.{name}: names are lower-case words joined by hyphens, such as squad-dev"
                    )
        for name, corpora in self.collections.items():
            _known(f"collections.{name}", corpora, self.corpora, "corpora")
        for name, model in self.models.items():
            self._check_model(name, model)
        for name, dataset in self.datasets.items():
            _known(f"datasets.{name}.corpus", [dataset.corpus], self.corpora, "corpora")
            if isinstance(dataset.folds, int):
                self._check_folds(name, dataset.folds, dataset.sample_queries)
        for name, experiment in self.experiments.items():
            _known(f"experiments.{name}.dataset", [experiment.dataset], self.datasets, "datasets")
            _known(f"experiments.{name}.models", experiment.models, self.models, "models")
            for regime in experiment.regimes:
                if not REGIME.fullmatch(regime):
                    raise ValueError(
                        f"experiments.{name}.regimes: {regime!r} is not a regime; allowed are zero-shot, full and "
                        "few-shot-<n>, such as few-shot-50"
                    )
        return self

    def _check_folds(self, name: str, folds: int, queries: int | None) -> None:
        if folds < 3:
            raise ValueError(
                f"datasets.{name}.folds: {folds} folds leave no room for training, validation and test; give 3 or more"
            )
        if queries is not None and folds > queries:
            raise ValueError(
                f"datasets.{name}: {folds} folds cannot be made of {queries} queries; "
                "lower folds or raise sample_queries"
            )

    def _check_model(self, name: str, model: ModelConfig) -> None:
        where = f"models.{name}"
        if model.start != "encoder":
            _known(f"{where}.start", [model.start], self.models, "models")
        seen, current = [name], model
        while current.start != "encoder" and current.start in self.models:
            if current.start in seen:
                raise ValueError(
                    f"{where}.start: goes round in a circle: {' -> '.join([*seen, current.start])}"
                )
            seen.append(current.start)
            current = self.models[current.start]
        if model.tasks and model.collection is None:
            raise ValueError(f"{where}: has tasks but no collection to train on; set {where}.collection")
        if model.collection is not None:
            _known(f"{where}.collection", [model.collection], self.collections, "collections")
        _known(f"{where}.tasks", [task.objective for task in model.tasks], self.objectives, "objectives")
        for task in model.tasks:
            if task.weight == 0 and task.mlm_weight == 0:
                raise ValueError(
                    f"{where}.tasks: {task.objective} has weight 0 and mlm_weight 0, so nothing is learned"
                )
        self.training_of(name)

    def training_of(self, model: str) -> PretrainingConfig:
        """Return the pre-training options of one model: `pretraining` with the model's own keys merged in."""
        from irpretrain.config.load import deep_merge, explain

        own = self.models[model].training
        merged = deep_merge(self.pretraining.model_dump(), own)
        return explain(PretrainingConfig, merged, f"models.{model}.training")


def _known(where: str, names: Iterable[str], known: Iterable[str], section: str) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise ValueError(
                f"{where}: {name!r} is not in {section}; {hint}{section} has {', '.join(known) or 'no entries'}"
            )
