"""Faults that span sections of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.base import Section, changed_keys
from irpretrain.config.corpora import folds_fault
from irpretrain.config.finetuning import REGIME
from irpretrain.config.papers import papers_with_depths, show_term_weights
from irpretrain.config.references import (
    NOT_PRETRAINED,
    REFERENCES,
    WEIGHTS_OF_QUERIES,
    EntryName,
    names_under,
    unknown_names,
)
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MODEL_PARAMETERS, TF_INDEX
from irpretrain.config.root import ENTRY_SECTIONS, Config, Depth
from irpretrain.config.term_weights import TRAINED_MODELS
from irpretrain.evaluation.measures import cutoff
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
RESERVED = {
    "models": (("encoder", *BUILT_IN_FIRST_STAGES), ""),
    "first_stages": (("encoder", *BUILT_IN_FIRST_STAGES), "models"),
    "indexes": ((TF_INDEX,), ""),
    "term_weights": ((TF_INDEX,), "indexes"),
}


def cross_faults(config: Config) -> Iterator[str]:
    """Yield every fault of a configuration whose sections are sound by themselves."""
    for section in ENTRY_SECTIONS:
        reserved, other_section = RESERVED.get(section, ((), ""))
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
    for name in config.used_names("predictors"):
        yield from predictor_faults(config, name, config.predictors[name])
    for name in config.needed_models:
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
        if experiment.hides_depths(config.report.papers):
            papers = " or ".join(papers_with_depths())
            lists = "report.papers" if experiment.papers is None else "report.papers and papers"
            yield (
                f"experiments.{name}.depths: no table of this report shows depths, so nothing of {name} would be run; "
                f"add {papers} to {lists}, or leave depths out"
            )
    for name, experiment in config.active_experiments.items():
        yield from experiment_faults(config, name, experiment)
    yield from measure_faults(config)
    yield from query_use_faults(config)


def dataset_faults(config: Config, name: str, dataset: DatasetConfig) -> Iterator[str]:
    """Yield the faults of a data set, used or not."""
    key_path = f"datasets.{name}"
    fault = folds_fault(dataset.folds, dataset.sample_queries) if isinstance(dataset.folds, int) else ""
    if fault and config.needs_folds(name):
        yield f"{key_path}.folds: {fault}"
    if dataset.train_on == name:
        yield f"{key_path}.train_on: is the data set itself; leave it out for cross-validation within {name}"
    corpus = config.corpora.get(dataset.corpus)
    if dataset.queries_are_documents and corpus is not None and corpus.passage_words is not None:
        yield (
            f"{key_path}.queries_are_documents: corpora.{dataset.corpus}.passage_words cuts documents into passages "
            "<id>#<n>, none of which has a query's identifier, so none would be dropped; leave one of the two out"
        )


def first_stage_faults(config: Config, name: str, stage: FirstStageConfig) -> Iterator[str]:
    """Yield the faults within a first stage, used or not."""
    key_path = f"first_stages.{name}"
    if stage.runs:
        search_keys = changed_keys(stage, ("label", "runs", "training_candidates"))
        if search_keys:
            yield f"{key_path}: takes runs of others, so nothing is searched; remove {', '.join(search_keys)}"
        return
    if stage.training_candidates is not None:
        yield f"{key_path}.training_candidates: is for runs of others; what is searched has candidates of its own"
    if stage.candidates is not None:
        if stage.model == "indri":
            yield f"{key_path}.candidates: indri searches the whole index; use model bm25, ql or ql-jm"
        if stage.candidates in config.first_stages and config.first_stages[stage.candidates].candidates:
            remedy = "name the first stage that has them"
            yield f"{key_path}.candidates: {stage.candidates} ranks candidates itself; {remedy}"
        if stage.tuned_on is not None:
            yield f"{key_path}.tuned_on: is for a search of the whole index; leave out tuned_on or candidates"
    if stage.model == "indri":
        if stage.index != TF_INDEX or stage.tuned_on is not None:
            yield f"{key_path}: indri has index {TF_INDEX} and parameters that are given; leave index and tuned_on out"
    elif stage.query_weights is not None or stage.dependence is not None:
        yield f"{key_path}: query_weights and dependence need model indri"
    parameters = MODEL_PARAMETERS[stage.model]
    for parameter in stage.parameters.model_dump(exclude_none=True):
        if parameter not in parameters:
            parameter_list = " and ".join(parameters)
            yield f"{key_path}.parameters: {stage.model} has no {parameter}, only {parameter_list}"
        elif stage.tuned_on is not None:
            yield f"{key_path}.parameters: {parameter} is tuned on {stage.tuned_on}; leave one of the two out"


def missing_runs(config: Config, key_path: str, stage: str, dataset: str, remedy: str = "") -> Iterator[str]:
    """Yield the fault of a first stage of external runs without one for a data set; `remedy` is another
    remedy."""
    stage = config.ranked_stage(stage)
    runs = config.first_stages[stage].runs if stage in config.first_stages else {}
    if runs and dataset not in runs:
        yield f"{key_path}: {stage} has no run for {dataset}; add it as first_stages.{stage}.runs.{dataset}{remedy}"


REGIMES = ("zero-shot", "full", "few-shot-<n>")


def experiment_faults(config: Config, name: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the faults of an experiment that the report has."""
    key_path = f"experiments.{name}"
    yield from depth_faults(config, key_path, experiment)
    if bool(experiment.models) != bool(experiment.regimes):
        missing_key = "regimes" if experiment.models else "models"
        yield f"{key_path}.{missing_key}: is empty; models and regimes need each other"
    for regime in experiment.regimes:
        if not REGIME.fullmatch(regime):
            suggestion = instead_of(regime.rstrip("0123456789"), REGIMES, "allowed are")
            yield f"{key_path}.regimes: {regime!r} is not a regime; {suggestion}"
    models = {model: config.models[model] for model in experiment.models if model in config.models}
    external_models = [model for model, options in models.items() if options.cross_encoder]
    if external_models and set(experiment.regimes) != {"zero-shot"}:
        yield (
            f"{key_path}.regimes: {', '.join(external_models)} has cross_encoder and is not fine-tuned here; list it "
            "in an experiment whose only regime is zero-shot, or give its path as encoder, with training: {head: kept}"
        )
    rankers = {model: options.neural for model, options in models.items() if options.neural is not None}
    if rankers and "zero-shot" in experiment.regimes:
        yield (
            f"{key_path}.regimes: {', '.join(rankers)} has no pre-training, so zero-shot it ranks at random; list it "
            "in an experiment whose regimes are full or few-shot-<n>"
        )
    if experiment.dataset not in config.datasets:
        return
    yield from missing_runs(config, f"{key_path}.candidates", experiment.candidates, experiment.dataset)
    training_dataset = config.trained_on(experiment.dataset)
    if (
        experiment.is_finetuned
        and training_dataset in config.datasets
        and config.datasets[training_dataset].by_answers
    ):
        yield (
            f"{key_path}.regimes: {training_dataset} judges by answers what is retrieved, so nothing is fine-tuned on "
            "it; leave zero-shot alone, or give the data set train_on"
        )
    searched_corpora = [
        config.datasets[name].corpus
        for name in (experiment.dataset, training_dataset)
        if name in config.datasets
    ]
    for model, neural in rankers.items():
        corpora = config.collections.get(neural.collection, searched_corpora)
        if lacking_corpora := [corpus for corpus in dict.fromkeys(searched_corpora) if corpus not in corpora]:
            yield (
                f"models.{model}.neural.collection: {key_path} trains and tests {model} on "
                f"{' and '.join(lacking_corpora)}, which collections.{neural.collection} lacks, so its words are not "
                "known; add it there, or name a collection that has it"
            )
    if experiment.is_finetuned and training_dataset != experiment.dataset:
        candidates = config.training_candidates(experiment.dataset, experiment.candidates)
        remedy = f", or name other candidates for training in first_stages.{experiment.candidates}.training_candidates"
        yield from missing_runs(config, f"{key_path}.candidates", candidates, training_dataset, remedy)
    for stage in experiment.first_stages:
        yield from missing_runs(config, f"{key_path}.first_stages", stage, experiment.dataset)


