"""Fine-tuning of a cross-encoder or a ranker over words on judged queries, for one test fold or for another data set.

Batch size, learning rate and number of epochs are chosen on the validation fold; the test queries are ranked once,
with the chosen weights (PROP, section 4.4.3). Where there is one of each, nothing is chosen, and no fold validates
(PHP's recipe). Groups, batches, losses and steps are those of pre-training.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from irpretrain.atomic import write_text
from irpretrain.config.base import deciding
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.errors import InputError
from irpretrain.evaluation.folds import Roles, read_folds, roles, training_queries
from irpretrain.evaluation.measures import mean_of_run, parse_measure
from irpretrain.evaluation.qrels import Qrels, read_qrels
from irpretrain.evaluation.runs import Run, read_run, top, write_run
from irpretrain.progress import progress as follow
from irpretrain.progress import say
from irpretrain.provenance import sha256
from irpretrain.retrieval.partial_scores import PartialScores
from irpretrain.retrieval.rerank import TAG
from irpretrain.text.keyed_texts import read_queries
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.judged import JudgedGroups, JudgedQuery, judged_queries
from irpretrain.training.metrics import BatchWaits, StepMetrics, waited_share
from irpretrain.training.rankers import Ranker, ranker_of
from irpretrain.training.search_progress import Progress
from irpretrain.training.steps import StepTask
from irpretrain.training.trainer import Trainer

WITHOUT_EFFECT = {"keep_models", "recipe"}
"""Options that change no score, so a run may be resumed with others."""
RANKING = ".scores"
"""End of the names of scores that are kept while the validation fold or the test queries are ranked."""


@dataclass(frozen=True)
class GridPoint:
    """What is tried: groups a step, and the peak learning rate."""

    batch_size: int
    learning_rate: float


class Topics(NamedTuple):
    """Queries to rank, without judgements.

    Attributes:
        stores: token stores of the corpus that is searched; word stores for a ranker over words.
        queries: QUERIES table.
        candidates: first-stage run.
    """

    stores: Sequence[str | Path]
    queries: str | Path
    candidates: str | Path


def finetune(
    model: str | Path,
    stores: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    candidates: str | Path,
    folds: str | Path,
    fold: int,
    regime: str,
    options: FinetuningConfig,
    reranking: RerankingConfig,
    measure: str,
    seed: int,
    run: str | Path,
    metrics: str | Path,
    checkpoints: str | Path,
    test: Topics | None = None,
    output: str | Path | None = None,
    title: str = "fine-tune",
) -> dict[str, Any]:
    """Fine-tune and rank the candidates of the test queries; goes on from the newest checkpoint of the same job.

    Args:
        model: directory of the cross-encoder or the ranker over words to start from.
        stores: of the corpus that is searched: token stores, or word stores for a ranker over words.
        queries, qrels, candidates, folds: the test collection: QUERIES table, TREC judgements, first-stage run,
            and what `make_folds` wrote.
        fold: test fold, from 1; 0 where another data set is tested.
        regime: full, or few-shot-<n> for n training queries (`few_shot_queries` of the options).
        options: loss, negatives, grid, epochs, optimiser, compute.
        reranking: how validation and test candidates are scored.
        measure: validation measure, in ir_measures' notation.
        seed: of few-shot queries, negatives, order and dropout.
        run: TREC run of the test queries to write.
        metrics: JSON to write: what was chosen, and every validation score.
        checkpoints: folder of all jobs' checkpoints.
        test: with fold 0, what is ranked in place of a fold.
        output: where to keep the chosen model; None for nowhere.
        title: what status lines call this job.

    Returns:
        Counts: queries by role and reason of skipping, groups, epochs trained, what was chosen.

    Raises:
        InputError: nothing to train or to validate on, or the inputs do not fit together.
        TrainingError: loss is not a number, or memory ran out.
    """
    parse_measure(measure)
    ranker = ranker_of(model, reranking, seed)
    collection = _Collection(
        ranker.open(stores),
        read_queries(queries),
        read_qrels(qrels),
        read_run(candidates),
        roles(read_folds(folds), fold, validates=options.chooses(regime)),
    )
    tested = collection if test is None else _tested(ranker, test)
    chosen = training_queries(collection.roles.train, regime, seed, options.few_shot_queries)
    training, skipped = judged_queries(
        chosen,
        collection.texts,
        collection.qrels,
        collection.candidates,
        collection.documents,
        options.negative_depth,
    )
    validation = [query for query in collection.roles.validation if query in collection.qrels]
    if not training:
        raise InputError(
            qrels,
            f"none of the {len(chosen)} training queries of fold {fold} ({regime}) has both a relevant document in the "
            "corpus and another candidate",
            remedy="Check that judgements, candidates and corpus belong together, or retrieve deeper.",
        )
    if options.chooses(regime) and not validation:
        raise InputError(
            qrels,
            f"no query of the validation fold of test fold {fold} is judged, so nothing can be chosen",
            remedy="Use fewer folds or more judged queries.",
        )
    search = _Search(ranker, collection, _Judged(training, validation), regime, options, measure, seed)
    with reproducible(options.compute) as device:
        job = {
            "stage": "finetune",
            "from": sha256(model),
            "tokens": collection.documents.fingerprint,
            "inputs": [sha256(path) for path in (queries, qrels, candidates, folds)],
            "test": [tested.documents.fingerprint, *map(sha256, test[1:])] if test else None,
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
            best, progress, kept = search.run(folder, device, title)
            write_run(run, search.rank(best, tested, tested.roles.test, kept), TAG)
            if output is not None:
                best.save(output)
            counts = {
                "training_queries": len(training),
                "training_queries_skipped": skipped,
                "training_groups": sum(len(query.relevant) for query in training),
                "validation_queries": len(validation),
                "test_queries": len(tested.roles.test),
                "test_queries_without_candidates": sum(
                    query not in tested.candidates for query in tested.roles.test
                ),
                "epochs_trained": sum(len(records) for records in progress.history),
            }
            report = {**search.report(progress), "counts": counts}
            write_text(metrics, json.dumps(report, indent=1, sort_keys=True) + "\n")
            folder.discard()
    return counts


@dataclass(frozen=True)
class _Collection:
    """A test collection, read: the corpus's documents, queries, judgements, candidates, and who trains."""

    documents: Any
    texts: dict[str, str]
    qrels: Qrels
    candidates: Run
    roles: Roles


