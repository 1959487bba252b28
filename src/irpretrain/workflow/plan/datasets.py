"""Jobs on data sets, and the runs that each experiment compares."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

from irpretrain.config.consistency import QueryUse, query_uses
from irpretrain.config.corpora import DatasetConfig
from irpretrain.config.experiments import ATTRIBUTED_CANDIDATES, AttributionConfig
from irpretrain.config.finetuning import shots_of
from irpretrain.config.run import Run
from irpretrain.corpora.file_lists import list_files
from irpretrain.workflow.costs import work
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.models import Models
from irpretrain.workflow.plan.part import (
    Input,
    PlanPart,
    Wildcards,
    first_stage_run,
    paths_of,
    reading_options,
    without_keys,
)

# Of the data set of that name (ARES), for configurations without a number of questions.
ENTITY_QUESTIONS = 22_036


class Datasets(PlanPart):
    """Jobs of a data set, which the wildcard `dataset` names."""

    def options(self, wildcards: Wildcards) -> Any:
        """What decides queries, judgements and folds; measures do not, nor does the name in tables."""
        options = without_keys(
            reading_options(self._dataset_of(wildcards)), {"measures", "validation_measure", "depth"}
        )
        return options | {"label": wildcards.dataset}

    def queries(self, wildcards: Wildcards) -> list[str]:
        return self.files_of(self._dataset_of(wildcards).queries)

    def qrels(self, wildcards: Wildcards) -> list[str]:
        return self.files_of(self._dataset_of(wildcards).qrels)

    def given_folds(self, wildcards: Wildcards) -> Input:
        folds = self._dataset_of(wildcards).folds
        if not isinstance(folds, str):
            return []
        if os.path.isdir(self.require_path(folds)):
            return list(map(str, list_files(folds, [".txt"])))
        return folds

    def shots(self, wildcards: Wildcards) -> tuple[int, int]:
        """The most training queries that a few-shot regime asks for, tested on the data set, and on another one."""
        shots = {True: 0, False: 0}
        for experiment in self.config.active_experiments.values():
            if self.config.trained_on(experiment.dataset) == wildcards.dataset:
                is_own = experiment.dataset == wildcards.dataset
                shots[is_own] = max([shots[is_own], *map(shots_of, experiment.regimes)])
        return shots[True], shots[False]

    @cache
    def fold_numbers(self, dataset: str) -> list[int]:
        """The test folds of a data set; one that trains on another is tested whole."""
        from irpretrain.corpora.make_folds import count_folds
        from irpretrain.evaluation.folds import WHOLE

        options = self.config.datasets[dataset]
        return list(range(1, count_folds(options) + 1)) if options.is_cross_validated else [WHOLE]

    # Judgements that follow from answers, once first stages have retrieved something

    def answered(self, by_answers: bool = True) -> list[str]:
        """Data sets whose judgements follow from answers, or those whose judgements are given."""
        return [
            name for name, dataset in self.config.datasets.items() if bool(dataset.by_answers) == by_answers
        ]

    def judged_runs(self, wildcards: Wildcards) -> list[str]:
        """What first stages retrieve in the experiments on a data set: these passages are judged."""
        stages = sorted(self.config.searched_stages(wildcards.dataset))
        return [first_stage_run(wildcards.dataset, stage) for stage in stages]

    def judging_memory(self, wildcards: Wildcards) -> int:
        """MB of judging by answers."""
        stages = self.config.searched_stages(wildcards.dataset)
        # Half a kB for every retrieved passage of every question, held by its name: a third of a kB if few questions
        # share one, with the run in which it is read.
        candidate_count = len(stages) * self.config.retrieval_depth(wildcards.dataset).documents
        query_count = work.query_count(self.config, wildcards.dataset)
        questions = ENTITY_QUESTIONS if math.isnan(query_count) else int(query_count)
        return 2000 + questions * candidate_count // 2000

    # Queries that are tested are none of those that train, choose or tune

    @cached_property
    def _query_uses(self) -> list[QueryUse]:
        return query_uses(self.config)

    def leakage_check(self, wildcards: Wildcards) -> list[str]:
        """Proofs that an experiment tests no queries that train, choose or tune what it tests."""
        uses = [use for use in self._query_uses if use.experiment == wildcards.experiment]
        return sorted(
            {paths.LEAKAGE_CHECK.format(dataset=use.tested_dataset, used=use.dataset) for use in uses}
        )

    def keys_of_use(self, wildcards: Wildcards) -> list[str]:
        """Keys of the configuration that name a data set whose queries are used, where another is tested."""
        pair = (wildcards.used, wildcards.dataset)
        return sorted({use.key for use in self._query_uses if (use.dataset, use.tested_dataset) == pair})

    def comparable_judgements(self, wildcards: Wildcards) -> list[str]:
        """Judgements of used and of tested queries. Those by answers come too late."""
        names = (wildcards.used, wildcards.dataset)
        if any(self.config.datasets[name].by_answers for name in names):
            return []
        return paths_of(paths.QRELS, names)

    def compared_documents(self, wildcard: str) -> Callable[[Wildcards], list[str]]:
        """Return the documents of the data set that a wildcard names, where judgements are compared."""

        def documents(wildcards: Wildcards) -> list[str]:
            corpora = {
                name: self.config.datasets[getattr(wildcards, name)].corpus for name in ("used", "dataset")
            }
            # Corpora of one path need no comparison; others may hold the same documents nevertheless.
            sources = {self.config.corpora[corpus].path for corpus in corpora.values()}
            needs_comparison = len(sources) > 1 and self.comparable_judgements(wildcards)
            return self.each_shard(paths.DOCUMENTS, [corpora[wildcard]]) if needs_comparison else []

        return documents

    # Fine-tuning

    def training_file(self, template: str) -> Callable[[Wildcards], str]:
        return lambda wildcards: template.format(dataset=self.config.trained_on(wildcards.dataset))

    def training_documents(self, wildcards: Wildcards) -> list[str]:
        return self._read_documents(wildcards.model, self.config.trained_on(wildcards.dataset))

    def training_run(self, wildcards: Wildcards) -> str:
        """Candidates of the training queries; of another first stage if an external run has the tested ones alone."""
        candidates = self.config.training_candidates(wildcards.dataset, wildcards.candidates)
        training_dataset = self.config.trained_on(wildcards.dataset)
        return first_stage_run(training_dataset, candidates)

    def test_documents(self, wildcards: Wildcards) -> list[str]:
        is_cut = self._dataset_of(wildcards).is_cross_validated
        return [] if is_cut else self._read_documents(wildcards.model, wildcards.dataset)

    def test_file(self, template: str) -> Callable[[Wildcards], Input]:
        """Return a file of what is tested whole, where another data set trains; nothing under cross-validation."""

        def file(wildcards: Wildcards) -> Input:
            names = {"dataset": wildcards.dataset, "candidates": wildcards.candidates}
            return [] if self._dataset_of(wildcards).is_cross_validated else template.format_map(names)

        return file

    def _read_documents(self, model: str, dataset: str) -> list[str]:
        """The documents that a model is fine-tuned on: token stores of a corpus, or a ranker's word stores."""
        corpora = [self.config.datasets[dataset].corpus]
        neural = self.config.models[model].neural
        if neural is not None:
            return self.each_shard(paths.WORDS, corpora, collection=neural.collection)
        return self.each_shard(paths.TOKENS, corpora, tokenizer=self.tokenizer_of(model))

    def _dataset_of(self, wildcards: Wildcards) -> DatasetConfig:
        return self.config.datasets[wildcards.dataset]


