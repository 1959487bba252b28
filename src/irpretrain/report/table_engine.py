"""Plans → tables: values with their intervals, comparisons with p-values corrected over the table, verdicts."""

from __future__ import annotations

import math
from dataclasses import replace

from irpretrain.config import Config
from irpretrain.report.cells import AnyCell, Cell, Comparison, Contrast, Ours, Panel, Row, Table, Tally
from irpretrain.report.comparisons import Pairing, TableTest, compare, interval
from irpretrain.report.plans import Baseline, CellPlan, Changed, Compared, PlannedRow, TablePlan
from irpretrain.report.scores import RunName, Scores, identifier
from irpretrain.report.verdicts import decide

DIGITS = 12
"""Decimals that are kept of means and bounds."""


def build(table: TablePlan, config: Config, scores: Scores) -> Table:
    """Return the table that a plan describes."""
    values = _Values(table, config, scores)
    panels = []
    for panel in table.panels:
        rows = (_row(row, table.tolerance, values) for row in panel.rows)
        panels.append(Panel(panel.title, panel.columns, tuple(row for row in rows if row), panel.rows_are))
    kept = Panel.is_filled if table.filled_only else Panel.has_rows
    panels = [panel for panel in panels if kept(panel)] or panels[:1]
    return Table(
        table.name, table.paper, table.title, tuple(panels), table.notes, table.source, table.paper_name
    )


def _row(row: PlannedRow, tolerance: float, values: _Values) -> Row | None:
    cells = tuple(_cell(cell, tolerance, values) for cell in row.cells)
    if row.is_optional and not any(isinstance(cell, Cell) and cell.ours for cell in cells):
        return None
    return Row(row.key, row.label, row.filled_by, cells)


def _cell(planned: CellPlan | Compared | Changed, tolerance: float, values: _Values) -> AnyCell:
    if isinstance(planned, Changed):
        changed, base = values.ours(planned.plan), values.ours(planned.base)
        is_itself = planned.plan == planned.base
        change = changed.mean / base.mean - 1 if changed and base and base.mean and not is_itself else None
        return Tally(planned.printed, None, change)
    if isinstance(planned, Compared):
        ours = values.ours(planned.plan)
        made = (c for c in (ours.comparisons if ours else ()) if c.mark == planned.mark)
        comparison = next(made, None)
        if planned.as_outcomes:
            return Tally(planned.plan.printed_outcomes, comparison.outcomes if comparison else None)
        return Contrast(comparison)
    if planned.mean_of:
        planned = replace(planned, reason=values.lacking(planned.mean_of))
    ours = values.ours(planned)
    return Cell(
        planned.row,
        planned.dataset,
        planned.measure,
        planned.regime,
        planned.printed,
        ours,
        decide(planned, ours, tolerance),
        planned.shown_candidates,
        planned.gap,
        planned.printed_outcomes,
    )


class _Values:
    """Turns plans into `Ours`; p-values are corrected over the plans of one table."""

    def __init__(self, table: TablePlan, config: Config, scores: Scores) -> None:
        self.config, self.scores = config, scores
        pairings: dict[tuple[RunName, str, Baseline], Pairing] = {}
        for plan in table.plans():
            pairings |= self._pairings(plan)
        testing = table.testing or TableTest.of(config.evaluation)
        made = compare(list(pairings.values()), testing, config.seed)
        self._comparisons: dict[tuple[RunName, str, Baseline], Comparison] = dict(
            zip(pairings, made, strict=True)
        )
        self._known: dict[CellPlan, Ours | None] = {}

    def _pairings(self, plan: CellPlan) -> dict[tuple[RunName, str, Baseline], Pairing]:
        pairings: dict[tuple[RunName, str, Baseline], Pairing] = {}
        if plan.run is None or (ours := self.scores.get(plan.run, plan.measure)) is None:
            return pairings
        for baseline in plan.baselines:
            other = self.scores.get(baseline.run, plan.measure)
            if other is not None and baseline.run != plan.run:
                names = (identifier(run, plan.measure) for run in (plan.run, baseline.run))
                pairings[plan.run, plan.measure, baseline] = Pairing(
                    ours, other, baseline.over, baseline.mark, " against ".join(names), baseline.direction
                )
        return pairings

    def ours(self, plan: CellPlan) -> Ours | None:
        """Return our value of a plan, or None where there is none."""
        if plan not in self._known:
            self._known[plan] = self._mean(plan) if plan.mean_of else plan.measured or self._of_run(plan)
        return self._known[plan]

    def _of_run(self, plan: CellPlan) -> Ours | None:
        results = self.scores.get(plan.run, plan.measure) if plan.run else None
        if plan.run is None or results is None:
            return None
        name = identifier(plan.run, plan.measure)
        low, high = interval(results, self.config.evaluation, self.config.seed, name)
        keys = [(plan.run, plan.measure, baseline) for baseline in plan.baselines]
        made = tuple(self._comparisons[key] for key in keys if key in self._comparisons)
        # What differs in the last bits only must not print differently.
        mean, low, high = (round(value, DIGITS) for value in (results.mean, low, high))
        return Ours(
            plan.run,
            plan.measure,
            mean,
            low,
            high,
            results.seeds,
            len(results.queries),
            made,
            plan.counted,
            plan.source.format(seed=results.seeds[0]),
        )

    def lacking(self, plans: tuple[CellPlan, ...]) -> str:
        """Why a mean of some cells cannot be taken; empty where it can."""
        empty = [plan for plan in plans if self.ours(plan) is None]
        if not empty:
            return ""
        return empty[0].reason if len(empty) == len(plans) else f"the mean needs all {len(plans)} data sets"

    def _mean(self, plan: CellPlan) -> Ours | None:
        """The mean of other cells' values; it has no interval, being over different queries."""
        values = [ours for other in plan.mean_of if (ours := self.ours(other)) is not None]
        if len(values) < len(plan.mean_of):
            return None
        return replace(
            values[0],
            run=replace(values[0].run, dataset=plan.dataset),
            mean=sum(ours.mean for ours in values) / len(values),
            low=math.nan,
            high=math.nan,
            queries=sum(ours.queries for ours in values),
            comparisons=(),
        )
