"""Which tables of a paper a run has: all, but of a run of one's own those alone that something of it fills."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from irpretrain.config.usage import (
    active_diagnoses,
    active_downstream,
    active_experiments,
    displayed_predictors,
    first_stages_of,
)

if TYPE_CHECKING:
    from irpretrain.config import Config
    from irpretrain.config.experiments import ExperimentConfig
    from irpretrain.papers.published import Published, PublishedTable


def is_of_ones_own(published: Published, config: Config) -> bool:
    """Whether experiments are shown beside a paper that none of them names, on no data set of it: what they do not
    fill there says nothing. Where files are missing, the experiments that need them count as naming it."""
    narrowed = config.of_papers([published.paper])
    experiments = active_experiments(narrowed).values()
    named = any(experiment.papers is not None for experiment in experiments)
    named |= any(tested.papers is not None for tested in active_downstream(narrowed).values())
    theirs = any(experiment.dataset in published.datasets for experiment in experiments)
    return bool(experiments) and not (named or theirs or config.absent or config.absent_tasks)


def filled_tables(published: Published, config: Config) -> list[str]:
    """Return the names of the paper's tables that are written, in the report's order."""
    names = published.table_names()
    if not is_of_ones_own(published, config):
        return names
    narrowed = config.of_papers([published.paper])
    experiments = list(active_experiments(narrowed).values())
    empty = {name for name, table in published.tables.items() if not _is_filled(table, config, experiments)}
    if published.depths and not any(experiment.depths for experiment in experiments):
        empty.add(published.depths.key)
    if published.answers and not active_downstream(narrowed):
        empty.add(published.answers.key)
    if published.axioms and not displayed_predictors(config):
        empty.add(published.axioms.predictors.key)
    if published.axioms and not active_diagnoses(narrowed):
        empty.add("diagnosis")
    return [name for name in names if name not in empty]


def _is_filled(table: PublishedTable, config: Config, experiments: Iterable[ExperimentConfig]) -> bool:
    """Whether something that is run fills a row; of a table of first stages alone, whether one stands beside its rows,
    searched as they are, with plain or with structured queries."""
    filling = {model for row in table.rows for model in row.all_models}
    trained = {model for row in table.rows if not row.is_first_stage for model in row.all_models}
    structured = _is_structured(filling, config)
    for experiment in experiments:
        if experiment.depths:
            continue
        searched = set(first_stages_of(experiment))
        if filling & searched or trained & set(experiment.models):
            return True
        beside = (name for name in searched if name in config.first_stages)
        if not trained and any(_is_structured([name], config) == structured for name in beside):
            return True
    return False


def _is_structured(names: Iterable[str], config: Config) -> bool:
    return any(config.first_stages[name].model == "indri" for name in names if name in config.first_stages)