def model_faults(config: Config, name: str, model: ModelConfig) -> Iterator[str]:
    """Yield the faults of what a model names, used or not."""
    key_path = f"models.{name}"
    try:
        config.finetuning_of(name)
    except ValueError as error:
        yield str(error)
    for key, other_key in (("cross_encoder", "passages"), ("neural", "finetuning")):
        if getattr(model, key) is not None:
            if useless_keys := changed_keys(model, ("label", key, other_key)):
                yield f"{key_path}: a model with {key} is not pre-trained here; remove {', '.join(useless_keys)}"
            return
    if model.start != "encoder":
        if model.encoder is not None:
            yield f"{key_path}.encoder: {name} starts from {model.start}, whose encoder it has; leave encoder out"
        chain = config.with_starts([name])
        if (repeated_model := config.models[chain[-1]].start) in chain:
            yield f"{key_path}.start: goes round in a circle: {' -> '.join([*chain, repeated_model])}"
    if model.tasks and model.collection is None:
        yield f"{key_path}: has tasks but no collection to train on; set {key_path}.collection"
    if (selection := model.select_on) is not None:
        yield from missing_runs(
            config, f"{key_path}.select_on.candidates", selection.candidates, selection.dataset
        )
    for task in model.tasks:
        if task.weight == 0 and task.mlm_weight == 0:
            yield f"{key_path}.tasks: {task.objective} has weight 0 and mlm_weight 0, so nothing is learned"


