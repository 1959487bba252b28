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
from irpretrain.report.scores import FIRST_STAGE, Pair, RunName, Scores
from irpretrain.report.table_engine import build

CONTROL_MARK, BM25_MARK = "†", "*"


def build_headline(config: Config, scores: Scores, name: str = "headline") -> Table:
    """Return the table of all runs: first stages, control, all models."""
    return build(HeadlineTable(config, scores).plan(name), config, scores)


class HeadlineTable:
    """The table of all runs, a panel a data set and its candidates."""

    def __init__(self, config: Config, scores: Scores) -> None:
        self.config, self.scores, self.stages = config, scores, first_stage_labels(config)

    def plan(self, name: str) -> TablePlan:
        pairs = self.scores.pairs()
        notes = headline_notes(self.config, self.scores, pairs)
        return TablePlan(name, "", self._title(pairs), tuple(map(self._panel, pairs)), tuple(notes))

    def _title(self, pairs: list[Pair]) -> str:
        """Return "Zero-shot and fine-tuned on A; first stages on B": what was run on which data sets."""
        labels: dict[str, dict[str, None]] = {}
        for pair in pairs:
            # Regimes without their numbers of queries.
            names = dict.fromkeys(regime_label(regime).partition(" (")[0] for regime in self._regimes(pair))
            run = "first stages" if self._regimes(pair) == [FIRST_STAGE] else listed(names)
            labels.setdefault(run, {})[dataset_label(self.config, pair[0])] = None
        title = "; ".join(f"{run} on {' and '.join(datasets)}" for run, datasets in labels.items())
        nothing = "Depths alone were measured" if deep_experiments(self.config) else "Nothing was run"
        return title[:1].upper() + title[1:] if title else nothing

    def _models(self, pair: Pair) -> list[str]:
        reranked = {run.model for run in self._reranked(pair)}
        first = [model for model in self.stages if self.scores.first_stage(pair[0], model)]
        models = [model for model in self.config.models if model in reranked]
        return first + sorted(models, key=lambda model: not is_control(self.config, model))

    def _regimes(self, pair: Pair) -> list[str]:
        return sorted({run.regime for run in self._reranked(pair)}, key=_training_queries) or [FIRST_STAGE]

    def _reranked(self, pair: Pair) -> list[RunName]:
        runs = self.scores.names()
        return [run for run in runs if (run.dataset, run.candidates) == pair and run.regime != FIRST_STAGE]

    def _panel(self, pair: Pair) -> PlannedPanel:
        models, measures = self._models(pair), shown_measures(self.config, self.scores, pair[0])
        control = control_model(self.config, models)
        contrasts = {BM25_MARK: "BM25"} if control is None else {CONTROL_MARK: "encoder", BM25_MARK: "BM25"}
        columns: list[Column] = []
        for group in map(regime_label, self._regimes(pair)):
            columns += [Column(group, measure) for measure in measures]
            columns += [Column(group, f"{measures[0]} against {name}") for name in contrasts.values()]
        rows = []
        for model in models:
            cells: list[CellPlan | Compared] = []
            for regime in self._regimes(pair):
                baselines = self._baselines(pair, regime, control)
                plans = [self._plan(pair, model, regime, measure, baselines) for measure in measures]
                cells += [*plans, *(Compared(plans[0], mark) for mark in contrasts)]
            rows.append(PlannedRow(model, model_label(self.config, model), "", tuple(cells)))
        return PlannedPanel(dataset_label(self.config, *pair), tuple(columns), tuple(rows))

    def _baselines(self, pair: Pair, regime: str, control: str | None) -> tuple[Baseline, ...]:
        baselines = []
        if (bm25 := self.scores.first_stage(pair[0], "bm25")) is not None:
            baselines.append(Baseline(BM25_MARK, FIRST_STAGES["bm25"], bm25))
        if control is not None:
            run = RunName(*pair, control, regime)
            baselines.append(Baseline(CONTROL_MARK, model_label(self.config, control), run))
        return tuple(baselines)

    def _plan(
        self, pair: Pair, model: str, regime: str, measure: str, baselines: tuple[Baseline, ...]
    ) -> CellPlan:
        first = self.scores.first_stage(pair[0], model) if model in self.stages else None
        run = first or RunName(*pair, model, regime)
        missing = self.scores.get(run, measure) is None
        reason = f"no experiment runs it {regime_label(regime)} on {pair[0]}" if missing else ""
        alone = "this table is not the paper's"
        return CellPlan(
            model, *pair, measure, regime, None if missing else run, reason, baselines, alone=alone
        )


def _training_queries(regime: str) -> float:
    """How many queries fine-tune a model: columns go from none to all."""
    fixed = {"zero-shot": 0, "full": math.inf}
    return fixed[regime] if regime in fixed else int(regime.removeprefix("few-shot-"))
