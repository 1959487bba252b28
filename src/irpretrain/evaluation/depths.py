"""Re-ranking at several depths, from one re-ranked run (DeepCT, Table 4).

A cross-encoder scores each candidate by itself, so re-ranking only the first k candidates gives the same scores; a run
over all candidates, cut to the first k of them, is that ranking, and no model runs again.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import atomic_file
from irpretrain.errors import InputError
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.measures import mean_of_run
from irpretrain.evaluation.qrels import read_qrels
from irpretrain.evaluation.runs import Run, merge, read_run, top

COLUMNS = ("dataset", "candidates", "model", "regime", "seed", "depth", "measure", "value", "queries")


def evaluate_depths(
    runs: Sequence[Mapping[str, Any]],
    qrels: str | Path,
    depths: Sequence[int],
    measures: Sequence[str],
    output: str | Path,
) -> dict[str, int]:
    """Measure first stages and re-ranked runs at each depth.

    Args:
        runs: as `irpretrain.evaluation.evaluate.evaluate` takes them, of one data set; the first stages of all
            re-ranked runs among them.
        qrels: judgements; a judged query without documents counts 0.
        depths: numbers of candidates.
        measures: of the re-ranked runs, in ir_measures' notation; first stages have their recall, R@depth, besides.
        output: CSV with `COLUMNS`.

    Returns:
        Counts: runs, rows.

    Raises:
        InputError: a run was re-ranked from candidates that are not among the runs, or holds others.
    """
    judged = read_qrels(qrels)
    queries = sorted(judged)
    read = [merge([read_run(path) for path in run["paths"]], run["paths"]) for run in runs]
    stages = {
        run["model"]: found for run, found in zip(runs, read, strict=True) if run["regime"] == FIRST_STAGE
    }
    rows: list[tuple[Any, ...]] = []
    for description, run in zip(runs, read, strict=True):
        if description["candidates"] not in stages:
            raise InputError(description["paths"][0], f"the run of {description['candidates']} is not given")
        candidates = stages[description["candidates"]]
        key = tuple(description[name] for name in COLUMNS[:5])
        for depth in depths:
            kept = _within(run, candidates, depth)
            asked = [*([f"R@{depth}"] if description["regime"] == FIRST_STAGE else []), *measures]
            rows += [
                (*key, depth, measure, mean_of_run(kept, judged, measure, queries), len(queries))
                for measure in asked
            ]
    with atomic_file(output) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return {"runs": len(runs), "rows": len(rows)}


def _within(run: Run, candidates: Run, depth: int) -> Run:
    """Return `run` without the documents that are not among the first `depth` candidates."""
    allowed = {query: {name for name, _ in ranking} for query, ranking in top(candidates, depth).items()}
    return {
        query: [(name, score) for name, score in ranking if name in allowed.get(query, ())]
        for query, ranking in run.items()
    }
