"""Parameters of a first stage, chosen on training queries in a grid (DeepCT, section 4): a sweep per index.

Frequencies up to 100 saturate with a k1 that suits term frequencies, so each index has its own sweep.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import MODEL_PARAMETERS, RankingModel, RetrievalConfig, SweepConfig
from irpretrain.errors import MAKE_AGAIN, InputError, refusing_damage
from irpretrain.evaluation.measures import mean_of_run, parse_measure
from irpretrain.evaluation.runs import read_qrels
from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.foundation.progress import progress
from irpretrain.retrieval.lucene import rank_candidates, search, search_grid
from irpretrain.text.texts import read_queries


def tune(
    index: str | Path,  # Lucene index of the corpus of the training queries
    queries: str | Path,  # QUERIES table of the training queries
    qrels: str | Path,  # their judgements; queries without any are not searched
    model: RankingModel,
    sweep: SweepConfig,
    options: RetrievalConfig,
    # JSON: measure, number of queries, the chosen parameters and what they are worth, and which of them lie
    # at an edge of the grid, beyond which something better may be.
    tuning: str | Path,
    grid: str | Path,  # CSV, one row a point: its parameters and the measure's mean, in the grid's order
    drop_own: bool = False,  # as in `irpretrain.retrieval.lucene.search`
) -> dict[str, Any]:
    """Measure every point of the grid and write the best; return counts of queries and points.

    Raises:
        InputError: no query is judged; further as `irpretrain.retrieval.lucene.search`.
    """
    values: dict[str, list[float]] = {name: getattr(sweep, name) for name in MODEL_PARAMETERS[model]}
    judged = read_qrels(qrels)
    texts = read_queries(queries)
    chosen = [query for query in texts if query in judged]
    if not chosen:
        raise InputError(queries, "none of these queries is judged, so nothing can be tuned on them")
    depth = parse_measure(sweep.measure).params.get("cutoff", options.depth)
    runs = search_grid(
        index, {query: texts[query] for query in chosen}, model, values, options, depth, drop_own
    )
    points = [
        {**point, sweep.measure: mean_of_run(run, judged, sweep.measure, chosen)}
        for point, run in progress(runs, "sweep", "settings")
    ]
    best = max(points, key=lambda point: point[sweep.measure])
    parameters = {name: best[name] for name in values}
    tuned = {
        "model": model,
        "measure": sweep.measure,
        "queries": len(chosen),
        "parameters": parameters,
        "value": best[sweep.measure],
        "at_edge": _at_edge(parameters, values),
    }
    write_csv(grid, list(points[0]), [list(point.values()) for point in points])
    write_text(tuning, json.dumps(tuned, indent=1) + "\n")
    return {"queries": len(chosen), "points": len(points)}


def _at_edge(parameters: Mapping[str, float], values: Mapping[str, Sequence[float]]) -> list[str]:
    edges = {name: (tried[0], tried[-1]) for name, tried in values.items() if len(tried) > 1}
    return [name for name, ends in edges.items() if parameters[name] in ends]


def own_parameters(parameters: Mapping[str, float | None], tuning: str | Path | None) -> dict[str, float]:
    """Return a first stage's own parameters: what `tune` chose, or those given that are not None."""
    if tuning is None:
        return {name: value for name, value in parameters.items() if value is not None}
    with refusing_damage(tuning, "these are not tuned parameters", MAKE_AGAIN):
        chosen = json.loads(Path(tuning).read_text(encoding="utf-8"))["parameters"]
        return {name: float(value) for name, value in chosen.items()}


def search_tuned(
    index: str | Path,  # Lucene index, and so for `queries`, `output` and errors: as in `search`
    queries: str | Path,
    name: str,  # of the first stage; last column of the run
    model: RankingModel,
    options: RetrievalConfig,
    output: str | Path,
    ranked: str | Path | None = None,  # run of the other first stage; None to search the whole index
    drop_own: bool = False,  # as in `search`; candidates lack a query's own document already
) -> dict[str, Any]:
    """Search with a first stage's own parameters, or rank the candidates of another first stage with them."""
    if ranked is None:
        counts = search(index, queries, model, options, output, name, drop_own)
    else:
        counts = rank_candidates(index, queries, ranked, model, options, output, name)
    return {**counts, "parameters": options.parameters_of(model)}
