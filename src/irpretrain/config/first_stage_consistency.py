"""Faults of weights of words, and of the first stages that search them, that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.base import changed_keys
from irpretrain.config.names import unknown_names
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MODEL_PARAMETERS, TF_INDEX
from irpretrain.config.usage import first_stage_names, index_names, ranked_stage

if TYPE_CHECKING:
    from irpretrain.config.retrieval import FirstStageConfig
    from irpretrain.config.root import Config
    from irpretrain.config.term_weights import TermWeightsConfig

RESERVED = ("encoder", *BUILT_IN_FIRST_STAGES)
"""What neither a model nor a first stage may be called: these have meanings of their own."""


def weighting_name_faults(config: Config, name: str, weighting: TermWeightsConfig) -> Iterator[str]:
    """Yield the faults of what a weighting of words is called, and of the one that it takes over."""
    where = f"term_weights.{name}"
    if weighting.kind == "passages" and name in (TF_INDEX, *config.indexes):
        taken = "is an index" if name in config.indexes else "means the index of term frequencies"
        yield f"{where}: {name} {taken}, so no first stage can search these weights; call the weighting something else"
    if weighting.same_as is not None:
        yield from unknown_names(f"{where}.same_as", [weighting.same_as], config.term_weights, "term_weights")
        other = config.term_weights.get(weighting.same_as)
        if other is not None and (
            other.same_as is not None or other.model == "tf" or other.kind == "queries"
        ):
            yield f"{where}.same_as: {weighting.same_as} predicts no weights of passages itself; name one that does"


def weighting_faults(config: Config, name: str, weighting: TermWeightsConfig) -> Iterator[str]:
    """Yield the faults of a weighting in use: what it learns from."""
    where = f"term_weights.{name}"
    if weighting.dataset is not None:
        yield from unknown_names(f"{where}.dataset", [weighting.dataset], config.datasets, "datasets")
    if weighting.collection is not None:
        yield from unknown_names(
            f"{where}.collection", [weighting.collection], config.collections, "collections"
        )


def first_stage_faults(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Yield the faults of a first stage by itself, used or not."""
    where = f"first_stages.{name}"
    if name in (*RESERVED, *config.models):
        taken = "is a model" if name in config.models else "has a meaning of its own"
        yield f"{where}: {name} {taken}; call the first stage something else"
    if stage.runs:
        yield from unknown_names(f"{where}.runs", stage.runs, config.datasets, "datasets")
        if (training := stage.training_candidates) is not None:
            stages = first_stage_names(config)
            yield from unknown_names(f"{where}.training_candidates", [training], stages, "first_stages")
        searching = changed_keys(stage, ("label", "runs", "training_candidates"))
        if searching:
            yield f"{where}: takes runs of others, so nothing is searched; remove {', '.join(searching)}"
        return
    if stage.training_candidates is not None:
        yield f"{where}.training_candidates: is for runs of others; what is searched has candidates of its own"
    if stage.candidates is not None:
        if stage.model == "indri":
            yield f"{where}.candidates: indri searches the whole index; use model bm25, ql or ql-jm"
        if stage.candidates in config.first_stages and config.first_stages[stage.candidates].candidates:
            yield f"{where}.candidates: {stage.candidates} ranks candidates itself; name the first stage that has them"
        for key in ("depth", "tuned_on"):
            if getattr(stage, key) is not None:
                yield f"{where}.{key}: is for a search of the whole index; leave out {key} or candidates"
    if stage.sweep is not None and stage.tuned_on is None:
        yield f"{where}.sweep: has no use without tuned_on"
    if stage.model == "indri":
        if stage.index != TF_INDEX or stage.tuned_on is not None:
            yield f"{where}: indri has index {TF_INDEX} and parameters that are given; leave index and tuned_on out"
    elif stage.query_weights is not None or stage.dependence is not None:
        yield f"{where}: query_weights and dependence need model indri"
    parameters = MODEL_PARAMETERS[stage.model]
    for parameter in stage.parameters.given():
        if parameter not in parameters:
            has = " and ".join(parameters)
            yield f"{where}.parameters: {stage.model} has no {parameter}, only {has}"
        elif stage.tuned_on is not None:
            yield f"{where}.parameters: {parameter} is tuned on {stage.tuned_on}; leave one of the two out"


def named_faults(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Yield the faults of a first stage in use: what it names."""
    where = f"first_stages.{name}"
    yield from unknown_names(f"{where}.index", [stage.index], index_names(config), "indexes")
    if stage.candidates is not None:
        stages = first_stage_names(config)
        yield from unknown_names(f"{where}.candidates", [stage.candidates], stages, "first_stages")
    if stage.query_weights is not None:
        weightings = [
            other for other, weighting in config.term_weights.items() if weighting.kind == "queries"
        ]
        yield from unknown_names(
            f"{where}.query_weights", [stage.query_weights], weightings, "term_weights of kind queries"
        )
    if stage.tuned_on is not None:
        yield from unknown_names(f"{where}.tuned_on", [stage.tuned_on], config.datasets, "datasets")


def missing_runs(
    config: Config, where: str, stage: str, datasets: list[str], instead: str = ""
) -> Iterator[str]:
    """Yield the faults of a first stage that takes runs of others and has none for a data set.

    `instead` says what may be done in place of adding one.
    """
    stage = ranked_stage(config, stage)
    runs = config.first_stages[stage].runs if stage in config.first_stages else {}
    for dataset in dict.fromkeys(datasets) if runs else ():
        if dataset not in runs:
            yield f"{where}: {stage} has no run for {dataset}; add it as first_stages.{stage}.runs.{dataset}{instead}"