def training_faults(config: Config, name: str) -> Iterator[str]:
    """Yield the faults of a used model's own keys laid over `pretraining`, and of the choice among its snapshots."""
    key_path, model = f"models.{name}", config.models[name]
    try:
        training = config.training_of(name)
    except ValueError as error:
        yield str(error)
        return
    words_of_segments = config.graph.words_of_segments(config.objectives)
    yield from training.task_faults(model.tasks, words_of_segments, f"{key_path}.tasks")
    if model.select_on is not None and not (training.snapshots and model.tasks):
        advice = "" if training.epochs is None else f"give {key_path}.training.steps in place of epochs and "
        yield (
            f"{key_path}.select_on: {name} keeps no snapshots to choose among; {advice}list steps in "
            f"{key_path}.training.snapshots, or leave select_on out"
        )


def reference_faults(config: Config, only_section: str | None = None) -> Iterator[str]:
    """Yield the names that lead nowhere or to what cannot be named; of `only_section` all entries count."""
    entries_in_use = set(config.used_entries())
    if only_section is not None or show_term_weights(config.report.papers):
        entries_in_use |= {("term_weight_pages", name) for name in config.term_weight_pages}
    for section, key, target, if_used, _, uses_judgements, refused_kinds in REFERENCES:
        content = getattr(config, section)
        entries: Mapping[str, Any] = {"": content} if isinstance(content, Section) else content
        for entry, entry_options in entries.items() if only_section in (None, section) else ():
            if not if_used or (section, entry) in entries_in_use:
                key_path = ".".join(filter(None, (section, entry, key)))
                names = names_under(entry_options, key)
                if key == "start":  # of a model, also the encoder
                    names = [name for name in names if name != "encoder"]
                yield from unknown_names(key_path, names, _names_of(config, target), target)
                for dataset in names if uses_judgements and (section, entry) in entries_in_use else ():
                    if dataset in config.datasets and config.datasets[dataset].by_answers:
                        yield (
                            f"{key_path}: {dataset} judges by answers what is retrieved, so it can only be tested on; "
                            "name a data set with judgements"
                        )
                for model, kind in ((name, kind) for name in names for kind in refused_kinds):
                    if model in config.models and getattr(config.models[model], kind) is not None:
                        yield f"{key_path}: {model} {NOT_PRETRAINED[kind]}; name another model"


def _names_of(config: Config, target: str) -> list[str]:
    if target == "first_stages":
        return list(config.stage_labels)
    if target == "indexes":
        return list(config.index_labels)
    if target == WEIGHTS_OF_QUERIES:
        return [name for name, weighting in config.term_weights.items() if weighting.kind == "queries"]
    return list(getattr(config, target))


# Cut-offs: measures and depths that look deeper than the rankings that they score.


def measure_faults(config: Config) -> Iterator[str]:
    """Yield the measures that look deeper than the rankings that they score; some more than once."""
    for name in config.tested_datasets:
        if name in config.datasets:
            key_path = f"datasets.{name}.measures"
            yield from _cutoff_faults(key_path, config.datasets[name].measures, config.scoring_depth(name))
    for experiment in config.active_experiments.values():
        chooses = any(
            config.finetuning_of(model).chooses(regime)
            for model in experiment.models
            if model in config.models
            for regime in experiment.regimes
            if regime != "zero-shot"
        )
        if experiment.dataset in config.datasets and chooses:
            training_dataset = config.trained_on(experiment.dataset)
            if training_dataset in config.datasets:
                measure = config.datasets[training_dataset].validation_measure
                key_path = f"datasets.{training_dataset}.validation_measure"
                yield from _cutoff_faults(key_path, [measure], config.reranking_depth(training_dataset))
    for model in config.used_models:
        selection = config.models[model].select_on
        if selection is not None:
            key_path = f"models.{model}.select_on.measure"
            yield from _cutoff_faults(
                key_path, [selection.measure], config.reranking_depth(selection.dataset)
            )


