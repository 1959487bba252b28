"""Faults of experiments, first stages, weights of words and models that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.base import changed_keys
from irpretrain.config.depths import reranked, retrieved
from irpretrain.config.retrieval import MODEL_PARAMETERS, TF_INDEX
from irpretrain.config.usage import (
    REGIME,
    first_stage_names,
    first_stages_of,
    ranked_stage,
    trained_on,
    training_candidates,
)
from irpretrain.errors import did_you_mean

if TYPE_CHECKING:
    from irpretrain.config.experiments import ExperimentConfig, ModelConfig
    from irpretrain.config.finetuning import NeuralConfig
    from irpretrain.config.retrieval import FirstStageConfig
    from irpretrain.config.root import Config


def first_stage_faults(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Yield the faults within a first stage, used or not."""
    where = f"first_stages.{name}"
    if stage.runs:
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


def missing_runs(
    config: Config, where: str, stage: str, datasets: list[str], instead: str = ""
) -> Iterator[str]:
    """Yield the faults of a first stage of external runs without one for a data set; `instead` is another remedy."""
    stage = ranked_stage(config, stage)
    runs = config.first_stages[stage].runs if stage in config.first_stages else {}
    for dataset in dict.fromkeys(datasets) if runs else ():
        if dataset not in runs:
            yield f"{where}: {stage} has no run for {dataset}; add it as first_stages.{stage}.runs.{dataset}{instead}"


REGIMES = ("zero-shot", "full", "few-shot-<n>")


def experiment_faults(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the faults of an experiment that the report has."""
    where = f"experiments.{name}"
    yield from _depth_faults(config, where, experiment)
    if bool(experiment.models) != bool(experiment.regimes):
        missing = "regimes" if experiment.models else "models"
        yield f"{where}.{missing}: is empty; models and regimes need each other"
    for regime in experiment.regimes:
        if not REGIME.fullmatch(regime):
            yield (
                f"{where}.regimes: {regime!r} is not a regime; {_meant_regime(regime)}allowed are zero-shot, full and "
                "few-shot-<n>, such as few-shot-50"
            )
    foreign = [m for m in experiment.models if m in config.models and config.models[m].cross_encoder]
    if foreign and set(experiment.regimes) != {"zero-shot"}:
        yield (
            f"{where}.regimes: {', '.join(foreign)} has cross_encoder and is not fine-tuned here; list it in an "
            "experiment whose only regime is zero-shot"
        )
    rankers = _neural_models(config, experiment.models)
    if rankers and "zero-shot" in experiment.regimes:
        yield (
            f"{where}.regimes: {', '.join(rankers)} has no pre-training, so zero-shot it ranks at random; list it in "
            "an experiment whose regimes are full or few-shot-<n>"
        )
    if experiment.dataset not in config.datasets:
        return
    yield from missing_runs(config, f"{where}.candidates", experiment.candidates, [experiment.dataset])
    source = trained_on(config, experiment.dataset)
    trains = bool(set(experiment.regimes) - {"zero-shot"})
    if trains and source in config.datasets and config.datasets[source].by_answers:
        yield (
            f"{where}.regimes: {source} judges by answers what is retrieved, so nothing is fine-tuned on it; leave "
            "zero-shot alone, or give the data set train_on"
        )
    searched = [
        config.datasets[name].corpus for name in (experiment.dataset, source) if name in config.datasets
    ]
    for model, neural in rankers.items():
        corpora = config.collections.get(neural.collection, searched)
        if lacking := [corpus for corpus in dict.fromkeys(searched) if corpus not in corpora]:
            yield (
                f"models.{model}.neural.collection: {where} trains and tests {model} on {' and '.join(lacking)}, "
                f"which collections.{neural.collection} lacks, so its words are not known; add it there, or name a "
                "collection that has it"
            )
    if trains and source != experiment.dataset:
        training = training_candidates(config, experiment.dataset, experiment.candidates)
        instead = f", or name other candidates for training in first_stages.{experiment.candidates}.training_candidates"
        yield from missing_runs(config, f"{where}.candidates", training, [source], instead)
    for stage in experiment.first_stages:
        yield from missing_runs(config, f"{where}.first_stages", stage, [experiment.dataset])


def _depth_faults(config: Config, where: str, experiment: ExperimentConfig) -> Iterator[str]:
    deepest = max(experiment.depths, default=0)
    depths = dict.fromkeys(
        (reranked if experiment.models and stage == experiment.candidates else retrieved)(
            config, stage, experiment.dataset
        )
        for stage in first_stages_of(experiment)
        if stage in first_stage_names(config)
    )
    for depth in depths:
        if deepest > depth.documents:
            yield (
                f"{where}.depths: {deepest} is more than the {depth.documents} candidates a query that {depth.key} "
                f"allows; lower it, or raise {depth.key}"
            )


def _meant_regime(regime: str) -> str:
    near = did_you_mean(regime.rstrip("0123456789"), REGIMES)
    return f"{near} " if near else ""


def model_faults(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    """Yield the faults of what a model names, used or not."""
    where = f"models.{name}"
    try:
        config.finetuning_of(name)
    except ValueError as error:
        yield str(error)
    for key, other_key in (("cross_encoder", "passages"), ("neural", "finetuning")):
        if getattr(model, key) is not None:
            if useless := changed_keys(model, ("label", key, other_key)):
                yield f"{where}: a model with {key} is not pre-trained here; remove {', '.join(useless)}"
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


def training_faults(config: Config, name: str) -> Iterator[str]:
    """Yield the faults of a used model's own keys laid over `pretraining`, and of the choice among its snapshots."""
    where, model = f"models.{name}", config.models[name]
    try:
        training = config.training_of(name)
    except ValueError as error:
        yield str(error)
        return
    words = config.graph.segment_words
    segments = {
        key: words
        for key, options in config.objectives.items()
        if getattr(options, "queries_are_segments", False)
    }
    yield from training.task_faults(model.tasks, segments, f"{where}.tasks")
    if model.select_on is not None and not (training.snapshots and model.tasks):
        instead = "" if training.epochs is None else f"give {where}.training.steps in place of epochs and "
        yield (
            f"{where}.select_on: {name} keeps no snapshots to choose among; {instead}list steps in "
            f"{where}.training.snapshots, or leave select_on out"
        )


def _circle(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    seen, current = [name], model
    while current.start in config.models and current.start != "encoder":
        if current.start in seen:
            yield f"models.{name}.start: goes round in a circle: {' -> '.join([*seen, current.start])}"
            return
        seen.append(current.start)
        current = config.models[current.start]


def view_faults(config: Config) -> Iterator[str]:
    """Yield the models that pages of attributions cannot show, as their scores come from passages."""
    for name, page in config.attributions.items():
        for displayed in page.models:
            if displayed in config.models and config.reranking_of(displayed).passages is not None:
                yield (
                    f"attributions.{name}.models: the score of {displayed} comes from passages, and a page shows one "
                    "sequence; leave it out"
                )


def _neural_models(config: Config, models: list[str]) -> dict[str, NeuralConfig]:
    described = {name: config.models[name].neural for name in models if name in config.models}
    return {name: neural for name, neural in described.items() if neural is not None}
