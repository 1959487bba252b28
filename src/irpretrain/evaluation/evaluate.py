"""Scores of all runs: one row a query and measure in Parquet, means in one CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_csv
from irpretrain.contracts import PER_QUERY, SCORES
from irpretrain.errors import InputError
from irpretrain.evaluation import measures as effectiveness
from irpretrain.evaluation.folds import Folds, read_folds
from irpretrain.evaluation.qrels import Qrels, read_qrels
from irpretrain.evaluation.runs import Run, merge, read_run
from irpretrain.progress import notice, progress

FIRST_STAGE = "first-stage"
"""Regime of the candidates' own run."""
CALLED = {FIRST_STAGE: "first stages", "full": "fine-tuned"}
"""Regimes that a user knows by another name."""

COLUMNS = SCORES.schema.names
KEYS = COLUMNS[:5]


def evaluate(
    runs: Sequence[Mapping[str, Any]],
    qrels: str | Path,
    folds: str | Path | None,
    measures: Sequence[str],
    per_query: str | Path,
    scores: str | Path,
) -> dict[str, Any]:
    """Evaluate runs and write what each query and each mean is worth.

    Args:
        runs: of one data set; each a mapping with dataset, candidates, model, regime, seed, and `paths`: the
            run's file, or one file a test fold in the folds' order.
        qrels: judgements of the data set.
        folds: file of `irpretrain.evaluation.folds.make_folds`; None without folds.
        measures: in ir_measures' notation.
        per_query: PER_QUERY table, sorted by run; measures in the given order, then queries sorted.
        scores: CSV with `COLUMNS`, in the same order with folds for queries. Fold 0 is the mean over all judged
            queries; a judged query without documents counts 0.

    Returns:
        Counts: runs, rows, and the judged queries that runs lack.

    Raises:
        InputError: a run holds a query without judgements, a query of another fold, or (for a re-ranked run)
            a document that is not among the candidates.
    """
    judged, query_folds = _read_judged(qrels, folds)
    ordered = sorted(runs, key=lambda run: [run[key] for key in KEYS])
    candidates = _Candidates(ordered)
    means: list[tuple[Any, ...]] = []
    counts = {"runs": len(ordered), "rows": 0, "queries_without_documents": 0}

    def rows() -> Iterator[dict[str, Any]]:
        for description in progress(ordered, "evaluate", "runs"):
            run = _read(description, judged, query_folds, candidates)
            counts["queries_without_documents"] += len(judged.keys() - run.keys())
            key = {name: description[name] for name in KEYS}
            for measure, values in effectiveness.per_query(run, judged, measures).items():
                means.extend((*key.values(), *row) for row in _means(measure, values, query_folds))
                for query, value in values.items():
                    fold = query_folds.fold_of[query] if query_folds else 0
                    yield {**key, "fold": fold, "query_id": query, "measure": measure, "value": value}

    counts["rows"] = PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    notice(f"scores of {runs[0]['dataset']}", f"{_in_a_line(measures[0], means)}. All: {scores}")
    return counts


def _in_a_line(measure: str, means: list[tuple[Any, ...]]) -> str:
    """The means of all models by one measure, first stages last: what a user sees before there is a table."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in means]
    shown = [row for row in rows if (row["measure"], row["fold"]) == (measure, 0)]
    shown.sort(key=lambda row: (row["regime"] == FIRST_STAGE, -row["value"]))
    groups = []
    for regime in dict.fromkeys(row["regime"] for row in shown):
        group = [row for row in shown if row["regime"] == regime]
        seeds = {row["seed"] for row in group} - {0}
        one = f", seed {min(seeds)}" if len(seeds) == 1 else ""
        listed = (
            f"{row['model']} {row['value']:.3f}" + (f" (seed {row['seed']})" if len(seeds) > 1 else "")
            for row in group
        )
        groups.append(f"{CALLED.get(regime, regime)}{one}: {', '.join(listed)}")
    return f"{measure}, {'; '.join(groups)}"


def _read_judged(qrels: str | Path, folds: str | Path | None) -> tuple[Qrels, Folds | None]:
    judged = read_qrels(qrels)
    if not judged:
        raise InputError(qrels, "there are no judgements")
    if not folds:
        return judged, None
    query_folds = read_folds(folds)
    homeless = sorted(judged.keys() - query_folds.fold_of.keys())
    if homeless:
        raise InputError(folds, f"query {homeless[0]!r} is judged in {qrels} but has no fold")
    return judged, query_folds


def _read(description: Mapping[str, Any], qrels: Qrels, folds: Folds | None, candidates: _Candidates) -> Run:
    """Read the files of one run and check its queries, folds and documents."""
    paths = [str(path) for path in description["paths"]]
    parts = [read_run(path) for path in paths]
    for fold, (path, part) in enumerate(zip(paths, parts, strict=True), 1):
        unknown = sorted(part.keys() - qrels.keys())
        if unknown:
            name = description["dataset"]
            raise InputError(path, f"query {unknown[0]!r} has no judgement in data set {name}")
        if folds and len(parts) > 1:
            _check_fold(path, part, folds, fold)
        if description["regime"] != FIRST_STAGE:
            candidates.check(path, part, description)
    return merge(parts, paths)


def _check_fold(path: str, part: Run, folds: Folds, fold: int) -> None:
    """A model must have been tested on its own test fold: on any other it was trained or chosen."""
    for query in part:
        if folds.fold_of[query] != fold:
            reason = (
                f"query {query!r} is in fold {folds.fold_of[query]}, but this is the run of test fold {fold}"
            )
            raise InputError(path, reason)


class _Candidates:
    """The documents that first stages retrieved, read once each, in which re-ranked runs must lie."""

    def __init__(self, runs: Sequence[Mapping[str, Any]]) -> None:
        self._paths = {run["model"]: run["paths"][0] for run in runs if run["regime"] == FIRST_STAGE}
        self._documents: dict[str, dict[str, set[str]]] = {}

    def check(self, path: str, run: Run, description: Mapping[str, Any]) -> None:
        """Raise InputError where `run` ranks a document that its candidates lack; pass where none are known."""
        key = description["candidates"]
        if key not in self._paths:
            return
        if key not in self._documents:
            read = read_run(self._paths[key])
            self._documents[key] = {query: {name for name, _ in ranking} for query, ranking in read.items()}
        for query, ranking in run.items():
            candidates = self._documents[key].get(query, set())
            if strange := [document for document, _ in ranking if document not in candidates]:
                reason = f"document {strange[0]!r} of query {query!r} is not among the candidates"
                remedy = "Delete the run and make it again."
                raise InputError(path, f"{reason} ({self._paths[key]})", remedy=remedy)


def _means(
    measure: str, values: dict[str, float], folds: Folds | None
) -> Iterator[tuple[int, str, float, int]]:
    """Rows fold, measure, mean and number of queries: all queries first (fold 0), then each fold."""
    yield 0, measure, effectiveness.mean(values), len(values)
    for fold in range(1, folds.number + 1) if folds else ():
        queries = [query for query in folds.queries(fold) if query in values] if folds else []
        yield fold, measure, effectiveness.mean(values, queries), len(queries)
