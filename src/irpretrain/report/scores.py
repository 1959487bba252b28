"""Per-query values of every run, ready to be compared: seeds by queries, one matrix a run and measure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa

from irpretrain.config import Config
from irpretrain.config.papers import FIRST_STAGE, PublishedTable
from irpretrain.config.printed import Direction
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES
from irpretrain.config.run import Run
from irpretrain.evaluation.ledger import RunFacts, counted_facts
from irpretrain.evaluation.runs import ListSizes
from irpretrain.evaluation.significance import (
    Outcomes,
    bootstrap_interval,
    paired_t_test,
    randomisation_test,
    student_interval,
    wins_ties_losses,
)
from irpretrain.evaluation.verdicts import EffectEstimate, paired
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.foundation.errors import IntegrityError, IRPretrainError
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.retrieval.lucene import stage_parameters
from irpretrain.workflow.plan.paths import FIRST_STAGE_RUN, SELECTED

SELECTED_FOLDER = Path(SELECTED).parts[-3]
# Data set and candidates.
Pair = tuple[str, str]


@dataclass(frozen=True, order=True)
class RunName:
    """What names a run: data set, candidates, model and regime; a run may have several seeds."""

    dataset: str
    candidates: str
    model: str
    regime: str


@dataclass(frozen=True)
class Results:
    """One measure of one run."""

    seeds: tuple[int, ...]  # seeds of the repetitions, ascending
    query_ids: tuple[str, ...]  # ascending
    values: np.ndarray  # the measure, [seeds, queries]
    articles: tuple[str, ...] | None = None  # of each query; None: every query has its own

    @property
    def mean(self) -> float:
        """Mean over queries, then over seeds."""
        return float(self.values.mean())

    @property
    def per_query(self) -> np.ndarray:
        """Mean over seeds of each query."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def per_seed(self) -> np.ndarray:
        """Mean over queries of each seed."""
        return np.asarray(self.values.mean(axis=1))


def draw_stream(run: RunName, measure: str) -> str:
    """Return the name of a value's streams of random draws."""
    return "/".join((run.dataset, run.candidates, run.model, run.regime, measure))


@dataclass(frozen=True)
class JobCounts:
    """What jobs counted and hashed on the way to the scores, from their sidecars."""

    # (model, seed) → counts of the pre-training.
    trainings: Mapping[tuple[str, int], Mapping[str, Any]] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)  # file → SHA-256, of the runs that were evaluated
    # Run → sizes of its lists, with each seed.
    sizes: Mapping[RunName, Sequence[ListSizes]] = field(default_factory=dict)
    # (data set, first stage) → measure → mean of a random order of its candidates.
    random_orders: Mapping[Pair, Mapping[str, float]] = field(default_factory=dict)
    tunings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # first stage → tuned parameters

    @classmethod
    def read(
        cls,
        per_query: Iterable[str | Path],
        trainings: Iterable[str | Path],
        sweeps: Iterable[str | Path],
    ) -> JobCounts:
        """Read the sidecars of PER_QUERY tables, `results/models/pretrained/<model>/seed-<n>.meta.json`, and
        `results/tuning/<first stage>.json`.

        Of a model that is a chosen snapshot, `results/models/selected/<model>/seed-<n>.meta.json` holds the step.
        """
        inputs: dict[str, str] = {}
        sizes: dict[RunName, dict[int, ListSizes]] = {}
        random_orders: dict[Pair, Mapping[str, float]] = {}
        for record in map(read_sidecar, per_query):
            inputs |= record.get("inputs", {})
            counts = record.get("counts", {})
            for row in counts.get("lists", ()):
                run = RunName(*(row[key] for key in _RUN_COLUMNS[:4]))
                sizes.setdefault(run, {})[row["seed"]] = ListSizes(*(row[name] for name in ListSizes._fields))
            for row in counts.get("random_orders", ()):
                random_orders[row["dataset"], row["candidates"]] = row["means"]
        return cls(
            _read_trainings(trainings),
            inputs,
            {run: list(by_seed.values()) for run, by_seed in sizes.items()},
            random_orders,
            {path.stem: stage_parameters({}, path) for path in map(Path, sweeps)},
        )


def _read_trainings(paths: Iterable[str | Path]) -> dict[tuple[str, int], dict[str, Any]]:
    """Return (model, seed) → counts of the pre-training; of a chosen snapshot, which has read a part, only the step and
    the sizes of the texts."""
    trainings: dict[tuple[str, int], dict[str, Any]] = {}
    outputs = [Path(str(path).removesuffix(".meta.json")) for path in paths]
    for output in sorted(outputs, key=lambda output: output.parts[-3] == SELECTED_FOLDER):
        key = output.parent.name, int(output.name.removeprefix("seed-"))
        counts = read_sidecar(output).get("counts", {})
        if output.parts[-3] == SELECTED_FOLDER:
            counts = {"steps": counts.get("chosen_step"), **_text_sizes(trainings.get(key, {}))}
        trainings[key] = counts
    return trainings


