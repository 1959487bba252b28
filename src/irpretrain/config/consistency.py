"""Faults that span sections of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.base import Section, changed_keys
from irpretrain.config.corpora import folds_fault
from irpretrain.config.cutoffs import depth_faults, measure_faults
from irpretrain.config.papers import papers_with_depths, show_term_weights
from irpretrain.config.references import (
    NOT_PRETRAINED,
    REFERENCES,
    WEIGHTS_OF_QUERIES,
    Name,
    names_under,
    unknown_names,
)
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MODEL_PARAMETERS, TF_INDEX
from irpretrain.config.root import NAMED, Config
from irpretrain.config.term_weights import TRAINED
from irpretrain.config.usage import (
    REGIME,
    active_experiments,
    first_stage_names,
    hides_depths,
    index_names,
    is_reported,
    needs_folds,
    ranked_stage,
    reached,
    trained_on,
    training_candidates,
    used,
    used_entries,
    wanted_models,
    with_starts,
)
from irpretrain.foundation.errors import instead_of

if TYPE_CHECKING:
    from irpretrain.config.axioms import PredictorConfig
    from irpretrain.config.corpora import DatasetConfig
    from irpretrain.config.experiments import ExperimentConfig, ModelConfig
    from irpretrain.config.retrieval import FirstStageConfig


def predictor_faults(config: Config, name: str, predictor: PredictorConfig) -> Iterator[str]:
    """Yield the faults of a preference predictor in use."""
    dataset, corpora = config.datasets.get(predictor.dataset), config.collections.get(predictor.collection)
    if dataset is not None and corpora is not None and dataset.corpus not in corpora:
        yield (
            f"predictors.{name}: the relevant documents of {predictor.dataset} are in corpus {dataset.corpus}, which "
            f"is not in collections.{predictor.collection}, so they have no pseudo-queries; add it there, or name a "
            "collection that has it"
        )


NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# Section → names with a meaning of their own, and another section whose names its entries cannot have.
TAKEN = {
    "models": (("encoder", *BUILT_IN_FIRST_STAGES), ""),
    "first_stages": (("encoder", *BUILT_IN_FIRST_STAGES), "models"),
    "indexes": ((TF_INDEX,), ""),
    "term_weights": ((TF_INDEX,), "indexes"),
}


def cross_faults(config: Config) -> Iterator[str]:
    """Yield every fault of a configuration whose sections are sound by themselves."""
    for section in NAMED:
        reserved, other_section = TAKEN.get(section, ((), ""))
        for name, entry in getattr(config, section).items():
            if not NAME.fullmatch(name):
                yield f"{section}.{name}: names are lower-case words joined by hyphens, such as squad-dev"
            if section == "term_weights" and entry.kind == "queries":
                continue  # no first stage searches these weights, so an index may have the same name
            if name in reserved:
                yield f"{section}.{name}: {name} has a meaning of its own here; choose another name"
            if other_section and name in getattr(config, other_section):
                yield f"{section}.{name}: {name} is in {other_section} too; choose another name"
    yield from reference_faults(config)
    for name, corpora in config.collections.items():
        if not corpora:
            yield f"collections.{name}: is empty; name a corpus, or remove the collection by null"
    for name, model in config.models.items():
        yield from model_faults(config, name, model)
    for name in used(config, "predictors"):
        yield from predictor_faults(config, name, config.predictors[name])
    for name in wanted_models(config):
        yield from training_faults(config, name)
    for name, dataset in config.datasets.items():
        yield from dataset_faults(config, name, dataset)
    for name, weighting in config.term_weights.items():
        source = config.term_weights.get(weighting.same_as or "")
        if source is not None and (source.same_as or source.model == "tf" or source.kind == "queries"):
            yield (
                f"term_weights.{name}.same_as: {weighting.same_as} predicts no weights of passages itself; name one "
                "that does"
            )
    for name, first_stage in config.first_stages.items():
        yield from first_stage_faults(config, name, first_stage)
    for name, experiment in config.experiments.items():
        if is_reported(config, experiment) and hides_depths(config, experiment):
            papers = " or ".join(papers_with_depths())
            lists = "report.papers" if experiment.papers is None else "report.papers and papers"
            yield (
                f"experiments.{name}.depths: no table of this report shows depths, so nothing of {name} would be run; "
                f"add {papers} to {lists}, or leave depths out"
            )
    for name, experiment in active_experiments(config).items():
        yield from experiment_faults(config, name, experiment)
    yield from measure_faults(config)
    yield from query_use_faults(config)


def dataset_faults(config: Config, name: str, dataset: DatasetConfig) -> Iterator[str]:
    """Yield the faults of a data set, used or not."""
    where = f"datasets.{name}"
    fault = folds_fault(dataset.folds, dataset.sample_queries) if isinstance(dataset.folds, int) else ""
    if fault and needs_folds(config, name):
        yield f"{where}.folds: {fault}"
    if dataset.train_on == name:
        yield f"{where}.train_on: is the data set itself; leave it out for cross-validation within {name}"
    corpus = config.corpora.get(dataset.corpus)
    if dataset.queries_are_documents and corpus is not None and corpus.passage_words is not None:
        yield (
            f"{where}.queries_are_documents: corpora.{dataset.corpus}.passage_words cuts documents into passages "
            "<id>#<n>, none of which has a query's identifier, so none would be dropped; leave one of the two out"
        )


def first_stage_faults(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Yield the faults within a first stage, used or not."""
    where = f"first_stages.{name}"
    if stage.runs:
        search_keys = changed_keys(stage, ("label", "runs", "training_candidates"))
        if search_keys:
            yield f"{where}: takes runs of others, so nothing is searched; remove {', '.join(search_keys)}"
        return
    if stage.training_candidates is not None:
        yield f"{where}.training_candidates: is for runs of others; what is searched has candidates of its own"
    if stage.candidates is not None:
        if stage.model == "indri":
            yield f"{where}.candidates: indri searches the whole index; use model bm25, ql or ql-jm"
        if stage.candidates in config.first_stages and config.first_stages[stage.candidates].candidates:
            yield f"{where}.candidates: {stage.candidates} ranks candidates itself; name the first stage that has them"
        if stage.tuned_on is not None:
            yield f"{where}.tuned_on: is for a search of the whole index; leave out tuned_on or candidates"
    if stage.model == "indri":
        if stage.index != TF_INDEX or stage.tuned_on is not None:
            yield f"{where}: indri has index {TF_INDEX} and parameters that are given; leave index and tuned_on out"
    elif stage.query_weights is not None or stage.dependence is not None:
        yield f"{where}: query_weights and dependence need model indri"
    parameters = MODEL_PARAMETERS[stage.model]
    for parameter in stage.parameters.model_dump(exclude_none=True):
        if parameter not in parameters:
            parameter_list = " and ".join(parameters)
            yield f"{where}.parameters: {stage.model} has no {parameter}, only {parameter_list}"
        elif stage.tuned_on is not None:
            yield f"{where}.parameters: {parameter} is tuned on {stage.tuned_on}; leave one of the two out"


