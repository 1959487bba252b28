"""Faults of models that span sections: what they start from, learn, and are chosen by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.base import changed_keys
from irpretrain.config.experiment_consistency import RESERVED, missing_runs
from irpretrain.config.usage import active_diagnoses, active_experiments

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig, ModelConfig
    from irpretrain.config.root import Config


# Keys of a re-ranker with a configured path.
GIVEN_KEYS = ("label", "cross_encoder", "passages")


def model_faults(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    """Yield the faults of what a model names, used or not."""
    where = f"models.{name}"
    if name in RESERVED:
        yield f"{where}: {', '.join(RESERVED)} have meanings of their own; call the model something else"
    if model.cross_encoder is not None:
        yield from _given(config, where, model)
        return
    if model.start != "encoder":
        if model.encoder is not None:
            yield f"{where}.encoder: {name} starts from {model.start}, whose encoder it has; leave encoder out"
        yield from _circle(config, name, model)
    if model.tasks and model.collection is None:
        yield f"{where}: has tasks but no collection to train on; set {where}.collection"
    if (chosen := model.select_on) is not None:
        yield from missing_runs(config, f"{where}.select_on.candidates", chosen.candidates, [chosen.dataset])
    for task in model.tasks:
        if task.weight == 0 and task.mlm_weight == 0:
            yield f"{where}.tasks: {task.objective} has weight 0 and mlm_weight 0, so nothing is learned"


def _given(config: Config, where: str, model: ModelConfig) -> Iterator[str]:
    """Faults of a re-ranker that is given by its path: what would train it."""
    training = changed_keys(model, GIVEN_KEYS)
    if training:
        yield f"{where}: a model with cross_encoder is not trained here; remove {', '.join(training)}"
    name = where.removeprefix("models.")
    for other, starting in config.models.items():
        if starting.start == name:
            yield (
                f"models.{other}.start: {name} is a re-ranker given by its path, which no training starts from; "
                "name another model"
            )


def training_faults(config: Config, name: str) -> Iterator[str]:
    """Yield the faults of a used model's own keys laid over `pretraining`."""
    where, tasks = f"models.{name}", config.models[name].tasks
    try:
        training = config.training_of(name)
    except ValueError as error:
        yield str(error)
    else:
        words = config.graph.segment_words
        segments = {
            key: words
            for key, options in config.objectives.items()
            if getattr(options, "queries_are_segments", False)
        }
        yield from training.task_faults(tasks, segments, f"{where}.tasks")


def _circle(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    seen, current = [name], model
    while current.start in config.models and current.start != "encoder":
        if current.start in seen:
            yield f"models.{name}.start: goes round in a circle: {' -> '.join([*seen, current.start])}"
            return
        seen.append(current.start)
        current = config.models[current.start]


def selection_faults(config: Config, name: str) -> Iterator[str]:
    """Yield the faults of a choice among a model's snapshots."""
    selection, where = config.models[name].select_on, f"models.{name}.select_on"
    if selection is None or selection.dataset not in config.datasets:
        return
    try:
        training = config.training_of(name)
    except ValueError:
        return  # another message reports this fault
    if not training.snapshots or not config.models[name].tasks:
        instead = (
            "" if training.epochs is None else f"give models.{name}.training.steps in place of epochs and "
        )
        yield (
            f"{where}: {name} keeps no snapshots to choose among; {instead}list steps in "
            f"models.{name}.training.snapshots, or leave select_on out"
        )


# Faults of rankers without pre-training, and of models' own fine-tuning keys, that span sections.


# Keys of a ranker without pre-training.
NEURAL_KEYS = ("label", "neural", "finetuning")


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
        for displayed in page.models:
            if displayed in config.models and config.reranking_of(displayed).passages is not None:
                yield (
                    f"attributions.{name}.models: the score of {displayed} comes from passages, and a page shows one "
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
