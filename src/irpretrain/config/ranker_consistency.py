"""Faults of rankers without pre-training, and of what models say of their own fine-tuning, that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.base import changed_keys
from irpretrain.config.names import unknown_names
from irpretrain.config.usage import active_diagnoses, active_experiments

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig, ModelConfig
    from irpretrain.config.root import Config

NEURAL_KEYS = ("label", "neural", "finetuning")
"""What may be said of a ranker without pre-training."""


def ranker_faults(config: Config) -> Iterator[str]:
    """Yield the faults of a configuration whose sections are sound by themselves."""
    for name, model in config.models.items():
        yield from _neural(config, name, model)
        try:
            config.finetuning_of(name)
        except ValueError as error:
            yield str(error)
    for name, experiment in active_experiments(config).items():
        yield from _experiment(config, name, experiment)
    uses = [("attributions", name, page.models) for name, page in config.attributions.items()]
    uses += [("diagnoses", name, diagnosis.models) for name, diagnosis in active_diagnoses(config).items()]
    for section, name, models in uses:
        for ranker in neural_models(config, models):
            yield (
                f"{section}.{name}.models: {ranker} is a ranker without pre-training, which ranks at random until it "
                "is fine-tuned; leave it out"
            )
    for name, page in config.attributions.items():
        for shown in page.models:
            if shown in config.models and config.reranking_of(shown).passages is not None:
                yield (
                    f"attributions.{name}.models: the score of {shown} comes from passages, and a page shows one "
                    "sequence; leave it out"
                )


def neural_models(config: Config, models: list[str]) -> list[str]:
    """Return those of some models that are rankers without pre-training."""
    return [name for name in models if name in config.models and config.models[name].neural is not None]


def _neural(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    if model.neural is None:
        return
    where = f"models.{name}"
    if useless := changed_keys(model, NEURAL_KEYS):
        yield f"{where}: a ranker without pre-training has no use for {', '.join(useless)}; remove them"
    yield from unknown_names(
        f"{where}.neural.collection", [model.neural.collection], config.collections, "collections"
    )
    for other, starting in config.models.items():
        if starting.start == name:
            yield (
                f"models.{other}.start: {name} is a ranker without pre-training, which no pre-training starts from; "
                "name another model"
            )


def _experiment(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    where = f"experiments.{name}"
    models = neural_models(config, experiment.models)
    if models and "zero-shot" in experiment.regimes:
        yield (
            f"{where}.regimes: {', '.join(models)} has no pre-training, so zero-shot it ranks at random; list it in an "
            "experiment whose regimes are full or few-shot-<n>"
        )
    dataset = config.datasets.get(experiment.dataset)
    if dataset is None:
        return
    trained = config.datasets.get(dataset.train_on) if dataset.train_on is not None else None
    searched = dict.fromkeys([dataset.corpus, *([trained.corpus] if trained is not None else [])])
    for model in models:
        neural = config.models[model].neural
        corpora = config.collections.get(neural.collection) if neural is not None else None
        if neural is not None and corpora is not None:
            lacking = [corpus for corpus in searched if corpus not in corpora]
            if lacking:
                yield (
                    f"models.{model}.neural.collection: {where} trains and tests {model} on "
                    f"{' and '.join(lacking)}, which collections.{neural.collection} lacks, so its words are not "
                    "known; add it there, or name a collection that has it"
                )
