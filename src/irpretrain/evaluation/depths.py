"""Re-ranking at several depths, from one re-ranked run (DeepCT, Table 4).

A cross-encoder scores each candidate by itself, so re-ranking only the first k candidates gives the same scores; a run
over all candidates, cut to the first k of them, is that ranking, and no model runs again.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_csv
from irpretrain.contracts import PER_QUERY
from irpretrain.errors import InputError
from irpretrain.evaluation import measures as effectiveness
from irpretrain.evaluation.evaluate import FIRST_STAGE, KEYS
from irpretrain.evaluation.qrels import read_qrels
from irpretrain.evaluation.runs import Run, merge, read_run, top

COLUMNS = (*KEYS, "depth", "measure", "value", "queries")


def at_depth(candidates: str, depth: int) -> str:
    """Return the name of the first `depth` candidates in PER_QUERY tables: "bm25@20"."""
    return f"{candidates}@{depth}"


def depth_of(candidates: str) -> int:
    """Return the depth in such a name."""
    return int(candidates.rpartition("@")[2])


def evaluate_depths(
    runs: Sequence[Mapping[str, Any]],
    qrels: str | Path,
    depths: Sequence[int],
    measures: Sequence[str],
    per_query: str | Path,
    scores: str | Path,
) -> dict[str, int]:
    """Measure first stages and re-ranked runs at each depth.

    Args:
        runs: as `irpretrain.evaluation.evaluate.evaluate` takes them; the first stages of all re-ranked
            runs among them.
        qrels: judgements; a judged query without documents counts 0.
        depths: numbers of candidates.
        measures: of the re-ranked runs, in ir_measures' notation; first stages have their recall, R@depth, besides.
        per_query: PER_QUERY table, whose candidates are called as `at_depth` does.
        scores: CSV with `COLUMNS`; means over all judged queries.

    Returns:
        Counts: runs, rows of the CSV.

    Raises:
        InputError: a run was re-ranked from candidates that are not among the runs, or holds others.
    """
    judged = read_qrels(qrels)
    read = [merge([read_run(path) for path in run["paths"]], run["paths"]) for run in runs]
    stages = {
        run["model"]: results for run, results in zip(runs, read, strict=True) if run["regime"] == FIRST_STAGE
    }
    means: list[tuple[Any, ...]] = []

    def rows() -> Iterator[dict[str, Any]]:
        for description, run in zip(runs, read, strict=True):
            key = {name: description[name] for name in KEYS}
            candidates = _candidates(description, stages)
            for depth in depths:
                recall = [f"R@{depth}"] if description["regime"] == FIRST_STAGE else []
                values_by_measure = effectiveness.per_query(
                    _within(run, candidates, depth), judged, [*recall, *measures]
                )
                named = {**key, "candidates": at_depth(key["candidates"], depth), "fold": 0}
                for measure, values in values_by_measure.items():
                    means.append((*key.values(), depth, measure, effectiveness.mean(values), len(values)))
                    for query, value in values.items():
                        yield {**named, "query_id": query, "measure": measure, "value": value}

    PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    return {"runs": len(runs), "rows": len(means)}


def _candidates(description: Mapping[str, Any], stages: Mapping[str, Run]) -> Run:
    """The first stage that a run was re-ranked from."""
    if description["candidates"] not in stages:
        raise InputError(description["paths"][0], f"the run of {description['candidates']} is not given")
    return stages[description["candidates"]]


def _within(run: Run, candidates: Run, depth: int) -> Run:
    """Return `run` without the documents that are not among the first `depth` candidates."""
    allowed = {query: {name for name, _ in ranking} for query, ranking in top(candidates, depth).items()}
    return {
        query: [(name, score) for name, score in ranking if name in allowed.get(query, ())]
        for query, ranking in run.items()
    }
