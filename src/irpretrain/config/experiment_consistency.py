"""Faults of experiments that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.first_stage_consistency import missing_runs
from irpretrain.config.names import unknown_names
from irpretrain.config.usage import (
    REGIME,
    depth_of,
    first_stage_names,
    largest_shots,
    reranked_depth,
    trained_on,
    training_candidates,
)
from irpretrain.near_names import did_you_mean

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig
    from irpretrain.config.root import Config


REGIMES = ("zero-shot", "full", "few-shot-<n>")


def experiment_faults(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the faults of an experiment that the report has."""
    where = f"experiments.{name}"
    yield from unknown_names(f"{where}.dataset", [experiment.dataset], config.datasets, "datasets")
    yield from unknown_names(f"{where}.models", experiment.models, config.models, "models")
    stages = [experiment.candidates, *experiment.first_stages]
    yield from unknown_names(f"{where}: first stages", stages, first_stage_names(config), "first_stages")
    deepest = (reranked_depth if experiment.models else depth_of)(config, experiment.candidates)
    stage_exists = experiment.candidates in first_stage_names(config)
    if stage_exists and max(experiment.depths, default=0) > deepest:
        yield (
            f"{where}.depths: {max(experiment.depths)} is more than the {deepest} candidates a query that there are; "
            f"lower it, or raise first_stages.{experiment.candidates}.depth or reranking.depth"
        )
    if bool(experiment.models) != bool(experiment.regimes):
        missing = "regimes" if experiment.models else "models"
        yield f"{where}.{missing}: is empty; models and regimes need each other"
    for regime in experiment.regimes:
        if not REGIME.fullmatch(regime):
            yield (
                f"{where}.regimes: {regime!r} is not a regime; {_meant_regime(regime)}allowed are zero-shot, full and "
                "few-shot-<n>, such as few-shot-50"
            )
    untrained = [m for m in experiment.models if m in config.models and config.models[m].cross_encoder]
    if untrained and set(experiment.regimes) != {"zero-shot"}:
        yield (
            f"{where}.regimes: {', '.join(untrained)} has cross_encoder and is not fine-tuned here; list it in an "
            "experiment whose only regime is zero-shot"
        )
    if experiment.dataset not in config.datasets:
        return
    yield from missing_runs(config, f"{where}.candidates", experiment.candidates, [experiment.dataset])
    source = trained_on(config, experiment.dataset)
    if set(experiment.regimes) - {"zero-shot"} and source != experiment.dataset:
        training = training_candidates(config, experiment.dataset, experiment.candidates)
        instead = f", or name other candidates for training in first_stages.{experiment.candidates}.training_candidates"
        yield from missing_runs(config, f"{where}.candidates", training, [source], instead)
    for stage in experiment.first_stages:
        yield from missing_runs(config, f"{where}.first_stages", stage, [experiment.dataset])
    dataset, shots = config.datasets.get(source), largest_shots(experiment.regimes)
    if dataset is not None and dataset.sample_queries is not None and isinstance(dataset.folds, int):
        held_out = 2 if source == experiment.dataset else 1
        left = _training_queries(dataset.sample_queries, dataset.folds, held_out)
        if shots > left:
            yield (
                f"{where}.regimes: few-shot-{shots} asks for more than the {left} training queries that "
                f"{dataset.sample_queries} queries in {dataset.folds} folds leave; lower it, or raise "
                f"datasets.{source}.sample_queries"
            )


def _meant_regime(regime: str) -> str:
    near = did_you_mean(regime.rstrip("0123456789"), REGIMES)
    return f"{near} " if near else ""


def _training_queries(queries: int, folds: int, held_out: int) -> int:
    """Queries outside the folds held out (validation, and test under cross-validation), where these are the largest."""
    size, larger = divmod(queries, folds)
    return queries - held_out * size - min(larger, held_out)
