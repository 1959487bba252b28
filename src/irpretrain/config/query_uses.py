"""Which queries have a part in a result beside those that it is measured on: they train, choose or tune."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irpretrain.config.term_weights import TRAINED
from irpretrain.config.usage import (
    active_experiments,
    first_stages_of,
    ranked_stage,
    trained_on,
    training_candidates,
    with_starts,
)

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig
    from irpretrain.config.root import Config


@dataclass(frozen=True)
class QueryUse:
    """Queries of a data set have a part in what an experiment tests on another data set."""

    key: str  # the key of the configuration that names the data set, such as models.prop.select_on.dataset
    dataset: str  # the data set whose queries are used
    purpose: str  # what test queries must not do here
    experiment: str  # the experiment
    tested: str  # the data set that the experiment tests on


def query_uses(config: Config) -> list[QueryUse]:
    """Return every use of queries behind the active experiments; folds of one data set are no use."""
    uses = (
        QueryUse(key, dataset, purpose, name, experiment.dataset)
        for name, experiment in active_experiments(config).items()
        if experiment.dataset in config.datasets
        for key, dataset, purpose in _uses(config, experiment)
        if dataset in config.datasets
    )
    return list(dict.fromkeys(uses))


def query_use_faults(config: Config) -> Iterator[str]:
    """Yield the uses of test queries that the configuration itself shows: the same data set, or the same files.

    `irpretrain.corpora.shared_queries` compares queries of different files once they are read.
    """
    for use in query_uses(config):
        used, tested = config.datasets[use.dataset].queries, config.datasets[use.tested].queries
        same_files = (used.path, used.options) == (tested.path, tested.options)
        if use.dataset == use.tested or same_files:
            too = "" if use.dataset == use.tested else f", which has its queries from {tested.path} too"
            yield (
                f"{use.key}: experiments.{use.experiment} tests on {use.tested}{too}; test queries must not "
                f"{use.purpose}, so name a data set with other queries"
            )


def _uses(config: Config, experiment: ExperimentConfig) -> Iterator[tuple[str, str, str]]:
    source = trained_on(config, experiment.dataset)
    trains = set(experiment.regimes) - {"zero-shot"}
    if source != experiment.dataset and trains:
        yield f"datasets.{experiment.dataset}.train_on", source, "train"
    for model in with_starts(config, experiment.models):
        yield from _uses_of_model(config, model)
    runs = [(name, experiment.dataset) for name in first_stages_of(experiment)]
    if trains:
        runs.append((training_candidates(config, experiment.dataset, experiment.candidates), source))
    for first_stage, searched in dict.fromkeys(runs):
        yield from _uses_of_first_stage(config, first_stage, searched)


def _uses_of_model(config: Config, name: str) -> Iterator[tuple[str, str, str]]:
    model = config.models[name]
    if model.select_on is not None:
        yield f"models.{name}.select_on.dataset", model.select_on.dataset, "choose a model"
        yield from _uses_of_first_stage(config, model.select_on.candidates, model.select_on.dataset)
    for task in model.tasks:
        predictor = getattr(config.objectives.get(task.objective), "predictor", None)
        if predictor in config.predictors:
            taught = f"teach the predictor that {name} learns from"
            yield f"predictors.{predictor}.dataset", config.predictors[predictor].dataset, taught


def _uses_of_first_stage(config: Config, name: str, searched: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a first stage's run of a data set's queries comes from: what is tested, trains or chooses."""
    for searching in dict.fromkeys([ranked_stage(config, name), name]):
        stage = config.first_stages.get(searching)
        if stage is None:
            continue
        if stage.tuned_on is not None:
            yield f"first_stages.{searching}.tuned_on", stage.tuned_on, "choose parameters"
        for role, weights in (("index", stage.index), ("query_weights", stage.query_weights)):
            weighting = config.term_weights.get(weights or "")
            if weighting is not None and weighting.same_as is not None:
                weighting = config.term_weights.get(weighting.same_as)
            if weighting is None or weighting.model not in TRAINED or weighting.dataset is None:
                continue
            # Weights of a data set's own queries were learned on its other folds.
            if not (role == "query_weights" and weighting.dataset == searched):
                yield f"first_stages.{searching}.{role}", weighting.dataset, f"teach the weights of {weights}"
