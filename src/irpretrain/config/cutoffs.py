"""Faults of cut-offs: measures and depths that look deeper than the rankings that they score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from irpretrain.config.run import Depth, reranking_depth, retrieval_depth, scoring_depth
from irpretrain.config.usage import active_experiments, tested_datasets, trained_on, used_models
from irpretrain.evaluation.measures import cutoff

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig
    from irpretrain.config.root import Config


def measure_faults(config: Config) -> Iterator[str]:
    """Yield the measures that look deeper than the rankings that they score; some more than once."""
    for name in tested_datasets(config):
        if name in config.datasets:
            key_path = f"datasets.{name}.measures"
            yield from _faults(key_path, config.datasets[name].measures, scoring_depth(config, name))
    for experiment in active_experiments(config).values():
        chooses = any(
            config.finetuning_of(model).chooses(regime)
            for model in experiment.models
            if model in config.models
            for regime in experiment.regimes
            if regime != "zero-shot"
        )
        if experiment.dataset in config.datasets and chooses:
            training_dataset = trained_on(config, experiment.dataset)
            if training_dataset in config.datasets:
                measure = config.datasets[training_dataset].validation_measure
                key_path = f"datasets.{training_dataset}.validation_measure"
                yield from _faults(key_path, [measure], reranking_depth(config, training_dataset))
    for model in used_models(config):
        selection = config.models[model].select_on
        if selection is not None:
            key_path = f"models.{model}.select_on.measure"
            yield from _faults(key_path, [selection.measure], reranking_depth(config, selection.dataset))


def _faults(key_path: str, measures: Sequence[str], depth: Depth) -> Iterator[str]:
    if deeper_measures := [name for name in measures if (cutoff(name) or 0) > depth.documents]:
        yield (
            f"{key_path}: {', '.join(deeper_measures)}: the cut-off is beyond the {depth.documents} documents a query "
            f"that {depth.key} allows; lower the cut-off, or raise {depth.key}"
        )


def depth_faults(config: Config, key_path: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the `depths` of an experiment that are beyond its candidates."""
    deepest = max(experiment.depths, default=0)
    depth = (reranking_depth if experiment.models else retrieval_depth)(config, experiment.dataset)
    if deepest > depth.documents:
        yield (
            f"{key_path}.depths: {deepest} is more than the {depth.documents} candidates a query that {depth.key} "
            f"allows; lower it, or raise {depth.key}"
        )