def _tested(ranker: Ranker, test: Topics) -> _Collection:
    """Return what is tested in place of a fold; nothing in it is judged."""
    texts = read_queries(test.queries)
    asked = Roles([], [], list(texts))
    return _Collection(ranker.open(test.stores), texts, {}, read_run(test.candidates), asked)


class _Judged(NamedTuple):
    """The judged queries that are trained on, and those that choose."""

    training: list[JudgedQuery]
    validation: list[str]


class _Search:
    """The search over grid points and epochs."""

    def __init__(
        self,
        ranker: Ranker,
        collection: _Collection,
        judged: _Judged,
        regime: str,
        options: FinetuningConfig,
        measure: str,
        seed: int,
    ) -> None:
        self._ranker, self._collection = ranker, collection
        self._training, self._validation = judged
        self._options = options
        self._measure, self._seed, self._regime = measure, seed, regime
        self._progress, self._weights, self._saved = Progress(), dict[str, torch.Tensor](), 0
        points = itertools.product(options.batch_sizes_of(regime), options.learning_rates)
        self.grid = [GridPoint(*point) for point in points]

    def run(
        self, folder: Checkpoints, device: torch.device, title: str
    ) -> tuple[Any, Progress, PartialScores]:
        """Try the grid; return the model with the best weights, how it was found, and what keeps its test scores."""
        waits, state = BatchWaits(title), folder.load()
        if state is not None:
            self._progress, self._weights = Progress(**state["progress"]), state["best_model"]
            self._saved = self._progress.done
        progress = self._progress
        for path in folder.directory.glob(f"*{RANKING}"):
            if path != _ranking(folder, progress):  # of a state that is gone
                path.unlink()
        while progress.point < len(self.grid):
            trainer, task, groups = self._start(self.grid[progress.point], device)
            if state is not None and state["trainer"] is not None:
                trainer.restore(state["trainer"])
            state = None
            if len(progress.history) == progress.point:
                progress.history.append([])
            while not self._finished():
                self._epoch(trainer, task, groups, folder, title, waits)
                if folder.clock.due() and not self._finished():
                    self._save(folder, trainer)
            progress.point, progress.epochs = progress.point + 1, 0
            if folder.clock.due():
                self._save(folder, None)
        best = self._ranker.load()
        best.load_state_dict(self._weights)
        return best, progress, self._kept_scores(folder, None)

    def _start(self, point: GridPoint, device: torch.device) -> tuple[Trainer[Any], StepTask, JudgedGroups]:
        options = self._options
        model = self._ranker.load()
        self._ranker.check(model, options)
        groups = JudgedGroups(self._training, options.negatives, point.batch_size, self._seed)
        task = self._ranker.task(model, self._collection.documents, groups, options)
        optimiser = options.optimiser.model_copy(update={"learning_rate": point.learning_rate})
        steps = groups.steps_per_epoch * options.epochs
        return Trainer(model, optimiser, options.compute, device, self._seed, steps), task, groups

    def _epoch(
        self,
        trainer: Trainer[Any],
        task: StepTask,
        groups: JudgedGroups,
        folder: Checkpoints,
        title: str,
        waits: BatchWaits,
    ) -> None:
        """Train what is left of an epoch, and score the validation fold if there is one; keep the best weights."""
        progress, first = self._progress, self._progress.epochs * groups.steps_per_epoch
        steps = range(first + progress.steps, first + groups.steps_per_epoch)
        measured: list[StepMetrics] = []
        with trainer.reading_ahead(lambda step: ([task], step), steps):
            for step in follow(steps, title, "steps", trainer.steps, done=steps.start):
                measured.append(trainer.step(step, [task]))
                progress.add(measured[-1])
                if folder.clock.due():
                    self._save(folder, trainer)
        kept = self._kept_scores(folder, trainer)
        value = None
        if self._validation:
            ranked = self.rank(trainer.model, self._collection, self._validation, kept)
            value = mean_of_run(ranked, self._collection.qrels, self._measure, self._validation)
        record = progress.end_epoch(value)
        if not progress.best or record["validation"] > progress.best["validation"]:
            progress.best = {**record, "point": progress.point}
            state = trainer.model.state_dict()
            self._weights = {name: tensor.detach().cpu().clone() for name, tensor in state.items()}
        say(self._line(title, record, measured))
        waits.check(measured[1:])  # reading ahead begins anew with each epoch
        kept.discard()

    def _finished(self) -> bool:
        """All epochs are done, or `patience` of them brought nothing better."""
        epochs, values = self._progress.epochs, [r["validation"] for r in self._progress.history[-1]]
        if epochs in (0, self._options.epochs):
            return epochs > 0
        best_epoch = values.index(max(values)) + 1
        return epochs - best_epoch >= self._options.patience

    def _save(self, folder: Checkpoints, trainer: Trainer[Any] | None) -> None:
        """Save what was done; between two grid points, and after the last, there is no trainer."""
        state = {
            "progress": vars(self._progress),
            "best_model": self._weights,
            "trainer": trainer.state() if trainer is not None else None,
        }
        folder.save(self._progress.done, state)
        self._saved = self._progress.done

    def _kept_scores(self, folder: Checkpoints, trainer: Trainer[Any] | None) -> PartialScores:
        """Return what keeps the scores of a ranking that may take long; they are of use with the weights of now alone,
        which are saved first."""

        def save_weights() -> None:
            if self._saved != self._progress.done:
                self._save(folder, trainer)

        return PartialScores(_ranking(folder, self._progress), folder.clock, save_weights)

    def rank(
        self, model: torch.nn.Module, data: _Collection, queries: Sequence[str], kept: PartialScores
    ) -> Run:
        """Return the candidates of `queries` as the model ranks them."""
        chosen = {query: data.candidates[query] for query in queries if query in data.candidates}
        chosen = top(chosen, self._ranker.reranking.depth)
        return self._ranker.rank(model, data.documents, data.texts, chosen, kept)

    def report(self, progress: Progress) -> dict[str, Any]:
        """Return the choice, and every score that led to it."""
        best = progress.best
        return {
            "regime": self._regime,
            "measure": self._measure,
            "chosen": {
                **vars(self.grid[best["point"]]),
                "epoch": best["epoch"],
                "validation": best["validation"],
            },
            "grid": [
                {**vars(point), "epochs": records}
                for point, records in zip(self.grid, progress.history, strict=True)
            ],
        }

    def _line(self, title: str, record: dict[str, Any], measured: list[StepMetrics]) -> str:
        progress = self._progress
        point = self.grid[progress.point]
        speed = sum(m.tokens for m in measured) / max(sum(m.seconds for m in measured), 1e-9)
        return (
            f"[{title}] batch {point.batch_size}, rate {point.learning_rate:g} "
            f"({progress.point + 1}/{len(self.grid)}), epoch {progress.epochs}/{self._options.epochs}: "
            f"loss {record['loss']:.4f}, pair accuracy {record['pair_accuracy']:.3f}, "
            f"{self._validated(record)}, {speed:,.0f} tokens/s, "
            f"waited for batches {waited_share(measured):.1%}"
        )

    def _validated(self, record: dict[str, Any]) -> str:
        value = record["validation"]
        return "no validation" if value is None else f"validation {self._measure} {value:.4f}"


def _ranking(folder: Checkpoints, progress: Progress) -> Path:
    """Where the scores of a ranking are kept that begins with this state."""
    return folder.directory / f"{progress.done}{RANKING}"
