"""Faults of cut-offs: measures and depths that look deeper than the rankings that they score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from irpretrain.config.run import Depth, reranked, retrieved, scored
from irpretrain.config.usage import active_experiments, tested_datasets, trained_on, used_models
from irpretrain.evaluation.measures import cutoff

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig
    from irpretrain.config.root import Config


def measure_faults(config: Config) -> Iterator[str]:
    """Yield the measures that look deeper than the rankings that they score; some more than once."""
    for name in tested_datasets(config):
        if name in config.datasets:
            where = f"datasets.{name}.measures"
            yield from _faults(where, config.datasets[name].measures, scored(config, name))
    for experiment in active_experiments(config).values():
        if experiment.dataset in config.datasets and set(experiment.regimes) - {"zero-shot"}:
            source = trained_on(config, experiment.dataset)
            if source in config.datasets:
                measure = config.datasets[source].validation_measure
                where = f"datasets.{source}.validation_measure"
                yield from _faults(where, [measure], reranked(config, source))
    for model in used_models(config):
        selection = config.models[model].select_on
        if selection is not None:
            where = f"models.{model}.select_on.measure"
            yield from _faults(where, [selection.measure], reranked(config, selection.dataset))


def _faults(where: str, measures: Sequence[str], depth: Depth) -> Iterator[str]:
    if deeper_measures := [name for name in measures if (cutoff(name) or 0) > depth.documents]:
        yield (
            f"{where}: {', '.join(deeper_measures)}: the cut-off is beyond the {depth.documents} documents a query "
            "that "
            f"{depth.key} allows; lower the cut-off, or raise {depth.key}"
        )


def depth_faults(config: Config, where: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the `depths` of an experiment that are beyond its candidates."""
    deepest = max(experiment.depths, default=0)
    depth = (reranked if experiment.models else retrieved)(config, experiment.dataset)
    if deepest > depth.documents:
        yield (
            f"{where}.depths: {deepest} is more than the {depth.documents} candidates a query that {depth.key} "
            f"allows; lower it, or raise {depth.key}"
        )
