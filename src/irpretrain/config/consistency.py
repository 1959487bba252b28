"""Faults that span sections of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irpretrain.config.base import Section
from irpretrain.config.corpora import folds_fault
from irpretrain.config.depths import measure_faults
from irpretrain.config.model_consistency import (
    experiment_faults,
    first_stage_faults,
    model_faults,
    training_faults,
    view_faults,
)
from irpretrain.config.names import unknown_names
from irpretrain.config.papers import papers_with_depths, show_term_weights
from irpretrain.config.references import (
    NOT_PRETRAINED,
    REFERENCES,
    WEIGHTS_OF_QUERIES,
    Name,
    names_under,
)
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, TF_INDEX
from irpretrain.config.root import NAMED, Config
from irpretrain.config.term_weights import TRAINED
from irpretrain.config.usage import (
    active_experiments,
    first_stage_names,
    hides_depths,
    index_names,
    is_reported,
    needs_folds,
    reached,
    trained_on,
    training_candidates,
    used,
    used_entries,
    wanted_models,
)

if TYPE_CHECKING:
    from irpretrain.config.axioms import PredictorConfig
    from irpretrain.config.corpora import DatasetConfig


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
        reserved, other = TAKEN.get(section, ((), ""))
        for name in getattr(config, section):
            if not NAME.fullmatch(name):
                yield f"{section}.{name}: names are lower-case words joined by hyphens, such as squad-dev"
            if name in reserved:
                yield f"{section}.{name}: {name} has a meaning of its own here; choose another name"
            if other and name in getattr(config, other):
                yield f"{section}.{name}: {name} is in {other} too; choose another name"
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
        other = config.term_weights.get(weighting.same_as or "")
        if other is not None and (other.same_as or other.model == "tf" or other.kind == "queries"):
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
    yield from view_faults(config)


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


def reference_faults(config: Config, only: str | None = None) -> Iterator[str]:
    """Yield the names that lead nowhere or to what cannot be named; of `only` all entries count."""
    used = set(used_entries(config))
    if only is not None or show_term_weights(config.report.papers):
        used |= {("term_weight_pages", name) for name in config.term_weight_pages}
    for section, key, target, if_used, _, decides, refused in REFERENCES:
        given = getattr(config, section)
        entries: Mapping[str, Any] = {"": given} if isinstance(given, Section) else given
        for entry, described in entries.items() if only in (None, section) else ():
            if not if_used or (section, entry) in used:
                where = ".".join(filter(None, (section, entry, key)))
                names = names_under(described, key)
                if key == "start":  # of a model, also the encoder
                    names = [name for name in names if name != "encoder"]
                yield from unknown_names(where, names, _names_of(config, target), target)
                for dataset in names if decides and (section, entry) in used else ():
                    if dataset in config.datasets and config.datasets[dataset].by_answers:
                        yield (
                            f"{where}: {dataset} judges by answers what is retrieved, so it can only be tested on; "
                            "name a data set with judgements"
                        )
                for model, kind in ((name, kind) for name in names for kind in refused):
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


@dataclass(frozen=True)
class QueryUse:
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
        if dataset is not None and dataset in config.datasets
    )
    return list(dict.fromkeys(uses))


def query_use_faults(config: Config) -> Iterator[str]:
    """Yield the uses of test queries that the configuration itself shows: the same data set, or the same files.

    `irpretrain.corpora.shared_queries` compares queries of different files once they are read.
    """
    for use in query_uses(config):
        used, tested = config.datasets[use.dataset].queries, config.datasets[use.tested].queries
        same_files = (used.path, used.options) == (tested.path, tested.options)
        if use.dataset == use.tested or same_files:
            too = "" if use.dataset == use.tested else f", which has its queries from {tested.path} too"
            yield (
                f"{use.key}: experiments.{use.experiment} tests on {use.tested}{too}; test queries must not "
                f"{use.purpose}, so name a data set with other queries"
            )


def _uses(config: Config, name: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield the keys behind an experiment whose data sets train, choose or tune, these, and what they must not do."""
    experiment = config.experiments[name]
    source, elsewhere = trained_on(config, experiment.dataset), list[Name]()
    if source != experiment.dataset and set(experiment.regimes) - {"zero-shot"}:
        yield f"datasets.{experiment.dataset}.train_on", source, "train"
        elsewhere.append(
            ("first_stages", training_candidates(config, experiment.dataset, experiment.candidates))
        )
    entries = reached(config, [("experiments", name)])
    selections = (config.models[needed].select_on for section, needed in entries if section == "models")
    elsewhere += [
        ("first_stages", selection.candidates)
        for selection in selections
        if selection is not None and selection.dataset != experiment.dataset
    ]
    # First stages whose candidates teach or choose models on other queries than those tested.
    teaching = reached(config, elsewhere)
    for section, needed in entries:
        where = f"{section}.{needed}"
        match section:
            case "models":
                model = config.models[needed]
                if model.select_on is not None:
                    yield f"{where}.select_on.dataset", model.select_on.dataset, "choose a model"
                for task in model.tasks:
                    predictor = getattr(config.objectives.get(task.objective), "predictor", None)
                    if predictor in config.predictors:
                        taught = f"teach the predictor that {needed} learns from"
                        yield f"predictors.{predictor}.dataset", config.predictors[predictor].dataset, taught
            case "first_stages":
                stage = config.first_stages[needed]
                yield f"{where}.tuned_on", stage.tuned_on, "choose parameters"
                for role, weights in (("index", stage.index), ("query_weights", stage.query_weights)):
                    weighting = config.term_weights.get(weights or "")
                    if weighting is not None and weighting.same_as is not None:
                        weighting = config.term_weights.get(weighting.same_as)
                    if weighting is None or weighting.model not in TRAINED:
                        continue
                    # Weights of the tested queries themselves were learned on other folds.
                    is_own = role == "query_weights" and weighting.dataset == experiment.dataset
                    if not is_own or (section, needed) in teaching:
                        yield f"{where}.{role}", weighting.dataset, f"teach the weights of {weights}"