def _cutoff_faults(key_path: str, measures: Sequence[str], depth: Depth) -> Iterator[str]:
    if deeper_measures := [name for name in measures if (cutoff(name) or 0) > depth.documents]:
        yield (
            f"{key_path}: {', '.join(deeper_measures)}: the cut-off is beyond the {depth.documents} documents a query "
            f"that {depth.key} allows; lower the cut-off, or raise {depth.key}"
        )


def depth_faults(config: Config, key_path: str, experiment: ExperimentConfig) -> Iterator[str]:
    """Yield the `depths` of an experiment that are beyond its candidates."""
    deepest = max(experiment.depths, default=0)
    find_depth = config.reranking_depth if experiment.models else config.retrieval_depth
    depth = find_depth(experiment.dataset)
    if deepest > depth.documents:
        yield (
            f"{key_path}.depths: {deepest} is more than the {depth.documents} candidates a query that {depth.key} "
            f"allows; lower it, or raise {depth.key}"
        )


# Which queries have a part in a result beside those that it is measured on: they train, choose or tune.


class QueryUse(NamedTuple):
    """Queries of a data set have a part in what an experiment tests on another data set."""

    key: str  # the key of the configuration that names the data set, such as models.prop.select_on.dataset
    dataset: str  # the data set whose queries are used
    purpose: str  # what test queries must not do here
    experiment: str  # the experiment
    tested_dataset: str  # the data set that the experiment tests on


def query_uses(config: Config) -> list[QueryUse]:
    """Return every use of queries behind the active experiments; folds of one data set are no use."""
    uses = (
        QueryUse(key, dataset, purpose, name, experiment.dataset)
        for name, experiment in config.active_experiments.items()
        if experiment.dataset in config.datasets
        for key, dataset, purpose in _uses_of_experiment(config, name)
        if dataset in config.datasets
    )
    return list(dict.fromkeys(uses))


def query_use_faults(config: Config) -> Iterator[str]:
    """Yield the uses of test queries that the configuration itself shows: the same data set, or the same files.

    `irpretrain.corpora.shared_queries` compares queries of different files once they are read.
    """
    for use in query_uses(config):
        used, tested = (config.datasets[name].queries for name in (use.dataset, use.tested_dataset))
        if (used.path, used.options) != (tested.path, tested.options):
            continue
        files_note = (
            "" if use.dataset == use.tested_dataset else f", which has its queries from {tested.path} too"
        )
        yield (
            f"{use.key}: experiments.{use.experiment} tests on {use.tested_dataset}{files_note}; test queries "
            f"must not {use.purpose}, so name a data set with other queries"
        )


def _uses_of_experiment(config: Config, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the keys behind an experiment whose data sets train, choose or tune, these, and what they must not do."""
    experiment = config.experiments[name]
    training_dataset, other_stages = config.trained_on(experiment.dataset), list[EntryName]()
    if training_dataset != experiment.dataset and experiment.is_finetuned:
        yield f"datasets.{experiment.dataset}.train_on", training_dataset, "train"
        other_stages.append(
            ("first_stages", config.training_candidates(experiment.dataset, experiment.candidates))
        )
    entries = config.reachable_entries([("experiments", name)])
    selections = (
        config.models[entry_name].select_on for section, entry_name in entries if section == "models"
    )
    other_stages += [
        ("first_stages", selection.candidates)
        for selection in selections
        if selection is not None and selection.dataset != experiment.dataset
    ]
    # First stages whose candidates teach or choose models on other queries than those tested.
    teaching_entries = config.reachable_entries(other_stages)
    for section, entry_name in entries:
        entry: Any = getattr(config, section)[entry_name]
        if section == "term_weights":
            # Weights of the tested queries themselves were learned on other folds.
            weighs_tested_queries = entry.kind == "queries" and entry.dataset == experiment.dataset
            if entry.same_as is not None or entry.model not in TRAINED_MODELS:
                continue
            if weighs_tested_queries and (section, entry_name) not in teaching_entries:
                continue
        for reference in REFERENCES:
            if reference.section == section and reference.decides:
                for dataset in names_under(entry, reference.key):
                    yield f"{section}.{entry_name}.{reference.key}", dataset, reference.decides
