"""The table of depths: recall of two indexes' candidates, and re-rankers over so many of them (DeepCT, table 4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from irpretrain.config import Config
from irpretrain.config.usage import active_experiments
from irpretrain.evaluation.depths import at_depth, depth_of
from irpretrain.papers.base import PublishedValue
from irpretrain.papers.depths import PublishedDepth, PublishedDepths, PublishedIndex
from irpretrain.papers.published import Published
from irpretrain.report.cells import Column
from irpretrain.report.comparisons import TableTest
from irpretrain.report.naming import (
    dataset_label,
    first_stage_labels,
    model_label,
    regime_label,
    shown_measures,
)
from irpretrain.report.plans import Baseline, CellPlan, Mark, PlannedPanel, PlannedRow, TablePlan
from irpretrain.report.remarks import measures_text, number_of_queries, test_text
from irpretrain.report.scores import FIRST_STAGE, RunName, Scores

MARK = "↑"
"""Ours is significantly better over this index than over the first."""
RECALL, CANDIDATES = "recall", "candidates"
"""Series that no re-ranker makes."""
NO_DEPTHS = "no experiment of this configuration has depths"


@dataclass(frozen=True)
class _Series:
    """Two columns or more: one measure of one ranking, a column an index; without a model the candidates themselves.

    An empty measure stands for recall of the candidates, whose cut-off is the depth.
    """

    label: str
    model: str | None
    regime: str
    measure: str = ""

    @property
    def heading(self) -> str:
        return f"{self.label}, {self.measure}" if self.measure else self.label

    def run(self, dataset: str, first_stage: str, depth: int) -> RunName:
        model = first_stage if self.model is None else self.model
        return RunName(dataset, at_depth(first_stage, depth), model, self.regime)


class DepthTable:
    """The table of depths; `scores` are those of the experiments at several depths."""

    def __init__(
        self, published: Published, printed: PublishedDepths, config: Config, scores: Scores
    ) -> None:
        self.published, self.printed, self.config, self.scores = published, printed, config, scores
        self.names = set(scores.names())
        self.datasets = list(dict.fromkeys(name.dataset for name in scores.names()))
        self.theirs = list(printed.indexes.values())

    def plan(self) -> TablePlan:
        theirs = {str(row.depth): row for row in self.printed.rows}
        depths = [row.depth for row in self.printed.rows]
        series, title = self._their_series(), "Data sets of the paper"
        printed = self.printed.dataset
        here = [d for d in self.datasets if d != printed or not self._fits(series, depths)]
        panels = [self._panel(title, printed, self.theirs, depths, series, theirs)]
        for dataset in here:
            title = f"This configuration: {dataset_label(self.config, dataset)}"
            indexes = self._indexes(dataset)
            shown = self._series(dataset, indexes)
            panels.append(self._panel(title, dataset, indexes, self._depths(dataset), shown))
        return TablePlan.of_paper(self.published, self.printed, panels, self._notes(here))

    # What is in columns and rows

    def _their_series(self) -> dict[str, _Series]:
        """Recall, and a re-ranker of the paper each, with the model of ours that fills it."""
        series = {RECALL: _Series("Recall", None, FIRST_STAGE)}
        for key, reranker in self.printed.rerankers.items():
            model = next((name for name in reranker.models if name in self.config.models), "")
            run = {name.regime for name in self.names if name.model == model}
            regime = next((regime for regime in reranker.regimes if regime in run), reranker.regimes[0])
            series[key] = _Series(reranker.label, model, regime, self.printed.measure)
        return series

    def _fits(self, series: dict[str, _Series], depths: list[int]) -> bool:
        """Whether the panel that the paper prints has a place for every run on its data set."""
        models = {(shown.model, shown.regime) for shown in series.values()}
        runs = self._runs(self.printed.dataset, self._indexes(self.printed.dataset))
        return len(runs) == len(self._runs(self.printed.dataset, self.theirs)) and all(
            depth_of(run.candidates) in depths
            and (run.regime == FIRST_STAGE or (run.model, run.regime) in models)
            for run in runs
        )

    def _indexes(self, dataset: str) -> list[PublishedIndex]:
        """What candidates of a data set come from: the paper's indexes, then other first stages that experiments at
        several depths name."""
        experiments = [
            e for e in active_experiments(self.config).values() if e.depths and e.dataset == dataset
        ]
        named = [stage for e in experiments for stage in (e.candidates, *e.first_stages)]
        theirs = [index for index in self.theirs if self._runs(dataset, [index])]
        labels = first_stage_labels(self.config)
        others = [s for s in dict.fromkeys(named) if s not in {index.first_stage for index in self.theirs}]
        return theirs + [PublishedIndex(label=labels[stage], first_stage=stage) for stage in others]

    def _runs(self, dataset: str, indexes: list[PublishedIndex]) -> list[RunName]:
        stages = {index.first_stage for index in indexes}
        return [
            run
            for run in self.scores.names()
            if run.dataset == dataset and run.candidates.rpartition("@")[0] in stages
        ]

    def _series(self, dataset: str, indexes: list[PublishedIndex]) -> dict[str, _Series]:
        """Recall, and every measure of the candidates as they are and of every model that re-ranked them."""
        runs = self._runs(dataset, indexes)
        reranked = sorted({(name.model, name.regime) for name in runs if name.regime != FIRST_STAGE})
        series = {RECALL: _Series("Recall", None, FIRST_STAGE)}
        for measure in self._measures(dataset):
            series[f"{CANDIDATES} {measure}"] = _Series("Not re-ranked", None, FIRST_STAGE, measure)
        for model, regime in reranked:
            label = f"{model_label(self.config, model)}, {regime_label(regime)}"
            for measure in self._measures(dataset):
                series[f"{model} {regime} {measure}"] = _Series(label, model, regime, measure)
        return series

    def _measures(self, dataset: str) -> list[str]:
        """Measures of a data set of ours, of which recall at the depths is none."""
        depths = {f"R@{depth}" for depth in self._depths(dataset)}
        configured = self.config.datasets[dataset].measures if dataset in self.config.datasets else []
        computed = shown_measures(self.config, self.scores, dataset)
        return [measure for measure in computed if measure in configured or measure not in depths]

    def _depths(self, dataset: str) -> list[int]:
        return sorted({depth_of(name.candidates) for name in self.names if name.dataset == dataset})

    def _panel(
        self,
        title: str,
        dataset: str,
        indexes: list[PublishedIndex],
        depths: list[int],
        series: dict[str, _Series],
        printed: dict[str, PublishedDepth] | None = None,
    ) -> PlannedPanel:
        groups = [shown.heading for shown in series.values()]
        columns = [Column(group, index.label) for group in groups for index in indexes]
        rows = [
            PlannedRow(
                str(depth),
                str(depth),
                "",
                tuple(self._cells(dataset, indexes, series, depth, (printed or {}).get(str(depth)))),
            )
            for depth in depths
        ]
        return PlannedPanel(title, tuple(columns), tuple(rows), "Depth")

    # Cells

    def _cells(
        self,
        dataset: str,
        indexes: list[PublishedIndex],
        series: dict[str, _Series],
        depth: int,
        row: PublishedDepth | None,
    ) -> Iterator[CellPlan]:
        first = indexes[0]
        for key, shown in series.items():
            measure = shown.measure or f"R@{depth}"
            baseline = Baseline(MARK, first.label, shown.run(dataset, first.first_stage, depth))
            for place, index in enumerate(indexes):
                run = shown.run(dataset, index.first_stage, depth)
                reason = self._reason(dataset, shown, run, measure)
                yield CellPlan(
                    str(depth),
                    dataset,
                    run.candidates,
                    measure,
                    shown.regime,
                    None if reason else run,
                    reason,
                    (baseline,) if place else (),
                    printed=None if row is None else _printed(row, key, place),
                    shown_candidates=run.candidates,
                    **self._marked(key, measure, [first, index], baseline if place else None),
                )

    def _marked(
        self, key: str, measure: str, compared: list[PublishedIndex], baseline: Baseline | None
    ) -> dict[str, Any]:
        """What the paper says of a series' value over an index, compared with the first one, or why nothing."""
        if any(index not in self.theirs for index in compared):
            return {"alone": "the paper has no such index"}
        if key.startswith(f"{CANDIDATES} "):
            return {"alone": "the paper does not show the candidates' own measure"}
        if key != RECALL and measure != self.printed.measure:
            return {"alone": f"the paper's table has no {measure}"}
        if baseline is None:
            return {"alone": "the paper has another data set; the other indexes are compared with this one"}
        return {"marks": (Mark(MARK, baseline.over, "it was not measured at this depth"),)}

    def _reason(self, dataset: str, series: _Series, run: RunName, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if self.scores.get(run, measure) is not None:
            return ""
        if dataset not in self.config.datasets:
            theirs = self.published.datasets[dataset]
            return f"data set {theirs.label} is not in this configuration: {theirs.absent}"
        if not self.datasets:
            return NO_DEPTHS
        reranker = next((r for r in self.printed.rerankers.values() if r.label == series.label), None)
        return (
            reranker.absent
            if reranker and not series.model
            else f"no experiment measures it at this depth on {dataset}"
        )

    def _notes(self, datasets: list[str]) -> list[str]:
        level = TableTest.of(self.config.evaluation)
        panels = [self.theirs, *(self._indexes(dataset) for dataset in datasets)]
        first = " or ".join(dict.fromkeys(indexes[0].label for indexes in panels))
        shown = (measure for dataset in datasets for measure in self._measures(dataset))
        measures = measures_text([self.printed.measure, *shown])
        labels = first_stage_labels(self.config)
        stages = ", ".join(
            f"{index.label}: {labels.get(index.first_stage, index.first_stage)}"
            for index in self.printed.indexes.values()
        )
        return [
            f"Published: {self.printed.protocol}. Shares stand for percent here.",
            f"Ours: mean [{self.config.evaluation.confidence:.0%} interval, bootstrap over queries]. {MARK} better "
            f"than over {first} at the same depth; {test_text(level)}. Recall is the mean over queries of the "
            "share of relevant documents among the candidates.",
            f"Verdicts: a number is reproduced when it lies in our interval or within "
            f"{self.published.verdict.tolerance:g} of our mean. On data sets that the paper lacks, what it says of its "
            f"numbers counts as a mark: {self.printed.claim}; reproduced when ours is significantly higher too.",
            f"Candidates: {stages}. Models read one query and one document at a time, so a ranking at a smaller depth "
            "is that of the largest without the documents beyond it.",
            f"Measures: {measures}",
            *(
                f"{dataset_label(self.config, dataset)}: {number_of_queries(self.scores, dataset):,} queries."
                for dataset in datasets
            ),
            *self.printed.remarks,
            *self.config.report.notes,
        ]


def _printed(row: PublishedDepth, key: str, place: int) -> PublishedValue | None:
    """The printed number of a column; percent as a share."""
    if key != RECALL:
        return PublishedValue.parse(row.rerankers[key][place])
    return PublishedValue.of_percent(row.recall[place])
