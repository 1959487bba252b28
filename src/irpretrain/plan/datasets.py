"""Data sets: queries, judgements, folds, and what fine-tuning reads of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import DatasetConfig
from irpretrain.config.query_uses import QueryUse, query_uses
from irpretrain.config.usage import (
    depth_of,
    most_shots,
    searched_stages,
    trained_on,
    training_candidates,
)
from irpretrain.corpora.files import list_files
from irpretrain.plan import paths
from irpretrain.plan.part import Input, PlanPart, described, each, first_stage_run, strings, without
from irpretrain.plan.requests import Wildcards

ENTITY_QUESTIONS = 22_036
"""Of the data set of that name (ARES); taken where a configuration does not say how many questions there are."""


class Datasets(PlanPart):
    """Jobs of a data set, which the wildcard `dataset` names."""

    def options(self, wildcards: Wildcards) -> Any:
        """What decides queries, judgements and folds; measures do not, nor does the name in tables."""
        options = without(described(self._dataset_of(wildcards)), {"measures", "validation_measure"})
        return options | {"label": wildcards.dataset}

    def queries(self, wildcards: Wildcards) -> list[str]:
        return self.files_of(self._dataset_of(wildcards).queries)

    def qrels(self, wildcards: Wildcards) -> list[str]:
        return self.files_of(self._dataset_of(wildcards).qrels)

    def given_folds(self, wildcards: Wildcards) -> Input:
        """The file that gives the folds, where one does."""
        folds = self._dataset_of(wildcards).folds
        if not isinstance(folds, str):
            return []
        return strings(list_files(folds, [".txt"])) if Path(self.there(folds)).is_dir() else folds

    def shots(self, wildcards: Wildcards) -> tuple[int, int]:
        """The most training queries that a few-shot regime asks for."""
        return most_shots(self.config, wildcards.dataset)

    @cache
    def fold_numbers(self, dataset: str) -> list[int]:
        """The test folds of a data set; one that trains on another is tested whole."""
        from irpretrain.evaluation.folds import WHOLE, count_folds

        if self.config.datasets[dataset].train_on:
            return [WHOLE]
        return list(range(1, count_folds(self.config.datasets[dataset]) + 1))

    # Judgements that follow from answers, once first stages have retrieved something

    def answered(self, by_answers: bool = True) -> list[str]:
        """Data sets whose judgements follow from answers, or those whose judgements are given."""
        return [
            name for name, dataset in self.config.datasets.items() if bool(dataset.by_answers) == by_answers
        ]

    def judged_runs(self, wildcards: Wildcards) -> list[str]:
        """What first stages retrieve in the experiments on a data set: these passages are judged."""
        stages = sorted(searched_stages(self.config, wildcards.dataset))
        return [first_stage_run(wildcards.dataset, stage) for stage in stages]

    def judging_memory(self, wildcards: Wildcards) -> int:
        """Megabytes of judging by answers: half a kB for every retrieved passage of every question.

        Each is held by its name. That takes a third of a kB where few questions share one, with the run in which it is
        read.
        """
        from irpretrain.costs import sizes

        stages = searched_stages(self.config, wildcards.dataset)
        candidates = sum(depth_of(self.config, stage) for stage in stages)
        questions = int(sizes.queries(self.config, wildcards.dataset) or ENTITY_QUESTIONS)
        return 2000 + questions * candidates // 2000

    # Queries that are tested are none of those that train, choose or tune

    @cached_property
    def _query_uses(self) -> list[QueryUse]:
        return query_uses(self.config)

    def apart_from_used(self, wildcards: Wildcards) -> list[str]:
        """Proofs that an experiment tests no queries that train, choose or tune what it tests."""
        uses = [use for use in self._query_uses if use.experiment == wildcards.experiment]
        return sorted({paths.APART.format(dataset=use.tested, used=use.dataset) for use in uses})

    def keys_of_use(self, wildcards: Wildcards) -> list[str]:
        """Keys of the configuration that name a data set whose queries are used, where another is tested."""
        pair = (wildcards.used, wildcards.dataset)
        return sorted({use.key for use in self._query_uses if (use.dataset, use.tested) == pair})

    def comparable_judgements(self, wildcards: Wildcards) -> list[str]:
        """Judgements of used and of tested queries. Those by answers come too late."""
        names = (wildcards.used, wildcards.dataset)
        if any(self.config.datasets[name].by_answers for name in names):
            return []
        return each(paths.QRELS, names)

    def compared_documents(self, wildcard: str) -> Callable[[Wildcards], list[str]]:
        """Return the documents of the data set that a wildcard names, where judgements are compared.

        Corpora that are read from the same path need no comparison; others may hold the same documents nevertheless.
        """

        def documents(wildcards: Wildcards) -> list[str]:
            corpora = {
                name: self.config.datasets[getattr(wildcards, name)].corpus for name in ("used", "dataset")
            }
            sources = {self.config.corpora[corpus].path for corpus in corpora.values()}
            compared = len(sources) > 1 and self.comparable_judgements(wildcards)
            return self.each_shard(paths.DOCUMENTS, [corpora[wildcard]]) if compared else []

        return documents

    # Fine-tuning

    def training_file(self, template: str) -> Callable[[Wildcards], str]:
        """Return a file of the data set that trains."""
        return lambda wildcards: template.format(dataset=trained_on(self.config, wildcards.dataset))

    def training_documents(self, wildcards: Wildcards) -> list[str]:
        return self._read_documents(wildcards.model, trained_on(self.config, wildcards.dataset))

    def training_run(self, wildcards: Wildcards) -> str:
        """Candidates of the queries that train; those of another first stage where others' run is of the tested ones
        alone."""
        candidates = training_candidates(self.config, wildcards.dataset, wildcards.candidates)
        trained = trained_on(self.config, wildcards.dataset)
        return first_stage_run(trained, candidates)

    def test_documents(self, wildcards: Wildcards) -> list[str]:
        return self._read_documents(wildcards.model, wildcards.dataset) if self._is_whole(wildcards) else []

    def test_file(self, template: str) -> Callable[[Wildcards], Input]:
        """Return a file of what is tested whole, where another data set trains; nothing under cross-validation."""

        def file(wildcards: Wildcards) -> Input:
            whole = self._is_whole(wildcards)
            names = {"dataset": wildcards.dataset, "candidates": wildcards.candidates}
            return template.format_map(names) if whole else []

        return file

    def _read_documents(self, model: str, dataset: str) -> list[str]:
        """What a model is fine-tuned on: the word pieces of a data set's corpus, or its words by the numbers of a
        ranker's collection."""
        corpora = [self.config.datasets[dataset].corpus]
        neural = self.config.models[model].neural
        if neural is not None:
            return self.each_shard(paths.WORDS, corpora, collection=neural.collection)
        return self.each_shard(paths.TOKENS, corpora, tokenizer=self.tokenizer_of(model))

    def _is_whole(self, wildcards: Wildcards) -> bool:
        return self._dataset_of(wildcards).train_on is not None

    def _dataset_of(self, wildcards: Wildcards) -> DatasetConfig:
        return self.config.datasets[wildcards.dataset]
