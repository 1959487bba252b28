"""Fine-tuning of a cross-encoder or a word ranker on judged queries, for one test fold or for another data set.

Batch size, learning rate and number of epochs are chosen on the validation fold; the test queries are ranked once, with
the chosen weights (PROP, section 4.4.3). With one value of each, nothing is chosen and no fold validates (PHP).
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch

from irpretrain.config.base import deciding
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.folds import Roles, read_folds, roles, training_queries
from irpretrain.evaluation.measures import mean_of_run, parse_measure
from irpretrain.evaluation.runs import Qrels, Run, read_qrels, read_run, top, write_run
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.progress import progress as follow
from irpretrain.foundation.provenance import sha256
from irpretrain.retrieval.pair_scoring import SavedScores
from irpretrain.retrieval.rerank import TAG
from irpretrain.text.texts import read_queries
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.judged_queries import (
    JudgedGroups,
    JudgedQuery,
    Progress,
    check_training_order,
    judged_queries,
    note_few_groups,
    note_nothing_learned,
    note_still_learning,
)
from irpretrain.training.metrics import StepMetrics, waited_share
from irpretrain.training.outputs import check_finite, check_outputs, publish
from irpretrain.training.rankers import ranker_of
from irpretrain.training.ranking_tasks import ranking_loss
from irpretrain.training.trainer import StepContext, StepTask, Trainer

# Options that change no score, so a run may be resumed with others.
WITHOUT_EFFECT = {"keep_models", "recipe"}

# A grid point ends after so many epochs without a better validation score. PROP's authors stop early
# but name no number.
PATIENCE = 2


@dataclass(frozen=True)
class GridPoint:
    """One trial: groups per step, and the peak learning rate."""

    batch_size: int
    learning_rate: float


class Topics(NamedTuple):
    """Queries to rank, without judgements."""

    # Token stores of the corpus that is searched; word stores for a ranker over words.
    stores: Sequence[str | Path]
    queries: str | Path  # QUERIES table
    candidates: str | Path  # first-stage run


def finetune(
    model: str | Path,  # directory of the cross-encoder or the ranker over words to start from
    # Of the corpus that is searched: token stores, or word stores for a ranker over words.
    stores: Sequence[str | Path],
    # queries, qrels, candidates, folds: the test collection: QUERIES table, TREC judgements, first-stage run,
    # and what `make_folds` wrote.
    queries: str | Path,
    qrels: str | Path,
    candidates: str | Path,
    folds: str | Path,
    fold: int,  # test fold, from 1; 0 if another data set is tested
    regime: str,  # full, or few-shot-<n> for n training queries (`few_shot_queries` of the options)
    options: FinetuningConfig,  # loss, negatives, grid, epochs, optimiser, compute
    reranking: RerankingConfig,  # how validation and test candidates are scored
    measure: str,  # validation measure, in ir_measures' notation
    seed: int,  # of few-shot queries, negatives, order and dropout
    run: str | Path,  # TREC run of the test queries to write
    metrics: str | Path,  # JSON to write: what was chosen, and every validation score
    checkpoints: str | Path,  # folder of all jobs' checkpoints
    test: Topics | None = None,  # with fold 0, what is ranked in place of a fold
    output: str | Path | None = None,  # where to keep the chosen model; None for nowhere
    title: str = "fine-tune",  # name of the job in status lines
    # Leave the checkpoints: the caller removes them once it has written more.
    keeps_checkpoints: bool = False,
) -> dict[str, Any]:
    """Fine-tune and rank the candidates of the test queries; resumes from the newest checkpoint of the same job.

    Returns:
        Counts: queries by role and reason of skipping, groups, optimiser steps, epochs trained, what was chosen.

    Raises:
        InputError: nothing to train or to validate on, or the inputs do not fit together.
        TrainingError: the loss is NaN, or memory ran out.
    """
    parse_measure(measure)
    ranker: Any = ranker_of(model, reranking, seed)  # documents, models and tasks are of one kind
    collection = _Collection(
        ranker.open(stores),
        read_queries(queries),
        read_qrels(qrels),
        read_run(candidates),
        roles(read_folds(folds), fold, validates=options.chooses(regime)),
    )
    test_collection = collection
    if test is not None:
        test_queries = read_queries(test.queries)
        test_roles = Roles([], [], list(test_queries))
        test_collection = _Collection(
            ranker.open(test.stores), test_queries, {}, read_run(test.candidates), test_roles
        )
    training_ids = training_queries(collection.roles.train, regime, seed, options.few_shot_queries)
    training, skipped = judged_queries(
        training_ids,
        collection.texts,
        collection.qrels,
        collection.candidates,
        collection.documents,
        options.positives,
    )
    validation = [query for query in collection.roles.validation if query in collection.qrels]
    if not training:
        raise InputError(
            qrels,
            f"none of the {count_of(len(training_ids), 'training query')} of fold {fold} ({regime}) has both a "
            "relevant document in the corpus and another candidate",
            remedy="Check that judgements, candidates and corpus belong together, or retrieve deeper.",
        )
    if options.chooses(regime) and not validation:
        raise InputError(
            qrels,
            f"no query of the validation fold of test fold {fold} is judged, so nothing can be chosen",
            remedy="Use fewer folds or more judged queries.",
        )
    note_few_groups(sum(len(query.relevant) for query in training), regime, title)
    with reproducible(options.compute) as device:
        job = {
            "stage": "finetune",
            "from": sha256(model),
            "tokens": collection.documents.fingerprint,
            "inputs": [sha256(path) for path in (queries, qrels, candidates, folds)],
            "test": [test_collection.documents.fingerprint, *map(sha256, test[1:])] if test else None,
            "fold": fold,
            "regime": regime,
            "options": deciding(options, options.model_dump(exclude=WITHOUT_EFFECT)),
            "reranking": deciding(reranking),
            "measure": measure,
            "seed": seed,
            "device": device.type,
            "versions": versions(),
            "output": str(run),
        }
        with Checkpoints(checkpoints, job, title, options.compute.checkpoint_minutes) as folder:
            search = _Search(
                ranker=ranker,
                collection=collection,
                training=training,
                validation=validation,
                regime=regime,
                options=options,
                measure=measure,
                seed=seed,
                device=device,
                folder=folder,
                title=title,
            )
            best_model, saved_scores = search.run()
            progress = search.progress
            test_run = search.rank(best_model, test_collection, test_collection.roles.test, saved_scores)
            order_check = check_training_order(
                lambda queries: search.rank(best_model, collection, queries),
                [query.identifier for query in training],
                collection.qrels,
                collection.candidates,
                reranking.depth,
                seed,
                title,
                options.positives,
            )
            if not test_run and not order_check["queries"]:
                search.check_scores(best_model)
            counts = {
                "training_queries": len(training),
                "training_queries_skipped": skipped,
                "training_groups": sum(len(query.relevant) for query in training),
                "training_order": order_check,
                "validation_queries": len(validation),
                "test_queries": len(test_collection.roles.test),
                "test_queries_without_candidates": sum(
                    query not in test_collection.candidates for query in test_collection.roles.test
                ),
                "steps": progress.chosen_steps,
                "epochs_trained": sum(len(records) for records in progress.history),
                "still_learning": note_still_learning(progress.best, options.epochs, title),
                "nothing_learned": note_nothing_learned(progress.best, _equal_scores_loss(options), title),
            }
            report = {**search.report(), "counts": counts}
            report_json = json.dumps(report, indent=1, sort_keys=True) + "\n"
            files = {
                run: lambda path: write_run(path, test_run, TAG),
                metrics: lambda path: write_text(path, report_json),
            }
            publish({} if output is None else {output: best_model.write_files}, files, folder)
            if not keeps_checkpoints:
                folder.discard()
    return counts


def _equal_scores_loss(options: FinetuningConfig) -> float:
    size = 1 + options.negatives
    return float(ranking_loss(options.loss, torch.zeros(size), torch.tensor([size]), options.margin))


@dataclass(frozen=True)
class _Collection:
    documents: Any
    texts: dict[str, str]
    qrels: Qrels
    candidates: Run
    roles: Roles


@dataclass
class _Search:
    ranker: Any
    collection: _Collection
    training: list[JudgedQuery]
    validation: list[str]
    regime: str
    options: FinetuningConfig
    measure: str
    seed: int
    device: torch.device
    folder: Checkpoints
    title: str
    progress: Progress = field(default_factory=Progress)
    weights: dict[str, torch.Tensor] = field(default_factory=dict)  # of the best epoch
    interrupted_scores: dict[str, Any] | None = None  # of a ranking that a kill interrupted
    saved_count: int = 0

    @cached_property
    def grid(self) -> list[GridPoint]:
        points = itertools.product(self.options.batch_sizes_of(self.regime), self.options.learning_rates)
        return [GridPoint(*point) for point in points]

    def run(self) -> tuple[Any, SavedScores]:
        """Return the best model, and where its ranking of the test queries keeps scores."""
        state = self.folder.load()
        if state is not None:
            self.progress, self.weights = Progress(**state["progress"]), state["best_model"]
            self.interrupted_scores, self.saved_count = state["ranking"], state["step"]
        progress = self.progress
        while progress.point < len(self.grid):
            trainer, task, groups = self._start(self.grid[progress.point])
            if state is not None and state["trainer"] is not None:
                trainer.restore(state["trainer"])
            state = None
            if len(progress.history) == progress.point:
                progress.history.append([])
            while not self._finished():
                self._epoch(trainer, task, groups)
                if self.folder.clock.due() and not self._finished():
                    self._save(trainer)
            progress.point, progress.epochs = progress.point + 1, 0
            if self.folder.clock.due():
                self._save(None)
        best_model = self.ranker.load()
        best_model.load_state_dict(self.weights)
        check_finite(best_model)
        return best_model, self._score_checkpoint(None)

    def check_scores(self, best_model: Any) -> None:
        """Raise TrainingError where scores by the chosen model are not finite, for a model that has ranked nothing."""
        task, groups = self._task(best_model, self.grid[self.progress.best["point"]])
        last_step = self.progress.best["epoch"] * groups.steps_per_epoch - 1
        context = StepContext(self.device, self.options.compute, accumulation=1)
        check_outputs(best_model.to(self.device), [task], context, last_step)

    def _task(self, model: Any, point: GridPoint) -> tuple[StepTask, JudgedGroups]:
        groups = JudgedGroups(self.training, self.options.negatives, point.batch_size, self.seed)
        return self.ranker.task(model, self.collection.documents, groups, self.options), groups

    def _start(self, point: GridPoint) -> tuple[Trainer[Any], StepTask, JudgedGroups]:
        options, model = self.options, self.ranker.load()
        task, groups = self._task(model, point)
        optimiser = options.optimiser.model_copy(update={"learning_rate": point.learning_rate})
        steps = groups.steps_per_epoch * options.epochs
        trainer = Trainer(
            model, optimiser, options.compute, self.device, self.seed, steps, options.accumulation
        )
        return trainer, task, groups

    def _epoch(self, trainer: Trainer[Any], task: StepTask, groups: JudgedGroups) -> None:
        progress, first_step = self.progress, self.progress.epochs * groups.steps_per_epoch
        steps = range(first_step + progress.steps, first_step + groups.steps_per_epoch)
        step_metrics: list[StepMetrics] = []
        finished_steps = trainer.run(steps, [task], lambda step: self.folder.clock.due())
        for metrics in follow(finished_steps, self.title, "steps", trainer.steps, done_count=steps.start):
            step_metrics.append(metrics)
            progress.add(metrics)
            if metrics.pauses and self.folder.clock.due():
                self._save(trainer)
        check_finite(trainer.model, trainer.optimiser)
        saved_scores = self._score_checkpoint(trainer)
        validation_score = None
        if self.validation:
            validation_run = self.rank(trainer.model, self.collection, self.validation, saved_scores)
            validation_score = mean_of_run(
                validation_run, self.collection.qrels, self.measure, self.validation
            )
        record = progress.end_epoch(validation_score)
        if not progress.best or record["validation"] > progress.best["validation"]:
            progress.best = {**record, "point": progress.point}
            state = trainer.model.state_dict()
            self.weights = {name: tensor.detach().cpu().clone() for name, tensor in state.items()}
        print_line(self._line(record, step_metrics))

    def _finished(self) -> bool:
        """All epochs are done, or `PATIENCE` of them brought no improvement."""
        epochs, scores = self.progress.epochs, [r["validation"] for r in self.progress.history[-1]]
        if epochs in (0, self.options.epochs):
            return epochs > 0
        best_epoch = scores.index(max(scores)) + 1
        return epochs - best_epoch >= PATIENCE

    def _save(self, trainer: Trainer[Any] | None, ranking: dict[str, Any] | None = None) -> None:
        """Save the progress; between two grid points, and after the last, there is no trainer."""
        state = {
            "progress": vars(self.progress),
            "best_model": self.weights,
            "trainer": trainer.state() if trainer is not None else None,
            "ranking": ranking,
        }
        self.saved_count += 1
        self.folder.save(self.saved_count, state)

    def _score_checkpoint(self, trainer: Trainer[Any] | None) -> SavedScores:
        """Return where a ranking by the present weights keeps its scores, with those from before an interruption."""
        scores, self.interrupted_scores = self.interrupted_scores, None
        return SavedScores(scores, self.folder.clock, lambda ranking: self._save(trainer, ranking))

    def rank(
        self,
        model: torch.nn.Module,
        data: _Collection,
        queries: Sequence[str],
        saved_scores: SavedScores | None = None,
    ) -> Run:
        candidates = {query: data.candidates[query] for query in queries if query in data.candidates}
        candidates = top(candidates, self.ranker.reranking.depth)
        run: Run = self.ranker.rank(model, data.documents, data.texts, candidates, saved_scores)
        return run

    def report(self) -> dict[str, Any]:
        best = self.progress.best
        return {
            "regime": self.regime,
            "measure": self.measure,
            "chosen": {
                **vars(self.grid[best["point"]]),
                "epoch": best["epoch"],
                "validation": best["validation"],
            },
            "grid": [
                {**vars(point), "epochs": records}
                for point, records in zip(self.grid, self.progress.history, strict=True)
            ],
        }

    def _line(self, record: dict[str, Any], step_metrics: list[StepMetrics]) -> str:
        progress, score = self.progress, record["validation"]
        validation_text = "no validation" if score is None else f"validation {self.measure} {score:.4f}"
        point = self.grid[progress.point]
        speed = sum(m.tokens for m in step_metrics) / max(sum(m.seconds for m in step_metrics), 1e-9)
        return (
            f"[{self.title}] batch {point.batch_size}, rate {point.learning_rate:g} "
            f"({progress.point + 1}/{len(self.grid)}), epoch {progress.epochs}/{self.options.epochs}: "
            f"loss {record['loss']:.4f}, pair accuracy {record['pair_accuracy']:.3f}, "
            f"{validation_text}, {speed:,.0f} tokens/s, "
            f"waited for batches {waited_share(step_metrics):.1%}"
        )
