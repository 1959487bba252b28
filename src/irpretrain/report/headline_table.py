"""The headline table: first stages, the control and all models, in every measure of our own data sets."""

import math

from irpretrain.config import Config
from irpretrain.report.cells import Column, Table
from irpretrain.report.naming import (
    FIRST_STAGES,
    control_model,
    dataset_label,
    first_stage_labels,
    is_control,
    listed,
    model_label,
    regime_label,
    shown_measures,
)
from irpretrain.report.plans import Baseline, CellPlan, Compared, PlannedPanel, PlannedRow, TablePlan
from irpretrain.report.remarks import deep_experiments, headline_notes
from irpretrain.report.scores import FIRST_STAGE, RunName, Scores
from irpretrain.report.table_engine import build

CONTROL_MARK, BM25_MARK = "†", "*"


def build_headline(config: Config, scores: Scores, name: str = "headline") -> Table:
    """Return the table of all runs: first stages, control, all models."""
    pairs = scores.pairs()
    panels = tuple(_panel(config, scores, pair) for pair in pairs)
    notes = tuple(headline_notes(config, scores, pairs))
    return build(TablePlan(name, "", _title(config, scores, pairs), panels, notes), config, scores)


def _title(config: Config, scores: Scores, pairs: list[tuple[str, str]]) -> str:
    """Return "Zero-shot and fine-tuned on A; first stages on B": what was run on which data sets."""
    labels: dict[str, dict[str, None]] = {}
    for pair in pairs:
        regimes, _ = _layout(config, scores, pair)
        # Regimes without their numbers of queries.
        run = (
            "first stages"
            if regimes == [FIRST_STAGE]
            else listed(dict.fromkeys(regime_label(regime).partition(" (")[0] for regime in regimes))
        )
        labels.setdefault(run, {})[dataset_label(config, pair[0])] = None
    title = "; ".join(f"{run} on {' and '.join(datasets)}" for run, datasets in labels.items())
    nothing = "Depths alone were measured" if deep_experiments(config) else "Nothing was run"
    return title[:1].upper() + title[1:] if title else nothing


def _models(config: Config, scores: Scores, pair: tuple[str, str]) -> list[str]:
    run = {n.model for n in scores.names() if (n.dataset, n.candidates) == pair and n.regime != FIRST_STAGE}
    first = [model for model in first_stage_labels(config) if scores.first_stage(pair[0], model)]
    reranking = [model for model in config.models if model in run]
    return first + sorted(reranking, key=lambda model: not is_control(config, model))


def _layout(config: Config, scores: Scores, pair: tuple[str, str]) -> tuple[list[str], list[str]]:
    run = {n.regime for n in scores.names() if (n.dataset, n.candidates) == pair} - {FIRST_STAGE}
    return sorted(run, key=_training_queries) or [FIRST_STAGE], shown_measures(config, scores, pair[0])


def _training_queries(regime: str) -> float:
    """How many queries fine-tune a model: columns go from none to all."""
    fixed = {"zero-shot": 0, "full": math.inf}
    return fixed[regime] if regime in fixed else int(regime.removeprefix("few-shot-"))


def _baselines(
    config: Config, scores: Scores, pair: tuple[str, str], regime: str, control: str | None
) -> tuple[Baseline, ...]:
    baselines = []
    bm25 = scores.first_stage(pair[0], "bm25")
    if bm25 is not None:
        baselines.append(Baseline(BM25_MARK, FIRST_STAGES["bm25"], bm25))
    if control is not None:
        run = RunName(*pair, control, regime)
        baselines.append(Baseline(CONTROL_MARK, model_label(config, control), run))
    return tuple(baselines)


def _panel(config: Config, scores: Scores, pair: tuple[str, str]) -> PlannedPanel:
    models = _models(config, scores, pair)
    regimes, measures = _layout(config, scores, pair)
    control = control_model(config, models)
    contrasts = {BM25_MARK: "BM25"} if control is None else {CONTROL_MARK: "encoder", BM25_MARK: "BM25"}
    columns: list[Column] = []
    for regime in regimes:
        group = regime_label(regime)
        columns += [Column(group, measure) for measure in measures]
        columns += [Column(group, f"{measures[0]} against {name}") for name in contrasts.values()]
    rows = []
    for model in models:
        cells: list[CellPlan | Compared] = []
        for regime in regimes:
            baselines = _baselines(config, scores, pair, regime, control)
            plans = [_plan(config, scores, pair, model, regime, measure, baselines) for measure in measures]
            cells += [*plans, *(Compared(plans[0], mark) for mark in contrasts)]
        rows.append(PlannedRow(model, model_label(config, model), "", tuple(cells)))
    return PlannedPanel(dataset_label(config, *pair), tuple(columns), tuple(rows))


def _plan(
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    model: str,
    regime: str,
    measure: str,
    baselines: tuple[Baseline, ...],
) -> CellPlan:
    first = scores.first_stage(pair[0], model) if model in first_stage_labels(config) else None
    run = first or RunName(*pair, model, regime)
    missing = scores.get(run, measure) is None
    reason = f"no experiment runs it {regime_label(regime)} on {pair[0]}" if missing else ""
    alone = "this table is not the paper's"
    return CellPlan(model, *pair, measure, regime, None if missing else run, reason, baselines, alone=alone)
