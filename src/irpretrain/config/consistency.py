"""Every fault that spans sections: names that lead nowhere, models that start from each other, too many folds or shots,
test queries that have a part in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.answer_consistency import answer_faults
from irpretrain.config.corpora import folds_fault
from irpretrain.config.downstream_consistency import downstream_faults
from irpretrain.config.experiment_consistency import experiment_faults
from irpretrain.config.first_stage_consistency import (
    first_stage_faults,
    named_faults,
    weighting_faults,
    weighting_name_faults,
)
from irpretrain.config.model_consistency import model_faults, selection_faults, training_faults
from irpretrain.config.names import listed_twice, unknown_names
from irpretrain.config.predictor_consistency import diagnosis_faults, predictor_faults
from irpretrain.config.query_page_consistency import query_page_faults
from irpretrain.config.query_uses import query_use_faults
from irpretrain.config.ranker_consistency import ranker_faults
from irpretrain.config.retrieval import TF_INDEX
from irpretrain.config.usage import (
    active_diagnoses,
    active_experiments,
    first_stage_names,
    hides_depths,
    index_names,
    is_shown,
    needs_folds,
    used_first_stages,
    used_models,
    used_predictors,
    used_weightings,
    wanted_models,
)
from irpretrain.papers.files import papers_with_depths, show_term_weights

if TYPE_CHECKING:
    from irpretrain.config.corpora import DatasetConfig
    from irpretrain.config.root import Config

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


def cross_faults(config: Config) -> Iterator[str]:
    """Yield every fault of a configuration whose sections are sound by themselves."""
    for section in NAMED:
        for name in getattr(config, section):
            if not NAME.fullmatch(name):
                yield f"{section}.{name}: names are lower-case words joined by hyphens, such as squad-dev"
    yield from listed_twice("report.papers", config.report.papers)
    for name, corpora in config.collections.items():
        yield from unknown_names(f"collections.{name}", corpora, config.corpora, "corpora")
        if not corpora:
            yield f"collections.{name}: is empty; name a corpus, or remove the collection by null"
    yield from unknown_names(
        "word_vectors.files", config.word_vectors.files, config.collections, "collections"
    )
    for name, model in config.models.items():
        yield from model_faults(config, name, model)
    for name in used_predictors(config):
        yield from predictor_faults(config, name, config.predictors[name])
    for name, options in config.objectives.items():
        if (predictor := getattr(options, "predictor", None)) is not None:
            yield from unknown_names(
                f"objectives.{name}.predictor", [predictor], config.predictors, "predictors"
            )
    for name in dict.fromkeys(
        task.objective for model in wanted_models(config) for task in config.models[model].tasks
    ):
        if (weighting := getattr(config.objectives.get(name), "weighting", None)) is not None:
            by_attention = [
                key for key, described in config.term_weights.items() if described.model == "attention"
            ]
            yield from unknown_names(
                f"objectives.{name}.weighting", [weighting], by_attention, "term_weights of model attention"
            )
    for name in wanted_models(config):
        yield from training_faults(config, name)
    for name in used_models(config):
        yield from selection_faults(config, name)
    for name, dataset in config.datasets.items():
        yield from unknown_names(f"datasets.{name}.corpus", [dataset.corpus], config.corpora, "corpora")
        yield from _folds(config, name, dataset)
        yield from _train_on(config, name, dataset)
    for name, weighting in config.term_weights.items():
        yield from weighting_name_faults(config, name, weighting)
    for name in used_weightings(config):
        yield from weighting_faults(config, name, config.term_weights[name])
    if TF_INDEX in config.indexes:
        yield f"indexes.{TF_INDEX}: {TF_INDEX} means the index of term frequencies; call the index something else"
    for name, first_stage in config.first_stages.items():
        yield from first_stage_faults(config, name, first_stage)
    for name in used_first_stages(config):
        if name in config.first_stages:
            yield from named_faults(config, name, config.first_stages[name])
    for name, experiment in config.experiments.items():
        if is_shown(config, experiment) and hides_depths(config, experiment):
            papers = " or ".join(papers_with_depths())
            lists = "report.papers" if experiment.papers is None else "report.papers and papers"
            yield (
                f"experiments.{name}.depths: no table of this report shows depths, so nothing of {name} would be run; "
                f"add {papers} to {lists}, or leave depths out"
            )
    for name, experiment in active_experiments(config).items():
        yield from experiment_faults(config, name, experiment)
    yield from query_use_faults(config)
    for name, page in config.attributions.items():
        where = f"attributions.{name}"
        yield from unknown_names(f"{where}.dataset", [page.dataset], config.datasets, "datasets")
        yield from unknown_names(f"{where}.models", page.models, config.models, "models")
    for name, compared in config.query_pages.items():
        yield from query_page_faults(config, f"query_pages.{name}", compared)
    if show_term_weights(config.report.papers):
        yield from view_faults(config)
    for name, diagnosis in active_diagnoses(config).items():
        yield from diagnosis_faults(config, name, diagnosis)
    yield from ranker_faults(config)
    yield from answer_faults(config)
    yield from downstream_faults(config)


def view_faults(config: Config) -> Iterator[str]:
    """Yield the faults of `weight_distributions` and `term_weight_pages`; reports without term weights need neither."""
    for name, distribution in config.weight_distributions.items():
        where = f"weight_distributions.{name}"
        yield from unknown_names(f"{where}.corpora", distribution.corpora, config.corpora, "corpora")
        yield from unknown_names(
            f"{where}.weightings", distribution.weightings, index_names(config), "indexes"
        )
        yield from listed_twice(f"{where}.corpora", distribution.corpora)
        yield from listed_twice(f"{where}.weightings", distribution.weightings)
    for name, heat_maps in config.term_weight_pages.items():
        where = f"term_weight_pages.{name}"
        yield from unknown_names(f"{where}.dataset", [heat_maps.dataset], config.datasets, "datasets")
        yield from unknown_names(f"{where}.weightings", heat_maps.weightings, index_names(config), "indexes")
        yield from unknown_names(
            f"{where}.first_stages", heat_maps.first_stages, first_stage_names(config), "first_stages"
        )
        yield from listed_twice(f"{where}.weightings", heat_maps.weightings)
        yield from listed_twice(f"{where}.first_stages", heat_maps.first_stages)


def _folds(config: Config, name: str, dataset: DatasetConfig) -> Iterator[str]:
    if not isinstance(dataset.folds, int) or not needs_folds(config, name):
        return
    if fault := folds_fault(dataset.folds, dataset.sample_queries):
        yield f"datasets.{name}.folds: {fault}"


def _train_on(config: Config, name: str, dataset: DatasetConfig) -> Iterator[str]:
    if dataset.train_on is None:
        return
    where = f"datasets.{name}.train_on"
    yield from unknown_names(where, [dataset.train_on], config.datasets, "datasets")
    if dataset.train_on == name:
        yield f"{where}: is the data set itself; leave it out for cross-validation within {name}"