class ScoredCell(NamedTuple):
    """A run of a model that an experiment asks for; `model` may be a snapshot, `<model>@<step>`."""

    dataset: str
    candidates: str
    model: str
    regime: str
    seed: int


def attributed_cell(page: AttributionConfig, model: str) -> ScoredCell:
    """Return the run in which a page of attributions looks up its document's rank."""
    return ScoredCell(page.dataset, ATTRIBUTED_CANDIDATES, model, "zero-shot", page.seed)


@dataclass(frozen=True, eq=False)
class Experiments(PlanPart):
    """Jobs of an experiment, which the wildcard `experiment` names."""

    datasets: Datasets
    models: Models

    def cells(self, experiment: str) -> list[ScoredCell]:
        """Return every run of a model that an experiment asks for, once, in a fixed order."""
        options = self.config.experiments[experiment]
        cells: dict[ScoredCell, None] = {}
        for model, regime, seed in product(options.models, options.regimes, options.seeds):
            steps = self.models.snapshot_steps(model) if regime == "zero-shot" else []
            for name in (model, *(f"{model}@{step}" for step in steps)):
                cells[ScoredCell(options.dataset, options.candidates, name, regime, seed)] = None
        return list(cells)

    def run_files(self, cell: ScoredCell) -> list[str]:
        """Return the files of a run: one, or one per test fold."""
        if cell.regime == "zero-shot":
            return [paths.ZERO_SHOT_RUN.format(**cell._asdict())]
        folds = self.datasets.fold_numbers(cell.dataset)
        return [paths.FINETUNED_RUN.format(fold=fold, **cell._asdict()) for fold in folds]

    def runs(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Every run of an experiment, its first stages among them, as evaluation.evaluate takes them."""
        experiment = self.config.experiments[wildcards.experiment]
        dataset = experiment.dataset
        depth, ranked_stage = self.config.scoring_depth(dataset).documents, self.config.ranked_stage
        first_stage_runs = [
            {
                **ScoredCell(dataset, stage, stage, "first-stage", 0)._asdict(),
                "paths": [first_stage_run(dataset, stage)],
                "depth": depth,
                "ranked": None
                if ranked_stage(stage) == stage
                else first_stage_run(dataset, ranked_stage(stage)),
                "of_others": Run(self.config, dataset, stage).search is None,
            }
            for stage in experiment.shown_stages
        ]
        cells = self.cells(wildcards.experiment)
        return first_stage_runs + [{**cell._asdict(), "paths": self.run_files(cell)} for cell in cells]

    def files(self, wildcards: Wildcards) -> list[str]:
        """Every file that descriptions of runs name."""
        runs = self.runs(wildcards)
        return [path for run in runs for path in (*run["paths"], run.get("ranked")) if path]

    def folds(self, wildcards: Wildcards) -> Input:
        """The folds of the experiment's data set, where it is cut into folds."""
        dataset = self.config.experiments[wildcards.experiment].dataset
        is_cut = self.config.needs_folds(dataset) and self.config.datasets[dataset].is_cross_validated
        return paths.FOLDS.format(dataset=dataset) if is_cut else []

    def measures(self, wildcards: Wildcards) -> list[str]:
        return self.config.datasets[self.config.experiments[wildcards.experiment].dataset].measures

    def on_squad(self, wildcards: Wildcards) -> bool:
        """Whether the documents of an experiment are SQuAD's, which name their articles."""
        dataset = self.config.datasets[self.config.experiments[wildcards.experiment].dataset]
        return self.config.corpora[dataset.corpus].format == "squad"
