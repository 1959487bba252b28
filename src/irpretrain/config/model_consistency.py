"""Faults of models that span sections: what they start from, learn, and are chosen by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.base import changed_keys
from irpretrain.config.first_stage_consistency import RESERVED, missing_runs
from irpretrain.config.names import unknown_names
from irpretrain.config.usage import first_stage_names

if TYPE_CHECKING:
    from irpretrain.config.experiments import ModelConfig
    from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
    from irpretrain.config.root import Config

GIVEN_KEYS = ("label", "cross_encoder", "passages")
"""What may be said of a re-ranker that is given by its path."""


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
        yield from unknown_names(f"{where}.start", [model.start], config.models, "models")
        yield from _circle(config, name, model)
    if model.tasks and model.collection is None:
        yield f"{where}: has tasks but no collection to train on; set {where}.collection"
    if model.collection is not None:
        yield from unknown_names(f"{where}.collection", [model.collection], config.collections, "collections")
    if model.select_on is not None:
        chosen = model.select_on
        yield from unknown_names(f"{where}.select_on.dataset", [chosen.dataset], config.datasets, "datasets")
        stages = first_stage_names(config)
        yield from unknown_names(f"{where}.select_on.candidates", [chosen.candidates], stages, "first_stages")
        yield from missing_runs(config, f"{where}.select_on.candidates", chosen.candidates, [chosen.dataset])
    tasks = [task.objective for task in model.tasks]
    yield from unknown_names(f"{where}.tasks", tasks, config.objectives, "objectives")
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
    """Yield the faults of a model's own keys laid over `pretraining`.

    They are of models that something needs; another may keep what does not fit.
    """
    where, tasks = f"models.{name}", config.models[name].tasks
    try:
        training = config.training_of(name)
    except ValueError as error:
        yield str(error)
    else:
        if fault := training.head_start_fault(tasks):
            yield f"{where}: {fault}"
        yield from _segments(config, name, training)
        yield from _tasks(where, tasks, training)


def _tasks(where: str, tasks: list[TaskConfig], training: PretrainingConfig) -> Iterator[str]:
    if tasks and training.epochs_of is not None:
        objectives = dict.fromkeys(task.objective for task in tasks)
        yield from unknown_names(f"{where}: epochs_of", [training.epochs_of], objectives, f"{where}.tasks")
    for task in tasks:
        try:
            training.of_task(task)
        except ValueError as error:
            yield f"{where}.tasks: {error}"
        if training.mixing == "alternate" and len(tasks) > 1 and task.weight == 0:
            yield (
                f"{where}.tasks: {task.objective} has weight 0, so with mixing alternate it never has its turn; give "
                "it a weight, or set mixing to sum"
            )


def _segments(config: Config, name: str, training: PretrainingConfig) -> Iterator[str]:
    """Faults of tasks that read less of a query than a segment of the graph has; a word is a word piece or more."""
    words = config.graph.segment_words
    for task in config.models[name].tasks:
        options = config.objectives.get(task.objective)
        read = training.query_length if task.query_length is None else task.query_length
        if getattr(options, "queries_are_segments", False) and read < words:
            yield (
                f"models.{name}.tasks: {task.objective} reads query_length {read} word pieces of segments of "
                f"graph.segment_words {words} words, so anchors beyond them would decide unread; lower "
                "graph.segment_words or raise query_length"
            )


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
        return  # another message says what is wrong there
    if not training.snapshots or not config.models[name].tasks:
        instead = (
            "" if training.epochs is None else f"give models.{name}.training.steps in place of epochs and "
        )
        yield (
            f"{where}: {name} keeps no snapshots to choose among; {instead}list steps in "
            f"models.{name}.training.snapshots, or leave select_on out"
        )
