"""Scores of runs: per query, their means, and re-ranking at several depths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from irpretrain.config.papers import FIRST_STAGE
from irpretrain.evaluation import measures as effectiveness
from irpretrain.evaluation.folds import Folds, read_folds
from irpretrain.evaluation.runs import ListSizes, Qrels, Run, as_scored, merge, read_qrels, read_run, within
from irpretrain.foundation.atomic import write_csv
from irpretrain.foundation.contracts import PER_QUERY, SCORES
from irpretrain.foundation.errors import InputError, count_of, one_line
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.randomness import generator

if TYPE_CHECKING:
    import pandas


# Scores of a run, for analyses of your own.


def read_scores(path: str | Path = "results/scores.csv") -> pandas.DataFrame:
    """Return scores as a pandas DataFrame. See docs/contracts.md for the columns.

    Args:
        path: means (`results/scores.csv`, `results/scores/<experiment>.csv`) with the columns of `scores`, or values
            of single queries (`results/per_query.parquet`, …) with those of `per_query`.

    Raises:
        InputError, IntegrityError: there is no such table.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> file = Path(folder.name, "scores.csv")
        >>> _ = file.write_text(
        ...     "dataset,candidates,model,regime,seed,fold,measure,value,queries\\n"
        ...     "squad,bm25,prop,zero-shot,1,0,nDCG@20,0.584,150\\n"
        ...     "squad,bm25,prop,zero-shot,1,1,nDCG@20,0.601,30\\n"
        ... )
        >>> scores = read_scores(file)
        >>> scores[scores.fold == 0].pivot(index="model", columns="measure", values="value").loc["prop", "nDCG@20"]
        np.float64(0.584)
    """
    if not os.path.isfile(path):
        fault = "this is a folder" if os.path.isdir(path) else "there is no such file"
        raise InputError(path, fault, remedy="Name a table of a run, such as results/scores.csv.")
    if Path(path).suffix == ".parquet":
        return PER_QUERY.read(path).to_pandas()
    types = {column.name: column.type for column in SCORES.columns}
    try:
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(path, f"cannot be read as scores: {one_line(error)}") from None
    if table.column_names != list(types):
        raise InputError(path, f"this is no table of scores: its columns are {', '.join(table.column_names)}")
    return table.to_pandas()


# Scores of all runs: one row a query and measure in Parquet, means in one CSV.


# Regimes that a user knows by another name.
REGIME_NAMES = {FIRST_STAGE: "first stages", "full": "fine-tuned"}

SCORE_COLUMNS = SCORES.schema.names
RUN_COLUMNS = SCORE_COLUMNS[:5]


def evaluate(
    # Of one data set; each a mapping with dataset, candidates, model, regime, seed, and `paths`: the run's file, or
    # one file a test fold in the folds' order. First stages have also `depth` and `ranked`, as in
    # `irpretrain.evaluation.runs.as_scored`, and `of_others`: whether the run was given.
    runs: Sequence[Mapping[str, Any]],
    qrels: str | Path,
    folds: str | Path | None,  # file of `irpretrain.evaluation.folds.make_folds`; None without folds
    measures: Sequence[str],
    per_query: str | Path,  # PER_QUERY table, sorted by run; measures in the given order, then queries sorted
    # CSV with `SCORE_COLUMNS`, in the same order with folds for queries. Fold 0 is the mean over all judged queries; a
    # judged query without documents counts 0.
    scores: str | Path,
    squad: bool = False,  # whether documents are SQuAD's, so that queries on one article depend on each other
) -> dict[str, Any]:
    """Evaluate runs and write what each query and each mean is worth.

    Returns:
        Counts: runs, rows, the judged queries that runs lack, `lists`, the sizes of each run's lists as scored, and
        `random_orders`, what the candidates of re-ranked first stages are worth in a random order.

    Raises:
        InputError: a run holds a query without judgements, or a query of another fold.
    """
    judgements, query_folds = _read_judged(qrels, folds)
    articles = _articles(judgements, squad)
    sorted_runs = sorted(runs, key=lambda run: [run[key] for key in RUN_COLUMNS])
    means: list[tuple[Any, ...]] = []
    counts: dict[str, Any] = {"runs": len(sorted_runs), "rows": 0, "queries_without_documents": 0}
    counts |= {"lists": [], "random_orders": []}
    reranked_stages = {run["candidates"] for run in runs if run["regime"] != FIRST_STAGE}

    def rows() -> Iterator[dict[str, Any]]:
        for description in progress(sorted_runs, "evaluate", "runs"):
            run = _read_judged_run(description, judgements, query_folds)
            for note in _notes(description, run, measures):
                notice(f"run of {description['model']} on {description['dataset']}", note)
            if description["regime"] == FIRST_STAGE and description["model"] in reranked_stages:
                names = {name: description[name] for name in ("dataset", "candidates")}
                counts["random_orders"].append(names | {"means": random_order(run, judgements, measures)})
            counts["queries_without_documents"] += len(judgements.keys() - run.keys())
            key = {name: description[name] for name in RUN_COLUMNS}
            counts["lists"].append(key | ListSizes.of(run)._asdict())
            values_by_measure = effectiveness.per_query(run, judgements, measures)
            for measure, values in values_by_measure.items():
                means.extend((*key.values(), *row) for row in _means(measure, values, query_folds))
            yield from _rows(key, values_by_measure, articles, query_folds)

    counts["rows"] = PER_QUERY.write(per_query, rows())
    write_csv(scores, SCORE_COLUMNS, means)
    notice(f"scores of {runs[0]['dataset']}", f"{_means_line(measures[0], means)}. All: {scores}")
    return counts


# Random orders of each query's candidates: more where queries are few, so that the mean's standard error is some 0.004;
# fewer where lists are deep, so that they cost no more than a run or two.
RANDOM_ORDERS, RANDOM_RANKINGS, RANDOM_DOCUMENTS = 100, 5_000, 1_000_000


def random_order(run: Run, qrels: Qrels, measures: Sequence[str]) -> dict[str, float]:
    """Return each measure's mean over judged queries, and over random orders of each query's documents: what a model
    reaches that has learned nothing."""
    document_count = sum(map(len, run.values()))
    order_count = max(RANDOM_ORDERS, RANDOM_RANKINGS // max(len(run), 1))
    order_count = max(1, min(order_count, RANDOM_DOCUMENTS // max(document_count, 1)))
    positions = {
        query: generator(1, "random-order", query).permuted(
            np.tile(np.arange(len(ranking)), (order_count, 1)), axis=1
        )
        for query, ranking in run.items()
    }
    means: dict[str, list[float]] = {}
    for order in range(order_count):
        shuffled = {
            query: [(run[query][position][0], -float(rank)) for rank, position in enumerate(orders[order])]
            for query, orders in positions.items()
        }
        for measure, values in effectiveness.per_query(shuffled, qrels, measures).items():
            means.setdefault(measure, []).append(effectiveness.mean(values))
    return {measure: float(np.mean(values)) for measure, values in means.items()}


def _rows(
    key: Mapping[str, Any],
    values_by_measure: Mapping[str, Mapping[str, float]],
    articles: Mapping[str, str],
    folds: Folds | None = None,
) -> Iterator[dict[str, Any]]:
    for measure, values in values_by_measure.items():
        for query, value in values.items():
            fold = folds.fold_of[query] if folds else 0
            query_columns = {"query_id": query, "article": articles[query]}
            yield {**key, "fold": fold, **query_columns, "measure": measure, "value": value}


def _means_line(measure: str, means: list[tuple[Any, ...]]) -> str:
    """The means of all models by one measure, first stages last: what a user sees before there is a table."""
    rows = [dict(zip(SCORE_COLUMNS, row, strict=True)) for row in means]
    all_query_rows = [row for row in rows if (row["measure"], row["fold"]) == (measure, 0)]
    all_query_rows.sort(key=lambda row: (row["regime"] == FIRST_STAGE, -row["value"]))
    groups = []
    for regime in dict.fromkeys(row["regime"] for row in all_query_rows):
        regime_rows = [row for row in all_query_rows if row["regime"] == regime]
        seeds = {row["seed"] for row in regime_rows} - {0}
        seed_note = f", seed {min(seeds)}" if len(seeds) == 1 else ""
        model_values = (
            f"{row['model']} {row['value']:z.3f}" + (f" (seed {row['seed']})" if len(seeds) > 1 else "")
            for row in regime_rows
        )
        groups.append(f"{REGIME_NAMES.get(regime, regime)}{seed_note}: {', '.join(model_values)}")
    return f"{measure}, {'; '.join(groups)}"


def _read_judged(qrels: str | Path, folds: str | Path | None) -> tuple[Qrels, Folds | None]:
    judgements = read_qrels(qrels)
    if not judgements:
        raise InputError(qrels, "there are no judgements")
    if not folds:
        return judgements, None
    query_folds = read_folds(folds)
    if without_fold := judgements.keys() - query_folds.fold_of.keys():
        raise InputError(folds, f"query {min(without_fold)!r} is judged in {qrels} but has no fold")
    return judgements, query_folds


def _articles(judgements: Qrels, squad: bool) -> dict[str, str]:
    return {
        query: next((_article_of(document) for document, grade in grades.items() if squad and grade > 0), "")
        for query, grades in judgements.items()
    }


def _article_of(document: str) -> str:
    """Return the article of a paragraph of SQuAD, or of a passage of one; an article itself as it is."""
    return re.sub(r"(/[0-9]+)?(#[0-9]+)?$", "", document)


def _read_judged_run(description: Mapping[str, Any], qrels: Qrels, folds: Folds | None) -> Run:
    paths = [str(path) for path in description["paths"]]
    fold_runs = [read_run(path) for path in paths]
    for fold, (path, fold_run) in enumerate(zip(paths, fold_runs, strict=True), 1):
        if unjudged_queries := fold_run.keys() - qrels.keys():
            name = description["dataset"]
            raise InputError(path, f"query {min(unjudged_queries)!r} has no judgement in data set {name}")
        if folds is None or len(fold_runs) == 1:
            continue
        # A model must have been tested on its own test fold: on any other it was trained or chosen.
        for query in fold_run:
            if (query_fold := folds.fold_of[query]) != fold:
                reason = f"query {query!r} is in fold {query_fold}, but this is the run of test fold {fold}"
                raise InputError(path, reason)
    return as_scored(merge(fold_runs, paths), description.get("depth"), description.get("ranked"))


def _notes(description: Mapping[str, Any], run: Run, measures: Sequence[str]) -> Iterator[str]:
    """Yield what a user should check: short lists of a run of others, and queries that find themselves first."""
    options = f"datasets.{description['dataset']}"
    # Nobody knows whether others cut their run. A measure without a cut-off looks at as many documents as are scored.
    is_of_others, depth = description.get("of_others"), description.get("depth") or 0
    if is_of_others and (short := short_lists(run, measures, depth)):
        yield f"{short}. If the run was cut, give measures with a lower cut-off under {options}.measures."
    # As where documents are the queries.
    own_first = sum(ranking[0][0] == query for query, ranking in run.items() if ranking)
    if description["regime"] == FIRST_STAGE and own_first > len(run) / 2:
        yield (
            f"{own_first:,} of {len(run):,} queries find the document of their own identifier first. If the queries "
            f"are these documents, set {options}.queries_are_documents: true."
        )


def short_lists(run: Run, measures: Sequence[str], depth: int) -> str:
    """Return which measures look deeper than a run's lists; empty if none does.

    Args:
        depth: documents that a measure without a cut-off looks at.
    """
    notes = []
    for name in measures:
        deepest = effectiveness.cutoff(name) or depth
        if short_count := sum(len(ranking) < deepest for ranking in run.values()):
            notes.append(
                f"fewer than the {deepest} documents of {name} for {short_count:,} of {len(run):,} queries"
            )
    longest = max(map(len, run.values()), default=0)
    return f"{'; '.join(notes)}. The longest list has {count_of(longest, 'document')}" if notes else ""


def _means(
    measure: str, values: dict[str, float], folds: Folds | None
) -> Iterator[tuple[int, str, float, int]]:
    """Rows fold, measure, mean and number of queries: all queries first (fold 0), then each fold."""
    yield 0, measure, effectiveness.mean(values), len(values)
    if folds is None:
        return
    for fold in range(1, folds.fold_count + 1):
        queries = [query for query in folds.queries(fold) if query in values]
        yield fold, measure, effectiveness.mean(values, queries), len(queries)


# Re-ranking at several depths, from one re-ranked run (DeepCT, Table 4).
#
# A cross-encoder scores each candidate by itself, so re-ranking only the first k candidates gives the same scores; a
# run over all candidates, cut to the first k of them, is that ranking, and no model runs again.


DEPTH_COLUMNS = (*RUN_COLUMNS, "depth", "measure", "value", "queries")


def at_depth(candidates: str, depth: int) -> str:
    """Return the name of the first `depth` candidates in PER_QUERY tables: "bm25@20"."""
    return f"{candidates}@{depth}"


def depth_of(candidates: str) -> int:
    """Return the depth in such a name."""
    return int(candidates.rpartition("@")[2])


def evaluate_depths(
    # As `evaluate` takes them; the first stages of all re-ranked runs among them.
    runs: Sequence[Mapping[str, Any]],
    qrels: str | Path,  # judgements; a judged query without documents counts 0
    depths: Sequence[int],
    # Of the re-ranked runs, in ir_measures' notation; first stages have their recall, R@depth, besides.
    measures: Sequence[str],
    per_query: str | Path,  # PER_QUERY table, whose candidates are called as `at_depth` does
    scores: str | Path,  # CSV with `DEPTH_COLUMNS`; means over all judged queries
    squad: bool = False,
) -> dict[str, Any]:
    """Measure first stages and re-ranked runs at each depth."""
    judgements = read_qrels(qrels)
    articles = _articles(judgements, squad)
    merged_runs = [merge([read_run(path) for path in run["paths"]], run["paths"]) for run in runs]
    described_runs = list(zip(runs, merged_runs, strict=True))
    stages = {
        description["model"]: run
        for description, run in described_runs
        if description["regime"] == FIRST_STAGE
    }
    means: list[tuple[Any, ...]] = []
    sizes: list[dict[str, Any]] = []

    def rows() -> Iterator[dict[str, Any]]:
        for description, run in described_runs:
            key = {name: description[name] for name in RUN_COLUMNS}
            for depth in depths:
                recall = [f"R@{depth}"] if description["regime"] == FIRST_STAGE else []
                cut_run = within(run, stages[description["candidates"]], depth)
                values_by_measure = effectiveness.per_query(cut_run, judgements, [*recall, *measures])
                cell_key = {**key, "candidates": at_depth(key["candidates"], depth)}
                sizes.append(cell_key | ListSizes.of(cut_run)._asdict())
                for measure, values in values_by_measure.items():
                    means.append((*key.values(), depth, measure, effectiveness.mean(values), len(values)))
                yield from _rows(cell_key, values_by_measure, articles)

    PER_QUERY.write(per_query, rows())
    write_csv(scores, DEPTH_COLUMNS, means)
    return {"runs": len(runs), "rows": len(means), "lists": sizes}
