"""The table of depths: recall of two indexes' candidates, and re-rankers over so many of them (DeepCT, table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from irpretrain.config import Config
from irpretrain.evaluation.depths import at_depth, depth_of
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table, Verdict
from irpretrain.report.comparisons import TableTest
from irpretrain.report.naming import (
    dataset_label,
    first_stage_labels,
    model_label,
    regime_label,
    shown_measures,
)
from irpretrain.report.plans import Baseline, Plan, Statistics
from irpretrain.report.published import Published, PublishedValue
from irpretrain.report.published_depths import PublishedDepth, PublishedDepths
from irpretrain.report.remarks import measures_text, number_of_queries, test_text
from irpretrain.report.scores import FIRST_STAGE, RunName, Scores
from irpretrain.report.verdicts import claim_verdict, not_run, nothing_published, number_verdict

MARK = "↑"
"""Ours is significantly better over this index than over the first."""
RECALL, CANDIDATES = "recall", "candidates"
"""Series that no re-ranker makes."""
NO_DEPTHS = "no experiment of this configuration has depths"


def build_depth_tables(published: Published, config: Config, scores: Scores) -> dict[str, Table]:
    """Return the table of depths of a paper that has one, called as in `Published.table_names`."""
    if published.depths is None:
        return {}
    return {
        f"table{published.depths.number}": _DepthTable(published, published.depths, config, scores).build()
    }


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


class _DepthTable:
    def __init__(
        self, published: Published, printed: PublishedDepths, config: Config, scores: Scores
    ) -> None:
        self.published, self.printed, self.config, self.scores = published, printed, config, scores
        self.names = set(scores.names())
        self.datasets = list(dict.fromkeys(name.dataset for name in scores.names()))
        self.statistics = Statistics(config, scores, TableTest.of(config.evaluation))

    def build(self) -> Table:
        theirs = list(self._plans(self.printed.dataset, self._their_series(), self._their_depths()))
        here = [dataset for dataset in self.datasets if dataset not in self.published.datasets]
        ours = {d: list(self._plans(d, self._series(d), self._depths(d))) for d in here}
        for plan in (*theirs, *(plan for plans in ours.values() for plan in plans)):
            self.statistics.note(plan)
        self.statistics.test()
        panels = [self._panel("Data sets of the paper", self.printed.dataset, theirs, self._their_series())]
        panels += [
            self._panel(f"This configuration: {dataset_label(self.config, d)}", d, ours[d], self._series(d))
            for d in here
        ]
        return Table(
            f"{self.published.paper}_table{self.printed.number}",
            self.published.paper,
            f"Table {self.printed.number}: {self.printed.title}",
            tuple(panels),
            tuple(self._notes(here)),
            f"{self.published.citation} {self.published.place(self.printed.page, self.printed.section)}.",
            self.published.name,
        )

    # What is in columns and rows

    def _their_series(self) -> dict[str, _Series]:
        """Recall, and a re-ranker of the paper each, with the model of ours that fills it."""
        found = {RECALL: _Series("Recall", None, FIRST_STAGE)}
        for key, reranker in self.printed.rerankers.items():
            model = next((name for name in reranker.models if name in self.config.models), "")
            run = {name.regime for name in self.names if name.model == model}
            regime = next((regime for regime in reranker.regimes if regime in run), reranker.regimes[0])
            found[key] = _Series(reranker.label, model, regime, self.printed.measure)
        return found

    def _their_depths(self) -> list[int]:
        return [row.depth for row in self.printed.rows]

    def _series(self, dataset: str) -> dict[str, _Series]:
        """Recall, and every measure of the candidates as they are and of every model that re-ranked them."""
        stages = {index.first_stage for index in self.printed.indexes.values()}
        runs = [
            n
            for n in self.scores.names()
            if n.dataset == dataset and n.candidates.partition("@")[0] in stages
        ]
        reranked = sorted({(name.model, name.regime) for name in runs if name.regime != FIRST_STAGE})
        found = {RECALL: _Series("Recall", None, FIRST_STAGE)}
        for measure in self._measures(dataset):
            found[f"{CANDIDATES} {measure}"] = _Series("Not re-ranked", None, FIRST_STAGE, measure)
        for model, regime in reranked:
            label = f"{model_label(self.config, model)}, {regime_label(regime)}"
            for measure in self._measures(dataset):
                found[f"{model} {regime} {measure}"] = _Series(label, model, regime, measure)
        return found

    def _measures(self, dataset: str) -> list[str]:
        """Measures of a data set of ours, of which recall at the depths is none."""
        depths = {f"R@{depth}" for depth in self._depths(dataset)}
        configured = self.config.datasets[dataset].measures if dataset in self.config.datasets else []
        computed = shown_measures(self.config, self.scores, dataset)
        return [measure for measure in computed if measure in configured or measure not in depths]

    def _depths(self, dataset: str) -> list[int]:
        return sorted({depth_of(name.candidates) for name in self.names if name.dataset == dataset})

    # Cells

    def _plans(self, dataset: str, series: dict[str, _Series], depths: list[int]) -> Iterator[Plan]:
        """Row by row."""
        first = next(iter(self.printed.indexes.values()))
        for depth in depths:
            for one in series.values():
                measure = one.measure or f"R@{depth}"
                baseline = Baseline(MARK, first.label, one.run(dataset, first.first_stage, depth))
                for index in self.printed.indexes.values():
                    run = one.run(dataset, index.first_stage, depth)
                    reason = self._reason(dataset, one, run, measure)
                    baselines = () if index is first else (baseline,)
                    known = None if reason else run
                    yield Plan(
                        str(depth), dataset, run.candidates, measure, one.regime, known, reason, baselines
                    )

    def _reason(self, dataset: str, series: _Series, run: RunName, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if self.scores.get(run, measure) is not None:
            return ""
        if dataset not in self.config.datasets:
            known = self.published.datasets[dataset]
            return f"data set {known.label} is not in this configuration: {known.absent}"
        if not self.datasets:
            return NO_DEPTHS
        own = next((r for r in self.printed.rerankers.values() if r.label == series.label), None)
        return (
            own.absent
            if own and not series.model
            else f"no experiment measures it at this depth on {dataset}"
        )

    def _panel(self, title: str, dataset: str, plans: list[Plan], series: dict[str, _Series]) -> Panel:
        indexes = self.printed.indexes
        groups = [one.heading for one in series.values()]
        columns = tuple(Column(group, index.label) for group in groups for index in indexes.values())
        keys = [(key, place) for key in series for place in range(len(indexes))]
        printed = (
            {str(row.depth): row for row in self.printed.rows} if dataset == self.printed.dataset else {}
        )
        rows = []
        for start in range(0, len(plans), len(keys)):
            made = zip(plans[start : start + len(keys)], keys, strict=True)
            depth = plans[start].row
            cells = tuple(self._cell(plan, key, place, printed.get(depth)) for plan, (key, place) in made)
            rows.append(Row(depth, depth, "", cells))
        return Panel(title, columns, tuple(rows), "Depth")

    def _cell(self, plan: Plan, key: str, place: int, row: PublishedDepth | None) -> Cell:
        ours = self.statistics.ours(plan)
        value = None if row is None else _printed(row, key, place)
        verdict = self._verdict(plan, key, place, value, ours)
        return Cell(
            plan.row, plan.dataset, plan.measure, plan.regime, value, ours, (verdict,), plan.candidates
        )

    def _verdict(
        self, plan: Plan, key: str, place: int, value: PublishedValue | None, ours: Ours | None
    ) -> Verdict:
        if ours is None:
            return not_run(plan.reason)
        if value is not None:
            return number_verdict(value, ours, self.published.verdict.tolerance)
        if key.startswith(f"{CANDIDATES} "):
            return nothing_published("the paper does not show the candidates' own measure")
        if key != RECALL and plan.measure != self.printed.measure:
            return nothing_published(f"the paper's table has no {plan.measure}")
        if place == 0:
            return nothing_published(
                "the paper has another data set; the other indexes are compared with this one"
            )
        found = next(iter(ours.comparisons), None)
        return claim_verdict(MARK, plan.baselines[0].over, found, "it was not measured at this depth")

    def _notes(self, datasets: list[str]) -> list[str]:
        level = TableTest.of(self.config.evaluation)
        first = next(iter(self.printed.indexes.values()))
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
            f"than over {first.label} at the same depth; {test_text(level)}. Recall is the mean over queries of the "
            "share of relevant documents among the candidates.",
            f"Verdicts: a number is reproduced when it lies in our interval or within "
            f"{self.published.verdict.tolerance:g} of our mean. On data sets that the paper lacks, what it says of its "
            f"numbers is a claim: {self.printed.claim}; reproduced when ours is significantly higher too.",
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
    return PublishedValue.parse(f"{float(row.recall[place]) / 100:.2f}")
