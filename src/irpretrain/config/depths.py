"""How many documents of a query each ranking has, which key sets that, and measures that look deeper.

All experiments decide the depths, not only those that the report shows: a paper's table has the same depths whatever
other papers stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES
from irpretrain.config.usage import (
    active_experiments,
    first_stage_names,
    first_stages_of,
    ranked_stage,
    searched_stages,
    tested_datasets,
    trained_on,
    training_candidates,
    used_models,
    with_starts,
)
from irpretrain.evaluation.measures import cutoff

if TYPE_CHECKING:
    from irpretrain.config.root import Config


class Depth(NamedTuple):
    """Maximum number of documents per query of a ranking, and the key that sets it."""

    documents: int
    key: str


def retrieved(config: Config, first_stage: str, dataset: str) -> Depth:
    """Return how deep the rankings of a first stage are on a data set."""
    # Every table has bm25 and ql. They are as deep as the deepest first stage beside them, unless models read them.
    own = _own(config, first_stage, dataset)
    if first_stage not in BUILT_IN_FIRST_STAGES or (first_stage, dataset) in _read_by_models(config):
        return own
    experiments = (experiment for experiment in config.experiments.values() if experiment.dataset == dataset)
    stages = dict.fromkeys(stage for experiment in experiments for stage in first_stages_of(experiment))
    beside = (stage for stage in stages if stage in config.first_stages)
    return max([own, *(_own(config, stage, dataset) for stage in beside)], key=lambda depth: depth.documents)


def _own(config: Config, first_stage: str, dataset: str) -> Depth:
    name = ranked_stage(config, first_stage)
    stage = config.first_stages.get(name)
    run = None if stage is None else stage.runs.get(dataset)
    if run is not None and run.depth is not None:
        return Depth(run.depth, f"first_stages.{name}.runs.{dataset}.depth")
    if stage is not None and stage.depth is not None:
        return Depth(stage.depth, f"first_stages.{name}.depth")
    return Depth(config.retrieval.depth, "retrieval.depth")


def _read_by_models(config: Config) -> set[tuple[str, str]]:
    """First stages and data sets whose candidates models re-rank, learn from, or are chosen by."""
    pairs = set[tuple[str, str]]()
    models = [model for entry in config.downstream.values() for model in entry.models]
    for experiment in config.experiments.values():
        if experiment.models and experiment.dataset in config.datasets:
            models += experiment.models
            training = training_candidates(config, experiment.dataset, experiment.candidates)
            pairs |= {
                (experiment.candidates, experiment.dataset),
                (training, trained_on(config, experiment.dataset)),
            }
    selections = (config.models[name].select_on for name in with_starts(config, models))
    return pairs | {(chosen.candidates, chosen.dataset) for chosen in selections if chosen is not None}


def reranked(config: Config, first_stage: str, dataset: str) -> Depth:
    """Return how many of its candidates models re-rank."""
    candidates = retrieved(config, first_stage, dataset)
    most = config.reranking.depth
    if most is None or most >= candidates.documents:
        return candidates
    return Depth(most, "reranking.depth")


def scored(config: Config, first_stage: str, dataset: str) -> Depth:
    """Return how deep its rankings are when scored: as re-ranked ones, so that lists of a table are equally long."""
    reranks = any(
        experiment.models for experiment in config.experiments.values() if experiment.dataset == dataset
    )
    return (reranked if reranks else retrieved)(config, first_stage, dataset)


def measure_faults(config: Config) -> Iterator[str]:
    """Yield the measures that look deeper than the rankings that they score; some more than once."""
    for name in tested_datasets(config):
        if name not in config.datasets:
            continue
        stages = [stage for stage in searched_stages(config, name) if stage in first_stage_names(config)]
        depths = sorted({scored(config, stage, name) for stage in stages})
        yield from _faults(f"datasets.{name}.measures", config.datasets[name].measures, depths)
    yield from _faults_of_choices(config)


def _faults(where: str, measures: Sequence[str], depths: list[Depth]) -> Iterator[str]:
    least, most = depths[0], depths[-1]
    deeper = [name for name in measures if (cutoff(name) or 0) > least.documents]
    if deeper:
        yield (
            f"{where}: {', '.join(deeper)}: the cut-off is beyond the {least.documents} documents a query that "
            f"{least.key} allows; lower the cut-off, or raise {least.key}"
        )
    whole = [name for name in measures if cutoff(name) is None]
    if whole and least.documents != most.documents:
        yield (
            f"{where}: {', '.join(whole)}: whole rankings count, but they have {least.documents} documents a query by "
            f"{least.key} and {most.documents} by {most.key}; set both to one number, or give a cut-off"
        )


def _faults_of_choices(config: Config) -> Iterator[str]:
    for experiment in active_experiments(config).values():
        if experiment.dataset not in config.datasets or not set(experiment.regimes) - {"zero-shot"}:
            continue
        source = trained_on(config, experiment.dataset)
        stage = training_candidates(config, experiment.dataset, experiment.candidates)
        if source in config.datasets and stage in first_stage_names(config):
            where, measure = (
                f"datasets.{source}.validation_measure",
                config.datasets[source].validation_measure,
            )
            yield from _faults(where, [measure], [reranked(config, stage, source)])
    for model in used_models(config):
        selection = config.models[model].select_on
        if selection is not None and selection.candidates in first_stage_names(config):
            depth = reranked(config, selection.candidates, selection.dataset)
            yield from _faults(f"models.{model}.select_on.measure", [selection.measure], [depth])
