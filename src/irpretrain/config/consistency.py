"""Faults that span sections: names that lead nowhere, models that start from each other, too many folds or shots, test
queries that have a part in training."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from irpretrain.config.answer_consistency import answer_faults
from irpretrain.config.downstream_consistency import downstream_faults
from irpretrain.config.query_page_consistency import query_page_faults
from irpretrain.config.ranker_consistency import ranker_faults
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MODEL_PARAMETERS, TF_INDEX
from irpretrain.config.term_weights import TRAINED
from irpretrain.config.unknown_names import unknown_names as _unknown
from irpretrain.config.usage import (
    REGIME,
    active_diagnoses,
    active_experiments,
    depth_of,
    first_stage_names,
    index_names,
    largest_shots,
    reranked_depth,
    trained_on,
    training_candidates,
    used_first_stages,
    used_models,
    used_predictors,
    used_weightings,
    wanted_models,
    with_starts,
)

if TYPE_CHECKING:
    from irpretrain.config.axioms import DiagnosisConfig, PredictorConfig
    from irpretrain.config.base import Section
    from irpretrain.config.corpora import DatasetConfig
    from irpretrain.config.experiments import ExperimentConfig, ModelConfig
    from irpretrain.config.retrieval import FirstStageConfig
    from irpretrain.config.root import Config
    from irpretrain.config.term_weights import TermWeightsConfig
    from irpretrain.config.training import PretrainingConfig, TaskConfig

NAMED = (
    "corpora",
    "collections",
    "predictors",
    "term_weights",
    "objectives",
    "models",
    "datasets",
    "indexes",
    "first_stages",
    "experiments",
    "downstream_tasks",
    "downstream",
    "diagnoses",
    "attributions",
    "weight_distributions",
    "term_weight_pages",
    "query_pages",
)
"""Sections that map names to entries."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
RESERVED = ("encoder", *BUILT_IN_FIRST_STAGES)
"""What no model may be called: `start: encoder` means the encoder itself, the others are first stages in scores."""
GIVEN_KEYS = ("label", "cross_encoder", "passages")
"""What may be said of a re-ranker that is given by its path."""
FEWEST_FOLDS = 3


def cross_faults(config: Config) -> Iterator[str]:
    """Yield every fault of a configuration whose sections are sound by themselves."""
    for section in NAMED:
        for name in getattr(config, section):
            if not NAME.fullmatch(name):
                yield f"{section}.{name}: names are lower-case words joined by hyphens, such as squad-dev"
    for name, corpora in config.collections.items():
        yield from _unknown(f"collections.{name}", corpora, config.corpora, "corpora")
        if not corpora:
            yield f"collections.{name}: is empty; name a corpus, or remove the collection by null"
    yield from _unknown(
        "pseudo_queries.temperatures", config.pseudo_queries.temperatures, config.collections, "collections"
    )
    for name, model in config.models.items():
        yield from _model(config, name, model)
    for name in used_predictors(config):
        yield from _predictor(config, name, config.predictors[name])
    for name, options in config.objectives.items():
        if (wanted := getattr(options, "predictor", None)) is not None:
            yield from _unknown(f"objectives.{name}.predictor", [wanted], config.predictors, "predictors")
    for name in wanted_models(config):
        yield from _training(config, name)
    for name in used_models(config):
        yield from _selection(config, name)
        yield from _predictors_of(config, name)
    for name, dataset in config.datasets.items():
        yield from _unknown(f"datasets.{name}.corpus", [dataset.corpus], config.corpora, "corpora")
        yield from _folds(name, dataset)
        yield from _train_on(config, name, dataset)
    for name, weighting in config.term_weights.items():
        yield from _weighting_name(config, name, weighting)
    for name in used_weightings(config):
        yield from _weighting(config, name, config.term_weights[name])
    if TF_INDEX in config.indexes:
        yield f"indexes.{TF_INDEX}: {TF_INDEX} means the index of term frequencies; call the index something else"
    for name, first_stage in config.first_stages.items():
        yield from _first_stage(config, name, first_stage)
    for name in used_first_stages(config):
        if name in config.first_stages:
            yield from _named_by(config, name, config.first_stages[name])
            yield from _taught(config, name, config.first_stages[name])
    for name, experiment in active_experiments(config).items():
        yield from _experiment(config, name, experiment)
    for name, page in config.attributions.items():
        where = f"attributions.{name}"
        yield from _unknown(f"{where}.dataset", [page.dataset], config.datasets, "datasets")
        yield from _unknown(f"{where}.models", page.models, config.models, "models")
    for name, compared in config.query_pages.items():
        yield from query_page_faults(config, f"query_pages.{name}", compared)
    if "deepct" in config.report.papers:
        yield from view_faults(config)
    for name, diagnosis in active_diagnoses(config).items():
        yield from _diagnosis(config, name, diagnosis)
    yield from ranker_faults(config)
    yield from answer_faults(config)
    yield from downstream_faults(config)