def missing_runs(config: Config, where: str, stage: str, dataset: str, remedy: str = "") -> Iterator[str]:
    """Yield the fault of a first stage of external runs without one for a data set; `remedy` is another
    remedy."""
    stage = ranked_stage(config, stage)
    runs = config.first_stages[stage].runs if stage in config.first_stages else {}
    if runs and dataset not in runs:
        yield f"{where}: {stage} has no run for {dataset}; add it as first_stages.{stage}.runs.{dataset}{remedy}"


REGIMES = ("zero-shot", "full", "few-shot-<n>")


def experiment_faults(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the faults of an experiment that the report has."""
    where = f"experiments.{name}"
    yield from depth_faults(config, where, experiment)
    if bool(experiment.models) != bool(experiment.regimes):
        missing_key = "regimes" if experiment.models else "models"
        yield f"{where}.{missing_key}: is empty; models and regimes need each other"
    for regime in experiment.regimes:
        if not REGIME.fullmatch(regime):
            suggestion = instead_of(regime.rstrip("0123456789"), REGIMES, "allowed are")
            yield f"{where}.regimes: {regime!r} is not a regime; {suggestion}"
    external_models = [m for m in experiment.models if m in config.models and config.models[m].cross_encoder]
    if external_models and set(experiment.regimes) != {"zero-shot"}:
        yield (
            f"{where}.regimes: {', '.join(external_models)} has cross_encoder and is not fine-tuned here; list it "
            "in an "
            "experiment whose only regime is zero-shot, or give its path as encoder, with training: {head: kept}"
        )
    neural_options = {
        model: config.models[model].neural for model in experiment.models if model in config.models
    }
    rankers = {model: neural for model, neural in neural_options.items() if neural is not None}
    if rankers and "zero-shot" in experiment.regimes:
        yield (
            f"{where}.regimes: {', '.join(rankers)} has no pre-training, so zero-shot it ranks at random; list it in "
            "an experiment whose regimes are full or few-shot-<n>"
        )
    if experiment.dataset not in config.datasets:
        return
    yield from missing_runs(config, f"{where}.candidates", experiment.candidates, experiment.dataset)
    source = trained_on(config, experiment.dataset)
    trains = bool(set(experiment.regimes) - {"zero-shot"})
    if trains and source in config.datasets and config.datasets[source].by_answers:
        yield (
            f"{where}.regimes: {source} judges by answers what is retrieved, so nothing is fine-tuned on it; leave "
            "zero-shot alone, or give the data set train_on"
        )
    searched_corpora = [
        config.datasets[name].corpus for name in (experiment.dataset, source) if name in config.datasets
    ]
    for model, neural in rankers.items():
        corpora = config.collections.get(neural.collection, searched_corpora)
        if lacking_corpora := [corpus for corpus in dict.fromkeys(searched_corpora) if corpus not in corpora]:
            yield (
                f"models.{model}.neural.collection: {where} trains and tests {model} on "
                f"{' and '.join(lacking_corpora)}, "
                f"which collections.{neural.collection} lacks, so its words are not known; add it there, or name a "
                "collection that has it"
            )
    if trains and source != experiment.dataset:
        training = training_candidates(config, experiment.dataset, experiment.candidates)
        remedy = f", or name other candidates for training in first_stages.{experiment.candidates}.training_candidates"
        yield from missing_runs(config, f"{where}.candidates", training, source, remedy)
    for stage in experiment.first_stages:
        yield from missing_runs(config, f"{where}.first_stages", stage, experiment.dataset)


def model_faults(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    """Yield the faults of what a model names, used or not."""
    where = f"models.{name}"
    try:
        config.finetuning_of(name)
    except ValueError as error:
        yield str(error)
    for key, other_key in (("cross_encoder", "passages"), ("neural", "finetuning")):
        if getattr(model, key) is not None:
            if useless_keys := changed_keys(model, ("label", key, other_key)):
                yield f"{where}: a model with {key} is not pre-trained here; remove {', '.join(useless_keys)}"
            return
    if model.start != "encoder":
        if model.encoder is not None:
            yield f"{where}.encoder: {name} starts from {model.start}, whose encoder it has; leave encoder out"
        chain = with_starts(config, [name])
        if (repeated_model := config.models[chain[-1]].start) in chain:
            yield f"{where}.start: goes round in a circle: {' -> '.join([*chain, repeated_model])}"
    if model.tasks and model.collection is None:
        yield f"{where}: has tasks but no collection to train on; set {where}.collection"
    if (selection := model.select_on) is not None:
        yield from missing_runs(
            config, f"{where}.select_on.candidates", selection.candidates, selection.dataset
        )
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
    segment_words = config.graph.segment_words
    words_of_segments = {
        key: segment_words
        for key, options in config.objectives.items()
        if getattr(options, "queries_are_segments", False)
    }
    yield from training.task_faults(model.tasks, words_of_segments, f"{where}.tasks")
    if model.select_on is not None and not (training.snapshots and model.tasks):
        advice = "" if training.epochs is None else f"give {where}.training.steps in place of epochs and "
        yield (
            f"{where}.select_on: {name} keeps no snapshots to choose among; {advice}list steps in "
            f"{where}.training.snapshots, or leave select_on out"
        )


def reference_faults(config: Config, only_section: str | None = None) -> Iterator[str]:
    """Yield the names that lead nowhere or to what cannot be named; of `only_section` all entries count."""
    used_names = set(used_entries(config))
    if only_section is not None or show_term_weights(config.report.papers):
        used_names |= {("term_weight_pages", name) for name in config.term_weight_pages}
    for section, key, target, if_used, _, uses_judgements, refused_kinds in REFERENCES:
        content = getattr(config, section)
        entries: Mapping[str, Any] = {"": content} if isinstance(content, Section) else content
        for entry, entry_options in entries.items() if only_section in (None, section) else ():
            if not if_used or (section, entry) in used_names:
                where = ".".join(filter(None, (section, entry, key)))
                names = names_under(entry_options, key)
                if key == "start":  # of a model, also the encoder
                    names = [name for name in names if name != "encoder"]
                yield from unknown_names(where, names, _names_of(config, target), target)
                for dataset in names if uses_judgements and (section, entry) in used_names else ():
                    if dataset in config.datasets and config.datasets[dataset].by_answers:
                        yield (
                            f"{where}: {dataset} judges by answers what is retrieved, so it can only be tested on; "
                            "name a data set with judgements"
                        )
                for model, kind in ((name, kind) for name in names for kind in refused_kinds):
                    if model in config.models and getattr(config.models[model], kind) is not None:
                        yield f"{where}: {model} {NOT_PRETRAINED[kind]}; name another model"


def _names_of(config: Config, target: str) -> list[str]:
    if target == "first_stages":
        return first_stage_names(config)
    if target == "indexes":
        return index_names(config)
    if target == WEIGHTS_OF_QUERIES:
        return [name for name, weighting in config.term_weights.items() if weighting.kind == "queries"]
    return list(getattr(config, target))


# Which queries have a part in a result beside those that it is measured on: they train, choose or tune.


class QueryUse(NamedTuple):
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
        for key, dataset, purpose in _uses(config, name)
        if dataset in config.datasets
    )
    return list(dict.fromkeys(uses))


def query_use_faults(config: Config) -> Iterator[str]:
    """Yield the uses of test queries that the configuration itself shows: the same data set, or the same files.

    `irpretrain.corpora.shared_queries` compares queries of different files once they are read.
    """
    for use in query_uses(config):
        used_queries, tested_queries = (
            config.datasets[use.dataset].queries,
            config.datasets[use.tested].queries,
        )
        same_files = (used_queries.path, used_queries.options) == (
            tested_queries.path,
            tested_queries.options,
        )
        if use.dataset == use.tested or same_files:
            same_files_note = (
                "" if use.dataset == use.tested else f", which has its queries from {tested_queries.path} too"
            )
            yield (
                f"{use.key}: experiments.{use.experiment} tests on {use.tested}{same_files_note}; test queries must "
                "not "
                f"{use.purpose}, so name a data set with other queries"
            )


def _uses(config: Config, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the keys behind an experiment whose data sets train, choose or tune, these, and what they must not do."""
    experiment = config.experiments[name]
    source, other_stages = trained_on(config, experiment.dataset), list[Name]()
    if source != experiment.dataset and set(experiment.regimes) - {"zero-shot"}:
        yield f"datasets.{experiment.dataset}.train_on", source, "train"
        other_stages.append(
            ("first_stages", training_candidates(config, experiment.dataset, experiment.candidates))
        )
    entries = reached(config, [("experiments", name)])
    selections = (
        config.models[entry_name].select_on for section, entry_name in entries if section == "models"
    )
    other_stages += [
        ("first_stages", selection.candidates)
        for selection in selections
        if selection is not None and selection.dataset != experiment.dataset
    ]
    # First stages whose candidates teach or choose models on other queries than those tested.
    teaching_entries = reached(config, other_stages)
    for section, entry_name in entries:
        entry: Any = getattr(config, section)[entry_name]
        if section == "term_weights":
            # Weights of the tested queries themselves were learned on other folds.
            is_own = entry.kind == "queries" and entry.dataset == experiment.dataset
            if entry.same_as is not None or entry.model not in TRAINED:
                continue
            if is_own and (section, entry_name) not in teaching_entries:
                continue
        for reference in REFERENCES:
            if reference.section == section and reference.decides:
                for dataset in names_under(entry, reference.key):
                    yield f"{section}.{entry_name}.{reference.key}", dataset, reference.decides