def _text_sizes(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sizes of the texts, which a snapshot shares with the whole training."""
    return {name: counts[name] for name in ("documents", "text_pieces") if name in counts}


class Scores:
    """All results of a workflow run, by run name and measure, and what was counted on the way."""

    def __init__(
        self, results: dict[tuple[RunName, str], Results], job_counts: JobCounts | None = None
    ) -> None:
        self._results, self.job_counts = results, job_counts or JobCounts()
        self._runs = sorted({run for run, _ in results})
        # The first run of each data set and stage: a stage is scored beside each pair of candidates.
        stage_runs = [run for run in self._runs if run.regime == FIRST_STAGE]
        self._first_stages = {(run.dataset, run.model): run for run in reversed(stage_runs)}

    @classmethod
    def read(
        cls,
        per_query: Sequence[str | Path],
        trainings: Sequence[str | Path] = (),
        sweeps: Sequence[str | Path] = (),
    ) -> Scores:
        """Read PER_QUERY tables, what the trainings counted, and what first stages were tuned to.

        A run that several experiments share, such as a first stage, stands in each of their tables and counts once.

        Raises:
            IntegrityError: seeds of one run cover different queries, or two tables disagree about a run.
        """
        return cls(dict(_read_results(per_query)), JobCounts.read(per_query, trainings, sweeps))

    def get(self, run: RunName, measure: str) -> Results | None:
        """Return the results of a run, or None where it was not run or not measured so."""
        return self._results.get((run, measure))

    def any_measure(self, run: RunName) -> Results | None:
        """Return the results of a run by the first of its measures, or None where it was not run."""
        return next(
            (results for (measured_run, _), results in self._results.items() if measured_run == run), None
        )

    def random_order_mean(self, pair: Pair, measure: str) -> float | None:
        """Return what a random order of candidates is worth; None where it was not counted."""
        return self.job_counts.random_orders.get(pair, {}).get(measure)

    def facts_of(self, config: Config, run: RunName) -> RunFacts:
        """Return the facts of a run: those of the configuration, and those that its jobs counted."""
        configured_run = Run(config, run.dataset, run.candidates, run.model, run.regime)
        file = FIRST_STAGE_RUN.format(dataset=run.dataset, candidates=configured_run.stage)
        facts = replace(configured_run.facts, lists=self.job_counts.inputs.get(file, ""))
        results = self.any_measure(run)
        if results is None:
            return facts
        query_hash = hashlib.sha256("\0".join(results.query_ids).encode()).hexdigest()[:8]
        facts = replace(facts, queries=f"{len(results.query_ids)} ({query_hash})")
        if list_sizes := self.job_counts.sizes.get(run):
            # What the lists hold counts, not what is planned; the least of several seeds.
            listed_query_count, depth, scored_document_count = (
                min(sizes_of_seeds) for sizes_of_seeds in zip(*list_sizes, strict=True)
            )
            measured_depth = None if facts.seen is None else min(facts.seen, depth)
            facts = replace(
                facts,
                depth=depth,
                seen=measured_depth,
                answered=listed_query_count,
                scored=scored_document_count,
            )
        if run.regime == FIRST_STAGE:
            tuned_parameters: Mapping[str, Any] = self.job_counts.tunings.get(run.model.partition("@")[0], {})
            return replace(facts, **tuned_parameters)
        counts = counted_facts(
            [
                self.job_counts.trainings.get((pretraining.name, results.seeds[0]), {})
                for pretraining in configured_run.pretrainings
            ],
            [str(pretraining.model.collection) for pretraining in configured_run.pretrainings],
        )
        if "@" in run.model:
            counts = _text_sizes(counts)
        return replace(facts, seeds=results.seeds, **counts)

    def runs(self) -> list[RunName]:
        return self._runs

    def reranked(self, pair: Pair) -> list[RunName]:
        """Return the runs of the models that re-rank a pair's candidates."""
        return [
            run for run in self._runs if (run.dataset, run.candidates) == pair and run.regime != FIRST_STAGE
        ]

    def first_stage(self, dataset: str, model: str) -> RunName | None:
        """Return the run of a first stage on a data set, whatever it was the candidates of."""
        return self._first_stages.get((dataset, model))

    def pairs(self) -> list[Pair]:
        """Return the pair of everything that was re-ranked; the usual candidates where nothing was."""
        reranked = {(run.dataset, run.candidates) for run in self.runs() if run.regime != FIRST_STAGE}
        datasets_without_models = {run.dataset for run in self.runs()} - {dataset for dataset, _ in reranked}
        return sorted(reranked | {(dataset, BUILT_IN_FIRST_STAGES[0]) for dataset in datasets_without_models})

    def measures(self, dataset: str) -> list[str]:
        return sorted({measure for run, measure in self._results if run.dataset == dataset})


_RUN_COLUMNS = ("dataset", "candidates", "model", "regime", "measure")


def join_per_query(per_query: Sequence[str | Path]) -> pa.Table:
    """Return the rows of several PER_QUERY tables, equal ones once, sorted by run, measure, seed and query."""
    rows = pa.concat_tables([PER_QUERY.schema.empty_table(), *(PER_QUERY.read(path) for path in per_query)])
    distinct_rows = rows.group_by(rows.column_names).aggregate([])
    return distinct_rows.sort_by([(key, "ascending") for key in (*_RUN_COLUMNS, "seed", "query_id")])


def _read_results(per_query: Sequence[str | Path]) -> Iterator[tuple[tuple[RunName, str], Results]]:
    for (*name, measure), rows in join_per_query(per_query).to_pandas().groupby(list(_RUN_COLUMNS)):
        seeds, queries = rows["seed"].unique().tolist(), rows["query_id"].unique().tolist()
        if len(rows) != len(seeds) * len(queries) or rows.duplicated(["seed", "query_id"]).any():
            raise IntegrityError(
                ", ".join(map(str, per_query)),
                f"the seeds of {RunName(*name)} do not cover the same queries once each",
                remedy="Delete the runs of this model and run the workflow again.",
            )
        # Rows are sorted by seed, then by query; articles are the same for every seed.
        values = rows["value"].to_numpy().reshape(len(seeds), len(queries))
        articles = tuple(article or query for article, query in zip(rows["article"], queries, strict=False))
        yield (RunName(*name), measure), Results(tuple(seeds), tuple(queries), values, articles)


def ordered_measures(config: Config, scores: Scores, dataset: str) -> list[str]:
    """Return the measures that were computed on a data set, in the order of the configuration."""
    computed = scores.measures(dataset)
    configured = config.datasets[dataset].measures if dataset in config.datasets else []
    return list(dict.fromkeys([*(measure for measure in configured if measure in computed), *computed]))


# Tests and intervals over results of several seeds.
#
# Tests pair queries; with several seeds a query's value is its mean over the seeds. The interval is a bootstrap
# over queries for one seed. For several it is Student's t over the seeds' means, because it then speaks about
# repeating the training.


@dataclass(frozen=True)
class TableTest:
    """How one table is tested: as the paper tests it, where it is a paper's, else as claims are."""

    kind: Literal["t-test", "randomisation", "claims"] = "t-test"
    level: float = 0.05

    @classmethod
    def of(cls, table: PublishedTable) -> Self:
        return cls(table.tested_by, table.level)


@dataclass(frozen=True)
class Baseline:
    """A run that a cell is compared with, and the mark that says how it came out."""

    mark: str
    label: str
    run: RunName
    direction: Direction = "better"


@dataclass(frozen=True, kw_only=True)
class Comparison(Baseline):
    """Ours minus a baseline of ours, paired over queries, with the two-tailed p-value; `mark` is printed where it is
    significantly better, or worse, as `direction` says."""

    difference: float
    p: float
    significant: bool
    outcomes: Outcomes | None = None
    # low, high: bounds of the difference's interval, where the test gives one.
    low: float = math.nan
    high: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether what the mark says is true here: the difference is significant and has the mark's direction."""
        lead = self.difference if self.direction == "better" else -self.difference
        return self.significant and lead > 0


def compare(
    ours: Results,
    baseline_results: Results,
    baseline: Baseline,
    stream: str,
    table_test: TableTest,
    seed: int,
) -> Comparison:
    """Return how our results compare with a baseline's, which are `baseline_results`; `stream` names the
    stream of random draws.

    One query has no p-value by a t-test: it is NaN, and nothing is significant.
    """
    if ours.query_ids != baseline_results.query_ids:
        raise IRPretrainError(
            f"{stream}: the two runs were evaluated on different queries, so no paired test is possible.\n"
            "  Delete results/per_query.parquet and run the workflow again."
        )
    values, low, high = (ours.per_query, baseline_results.per_query), math.nan, math.nan
    if table_test.kind == "claims":
        lead = paired_lead(ours, baseline_results)
        p, low, high = lead.p, lead.low, lead.high
    elif table_test.kind == "t-test":
        p = paired_t_test(*values).p_value
    else:
        p = randomisation_test(*values, seed=seed, name=stream).p_value
    return Comparison(
        **vars(baseline),
        difference=ours.mean - baseline_results.mean,
        p=p,
        significant=p <= table_test.level,
        outcomes=wins_ties_losses(*values),
        low=low,
        high=high,
    )


def paired_lead(ours: Results, baseline_results: Results) -> EffectEstimate:
    """Return ours minus the other's, with the interval and p that a claim on the two would have."""
    if len({1, len(ours.seeds), len(baseline_results.seeds)}) > 2:  # seeds that do not pair
        return paired(ours.per_query, baseline_results.per_query, ours.articles)
    return paired(ours.values, baseline_results.values, ours.articles)


def interval(results: Results, seed: int, stream: str) -> tuple[float, float]:
    """Return the bounds of the mean's confidence interval; NaN where nothing supports one (a single query).

    `stream` names the stream of random draws, so that a cell's interval depends on nothing else.
    """
    if len(results.seeds) == 1:
        bounds = bootstrap_interval(results.values, seed=seed, name=stream)
    else:
        bounds = student_interval(results.per_seed)
    return bounds.low, bounds.high