def view_faults(config: Config) -> Iterator[str]:
    """Yield the faults of `weight_distributions` and `term_weight_pages`; no report without DeepCT needs them."""
    for name, distribution in config.weight_distributions.items():
        where = f"weight_distributions.{name}"
        yield from _unknown(f"{where}.corpora", distribution.corpora, config.corpora, "corpora")
        yield from _unknown(f"{where}.weightings", distribution.weightings, index_names(config), "indexes")
        yield from _twice(f"{where}.corpora", distribution.corpora)
        yield from _twice(f"{where}.weightings", distribution.weightings)
    for name, heat_maps in config.term_weight_pages.items():
        where = f"term_weight_pages.{name}"
        yield from _unknown(f"{where}.dataset", [heat_maps.dataset], config.datasets, "datasets")
        yield from _unknown(f"{where}.weightings", heat_maps.weightings, index_names(config), "indexes")
        yield from _unknown(
            f"{where}.first_stages", heat_maps.first_stages, first_stage_names(config), "first_stages"
        )
        yield from _twice(f"{where}.weightings", heat_maps.weightings)
        yield from _twice(f"{where}.first_stages", heat_maps.first_stages)


def _model(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    where = f"models.{name}"
    if name in RESERVED:
        yield f"{where}: {', '.join(RESERVED)} have meanings of their own; call the model something else"
    if model.cross_encoder is not None:
        yield from _given(config, where, model)
        return
    if model.start != "encoder":
        yield from _unknown(f"{where}.start", [model.start], config.models, "models")
        yield from _circle(config, name, model)
    if model.tasks and model.collection is None:
        yield f"{where}: has tasks but no collection to train on; set {where}.collection"
    if model.collection is not None:
        yield from _unknown(f"{where}.collection", [model.collection], config.collections, "collections")
    if model.select_on is not None:
        chosen = model.select_on
        yield from _unknown(f"{where}.select_on.dataset", [chosen.dataset], config.datasets, "datasets")
        known = first_stage_names(config)
        yield from _unknown(f"{where}.select_on.candidates", [chosen.candidates], known, "first_stages")
        yield from _runs(config, f"{where}.select_on.candidates", chosen.candidates, [chosen.dataset])
    tasks = [task.objective for task in model.tasks]
    yield from _unknown(f"{where}.tasks", tasks, config.objectives, "objectives")
    for task in model.tasks:
        if task.weight == 0 and task.mlm_weight == 0:
            yield f"{where}.tasks: {task.objective} has weight 0 and mlm_weight 0, so nothing is learned"


def _given(config: Config, where: str, model: ModelConfig) -> Iterator[str]:
    """Faults of a re-ranker that is given by its path: what would train it."""
    training = _changed(model, GIVEN_KEYS)
    if training:
        yield f"{where}: a model with cross_encoder is not trained here; remove {', '.join(training)}"
    name = where.removeprefix("models.")
    for other, starting in config.models.items():
        if starting.start == name:
            yield (
                f"models.{other}.start: {name} is a re-ranker given by its path, which no training starts from; "
                "name another model"
            )


def _changed(section: Section, others: tuple[str, ...]) -> list[str]:
    """Return the keys of a section, but for `others`, that have another value than their default."""
    fields = ((key, field) for key, field in type(section).model_fields.items() if key not in others)
    return [k for k, field in fields if getattr(section, k) != field.get_default(call_default_factory=True)]


def _training(config: Config, name: str) -> Iterator[str]:
    """Faults of a model's own keys laid over `pretraining`; a model that nothing needs may keep what does not fit."""
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
        known = dict.fromkeys(task.objective for task in tasks)
        yield from _unknown(f"{where}: epochs_of", [training.epochs_of], known, f"{where}.tasks")
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


def _selection(config: Config, name: str) -> Iterator[str]:
    """Faults of the queries that choose among a model's snapshots; test data never chooses."""
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
    for experiment, tested in _tests_on(config, name, selection.dataset):
        yield (
            f"{where}.dataset: experiments.{experiment} tests on {tested}; test queries must not choose a model, so "
            "name a data set with other queries"
        )


def _tests_on(config: Config, model: str, dataset: str) -> Iterator[tuple[str, str]]:
    """Yield the experiments in which a model, or one that starts from it, is tested on a data set's queries, and what
    they test on."""
    for name, experiment in active_experiments(config).items():
        tested = config.datasets.get(experiment.dataset)
        if tested is None or model not in with_starts(config, experiment.models):
            continue
        if experiment.dataset == dataset:
            yield name, dataset
        elif tested.queries.path == config.datasets[dataset].queries.path:
            yield name, f"{experiment.dataset}, which has its queries from {tested.queries.path} too"


def _predictor(config: Config, name: str, predictor: PredictorConfig) -> Iterator[str]:
    where = f"predictors.{name}"
    yield from _unknown(f"{where}.collection", [predictor.collection], config.collections, "collections")
    yield from _unknown(f"{where}.dataset", [predictor.dataset], config.datasets, "datasets")
    dataset, corpora = config.datasets.get(predictor.dataset), config.collections.get(predictor.collection)
    if dataset is not None and corpora is not None and dataset.corpus not in corpora:
        yield (
            f"{where}: the relevant documents of {predictor.dataset} are in corpus {dataset.corpus}, which is not in "
            f"collections.{predictor.collection}, so they have no pseudo-queries; add it there, or name a collection "
            "that has it"
        )
    if predictor.judged_terms == "held" and config.pseudo_queries.support == "collection":
        yield (
            f"{where}.judged_terms: held leaves judged queries no term that their document lacks, while most pseudo-"
            "queries of support collection have one, so the predictor would learn this difference alone; leave "
            "judged_terms out, or set pseudo_queries.support to document"
        )


def _predictors_of(config: Config, model: str) -> Iterator[str]:
    """Faults of the queries that teach the preference predictors behind a model's tasks; they are not test data."""
    options = (config.objectives.get(task.objective) for task in config.models[model].tasks)
    for name in dict.fromkeys(getattr(one, "predictor", None) for one in options):
        predictor = None if name is None else config.predictors.get(name)
        if predictor is None or predictor.dataset not in config.datasets:
            continue
        for experiment, tested in _tests_on(config, model, predictor.dataset):
            yield (
                f"predictors.{name}.dataset: experiments.{experiment} tests {model} on {tested}; {model} learns what "
                "this predictor prefers, and test queries must not teach it, so name a data set with other queries"
            )


def _diagnosis(config: Config, name: str, diagnosis: DiagnosisConfig) -> Iterator[str]:
    where = f"diagnoses.{name}"
    yield from _unknown(f"{where}.models", diagnosis.models, config.models, "models")
    yield from _unknown(f"{where}.collection", [diagnosis.collection], config.collections, "collections")
    yield from _twice(f"{where}.models", diagnosis.models)


def _weighting_name(config: Config, name: str, weighting: TermWeightsConfig) -> Iterator[str]:
    where = f"term_weights.{name}"
    if weighting.kind == "passages" and name in (TF_INDEX, *config.indexes):
        taken = "is an index" if name in config.indexes else "means the index of term frequencies"
        yield f"{where}: {name} {taken}, so no first stage can search these weights; call the weighting something else"
    if weighting.same_as is not None:
        yield from _unknown(f"{where}.same_as", [weighting.same_as], config.term_weights, "term_weights")
        other = config.term_weights.get(weighting.same_as)
        if other is not None and (
            other.same_as is not None or other.model == "tf" or other.kind == "queries"
        ):
            yield f"{where}.same_as: {weighting.same_as} predicts no weights of passages itself; name one that does"


def _weighting(config: Config, name: str, weighting: TermWeightsConfig) -> Iterator[str]:
    """Faults of a weighting in use: what it learns from."""
    where = f"term_weights.{name}"
    if weighting.dataset is not None:
        yield from _unknown(f"{where}.dataset", [weighting.dataset], config.datasets, "datasets")
    if weighting.collection is not None:
        yield from _unknown(f"{where}.collection", [weighting.collection], config.collections, "collections")


def _first_stage(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    where = f"first_stages.{name}"
    if name in (*RESERVED, *config.models):
        taken = "is a model" if name in config.models else "has a meaning of its own"
        yield f"{where}: {name} {taken}; call the first stage something else"
    if stage.runs:
        yield from _unknown(f"{where}.runs", stage.runs, config.datasets, "datasets")
        known = first_stage_names(config)
        if stage.training_candidates is not None:
            yield from _unknown(
                f"{where}.training_candidates", [stage.training_candidates], known, "first_stages"
            )
        searching = _changed(stage, ("label", "runs", "training_candidates"))
        if searching:
            yield f"{where}: takes runs of others, so nothing is searched; remove {', '.join(searching)}"
        return
    if stage.training_candidates is not None:
        yield f"{where}.training_candidates: is for runs of others; what is searched has candidates of its own"
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


def _named_by(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Faults of a first stage in use: what it names."""
    where = f"first_stages.{name}"
    yield from _unknown(f"{where}.index", [stage.index], index_names(config), "indexes")
    if stage.query_weights is not None:
        known = [other for other, weighting in config.term_weights.items() if weighting.kind == "queries"]
        yield from _unknown(
            f"{where}.query_weights", [stage.query_weights], known, "term_weights of kind queries"
        )
    if stage.tuned_on is not None:
        yield from _unknown(f"{where}.tuned_on", [stage.tuned_on], config.datasets, "datasets")
        for other, tested in _shown_on(config, name):
            if stage.tuned_on == tested:
                yield (
                    f"{where}.tuned_on: experiments.{other} tests on {stage.tuned_on}; test queries must not choose "
                    "parameters, so name a data set with other queries"
                )


def _taught(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Faults of a first stage whose weights were learned from queries that test it. What weighs a data set's own
    queries was trained on its other folds."""
    for role, weights in (("index", stage.index), ("query_weights", stage.query_weights)):
        weighting = config.term_weights.get(weights or "")
        if weighting is not None and weighting.same_as is not None:
            weighting = config.term_weights.get(weighting.same_as)
        if weighting is None or weighting.model not in TRAINED or weighting.dataset not in config.datasets:
            continue
        for other, tested in _shown_on(config, name):
            folds = role == "query_weights" and tested == weighting.dataset
            if not folds and _same_queries(config, tested, weighting.dataset):
                yield (
                    f"first_stages.{name}.{role}: experiments.{other} tests it on {tested}, whose queries taught "
                    f"{weights}; test queries must not teach, so let it learn from a data set with other queries"
                )


def _shown_on(config: Config, first_stage: str) -> Iterator[tuple[str, str]]:
    """Yield the experiments that show a first stage, and the data sets that they test on."""
    for name, experiment in active_experiments(config).items():
        if first_stage in (experiment.candidates, *experiment.first_stages):
            yield name, experiment.dataset


def _same_queries(config: Config, one: str, other: str) -> bool:
    """Whether two data sets read the same queries; samples of them may still differ."""
    if one not in config.datasets:
        return False
    first, second = config.datasets[one].queries, config.datasets[other].queries
    return (first.path, first.options) == (second.path, second.options)


def _circle(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    seen, current = [name], model
    while current.start in config.models and current.start != "encoder":
        if current.start in seen:
            yield f"models.{name}.start: goes round in a circle: {' -> '.join([*seen, current.start])}"
            return
        seen.append(current.start)
        current = config.models[current.start]


def _folds(name: str, dataset: DatasetConfig) -> Iterator[str]:
    folds, queries = dataset.folds, dataset.sample_queries
    if not isinstance(folds, int) or dataset.train_on is not None:
        return
    if folds < FEWEST_FOLDS:
        yield (
            f"datasets.{name}.folds: {folds} folds leave no room for training, validation and test; "
            f"give {FEWEST_FOLDS} or more"
        )
    elif queries is not None and folds > queries:
        yield (
            f"datasets.{name}: {folds} folds cannot be made of {queries} queries; lower folds or raise sample_queries"
        )


def _experiment(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    where = f"experiments.{name}"
    yield from _unknown(f"{where}.dataset", [experiment.dataset], config.datasets, "datasets")
    yield from _unknown(f"{where}.models", experiment.models, config.models, "models")
    stages = [experiment.candidates, *experiment.first_stages]
    yield from _unknown(f"{where}: first stages", stages, first_stage_names(config), "first_stages")
    deepest = (reranked_depth if experiment.models else depth_of)(config, experiment.candidates)
    known = experiment.candidates in first_stage_names(config)
    if known and max(experiment.depths, default=0) > deepest:
        yield (
            f"{where}.depths: {max(experiment.depths)} is more than the {deepest} candidates a query that there are; "
            f"lower it, or raise first_stages.{experiment.candidates}.depth or reranking.depth"
        )
    if not experiment.models and not experiment.first_stages:
        yield f"{where}: compares nothing; name models, or first_stages"
    if bool(experiment.models) != bool(experiment.regimes):
        missing = "regimes" if experiment.models else "models"
        yield f"{where}.{missing}: is empty; models and regimes need each other"
    for regime in experiment.regimes:
        if not REGIME.fullmatch(regime):
            yield (
                f"{where}.regimes: {regime!r} is not a regime; allowed are zero-shot, full and few-shot-<n>, such as "
                "few-shot-50"
            )
    given = [m for m in experiment.models if m in config.models and config.models[m].cross_encoder]
    if given and set(experiment.regimes) != {"zero-shot"}:
        yield (
            f"{where}.regimes: {', '.join(given)} has cross_encoder and is not fine-tuned here; list it in an "
            "experiment whose only regime is zero-shot"
        )
    if experiment.dataset not in config.datasets:
        return
    yield from _runs(config, f"{where}.candidates", experiment.candidates, [experiment.dataset])
    if (
        set(experiment.regimes) - {"zero-shot"}
        and trained_on(config, experiment.dataset) != experiment.dataset
    ):
        stage = training_candidates(config, experiment.dataset, experiment.candidates)
        yield from _runs(config, f"{where}.candidates", stage, [trained_on(config, experiment.dataset)])
    for stage in experiment.first_stages:
        yield from _runs(config, f"{where}.first_stages", stage, [experiment.dataset])
    source = trained_on(config, experiment.dataset)
    dataset, shots = config.datasets.get(source), largest_shots(experiment.regimes)
    if dataset is not None and dataset.sample_queries is not None and isinstance(dataset.folds, int):
        held_out = 2 if source == experiment.dataset else 1
        training = _training_queries(dataset.sample_queries, dataset.folds, held_out)
        if shots > training:
            yield (
                f"{where}.regimes: few-shot-{shots} asks for more than the {training} training queries that "
                f"{dataset.sample_queries} queries in {dataset.folds} folds leave; lower it, or raise "
                f"datasets.{source}.sample_queries"
            )


def _runs(config: Config, where: str, stage: str, datasets: list[str]) -> Iterator[str]:
    """Faults of a first stage that takes runs of others and has none for a data set."""
    runs = config.first_stages[stage].runs if stage in config.first_stages else {}
    for dataset in dict.fromkeys(datasets) if runs else ():
        if dataset not in runs:
            yield f"{where}: {stage} has no run for {dataset}; add it as first_stages.{stage}.runs.{dataset}"


def _training_queries(queries: int, folds: int, held_out: int) -> int:
    """Queries outside the folds held out (validation, and test under cross-validation), where these are the largest."""
    size, larger = divmod(queries, folds)
    return queries - held_out * size - min(larger, held_out)


def _train_on(config: Config, name: str, dataset: DatasetConfig) -> Iterator[str]:
    if dataset.train_on is None:
        return
    where = f"datasets.{name}.train_on"
    yield from _unknown(where, [dataset.train_on], config.datasets, "datasets")
    if dataset.train_on == name:
        yield f"{where}: is the data set itself; leave it out for cross-validation within {name}"


def _twice(where: str, names: Sequence[str]) -> Iterator[str]:
    if twice := [name for name in names if names.count(name) > 1]:
        yield f"{where}: {twice[0]} is listed twice; list each once"
