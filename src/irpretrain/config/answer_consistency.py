"""Faults of data sets whose judgements follow from answers: what would teach or choose by them.

Their judgements are those of what experiments retrieve, so they would come after what they decide, and another first
stage in some experiment would change them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.usage import (
    active_experiments,
    trained_on,
    used_first_stages,
    used_models,
    used_predictors,
    used_weightings,
)

if TYPE_CHECKING:
    from irpretrain.config.root import Config


def answer_faults(config: Config) -> Iterator[str]:
    """Yield every use of such a data set but to test on it."""
    answered = {name for name, dataset in config.datasets.items() if dataset.by_answers}
    if not answered:
        return
    for name, experiment in active_experiments(config).items():
        trained = experiment.dataset in config.datasets and trained_on(config, experiment.dataset) in answered
        if trained and set(experiment.regimes) - {"zero-shot"}:
            yield (
                f"experiments.{name}.regimes: {trained_on(config, experiment.dataset)} judges by answers what is "
                "retrieved, so nothing is fine-tuned on it; leave zero-shot alone, or give the data set train_on"
            )
    for key, dataset in _deciding(config):
        if dataset in answered:
            yield (
                f"{key}: {dataset} judges by answers what is retrieved, so it can only be tested on; name a data set "
                "with judgements"
            )


def _deciding(config: Config) -> Iterator[tuple[str, str | None]]:
    """Yield the keys in use whose data sets teach or choose something, and these data sets."""
    for name in used_models(config):
        if (selection := config.models[name].select_on) is not None:
            yield f"models.{name}.select_on.dataset", selection.dataset
    for name in used_first_stages(config):
        if name in config.first_stages:
            yield f"first_stages.{name}.tuned_on", config.first_stages[name].tuned_on
    for name in used_weightings(config):
        yield f"term_weights.{name}.dataset", config.term_weights[name].dataset
    for name in used_predictors(config):
        yield f"predictors.{name}.dataset", config.predictors[name].dataset
