"""Build the tables: published numbers and ours, side by side.

For a paper's table there are two panels: the paper's data sets (each cell with the printed value, and ours where
this configuration runs that data set), and the data sets of this configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.errors import ConfigError
from irpretrain.report.cells import Cell, Column, Contrast, Ours, Panel, Row, Table, Verdict
from irpretrain.report.comparisons import Pairing, compare, interval
from irpretrain.report.naming import (
    FIRST_STAGES,
    control_model,
    dataset_label,
    encoder_label,
    is_control,
    model_label,
    regime_label,
)
from irpretrain.report.published import Published, PublishedRow, PublishedTable, load_published
from irpretrain.report.remarks import headline_notes, table_notes
from irpretrain.report.scores import FIRST_STAGE, RunName, Scores
from irpretrain.report.verdicts import claim_verdict, not_run, nothing_published, number_verdict

HEADLINE_MEASURES = ("RR@10", "nDCG@20", "P@20")
HEADLINE_REGIMES = ("zero-shot", "full")
CONTROL_MARK, BM25_MARK = "†", "*"


def build_tables(published: Sequence[Published], config: Config, scores: Scores) -> list[Table]:
    """Return the headline table and every table of the papers."""
    tables = [build_headline(config, scores)]
    for paper in published:
        tables += [build_table(paper, name, config, scores) for name in paper.tables]
    return tables


@dataclass(frozen=True)
class _Plan:
    """A cell before the statistics: what is measured, what it is compared with, and why it is empty if so."""

    row: str
    dataset: str
    measure: str
    regime: str
    run: RunName | None
    reason: str
    baselines: tuple[tuple[str, str, RunName], ...]


class _Builder:
    """Turns plans into `Ours`; p-values are corrected over the plans of one table."""

    def __init__(self, config: Config, scores: Scores) -> None:
        self.config, self.scores = config, scores
        self._pairings: dict[tuple[RunName, str, str], Pairing] = {}
        self._comparisons: dict[tuple[RunName, str, str], Any] = {}

    def note(self, plan: _Plan) -> None:
        """Remember the comparisons of a plan."""
        if plan.run is None:
            return
        ours = self.scores.get(plan.run, plan.measure)
        for mark, over, baseline in plan.baselines:
            other = self.scores.get(baseline, plan.measure)
            if ours is not None and other is not None and baseline != plan.run:
                name = f"{_identifier(plan.run, plan.measure)} against {_identifier(baseline, plan.measure)}"
                self._pairings[plan.run, plan.measure, mark] = Pairing(ours, other, over, mark, name)

    def test(self) -> None:
        """Make all comparisons at once."""
        made = compare(list(self._pairings.values()), self.config.evaluation, self.config.seed)
        self._comparisons = dict(zip(self._pairings, made, strict=True))

    def ours(self, plan: _Plan) -> Ours | None:
        """Return our value of a plan, or None where there is none."""
        results = self.scores.get(plan.run, plan.measure) if plan.run else None
        if plan.run is None or results is None:
            return None
        name = _identifier(plan.run, plan.measure)
        low, high = interval(results, self.config.evaluation, self.config.seed, name)
        keys = [(plan.run, plan.measure, mark) for mark, _, _ in plan.baselines]
        made = tuple(self._comparisons[key] for key in keys if key in self._comparisons)
        return Ours(
            plan.run, plan.measure, results.mean, low, high, results.seeds, len(results.queries), made
        )


def _identifier(run: RunName, measure: str) -> str:
    return "/".join((run.dataset, run.candidates, run.model, run.regime, measure))


def build_table(published: Published, name: str, config: Config, scores: Scores) -> Table:
    """Return one table of a paper: the printed values, ours, significance marks and verdicts."""
    return _PaperTable(published, name, config, scores).build()


class _PaperTable:
    def __init__(self, published: Published, name: str, config: Config, scores: Scores) -> None:
        self.published, self.name, self.config, self.scores = published, name, config, scores
        self.table: PublishedTable = published.tables[name]
        self.builder = _Builder(config, scores)

    def build(self) -> Table:
        here = [pair for pair in self.scores.pairs() if self._measures(pair[0])]
        plans_paper = {row.key: self._paper_plans(row) for row in self.table.rows}
        plans_here = {
            pair: {row.key: self._plans_here(row, *pair) for row in self.table.rows} for pair in here
        }
        for rows in (plans_paper, *plans_here.values()):
            for plans in rows.values():
                for plan in plans:
                    self.builder.note(plan)
        self.builder.test()
        panels = [self._paper_panel(plans_paper)]
        panels += [self._panel_here(pair, plans) for pair, plans in plans_here.items()]
        datasets = [(c.dataset, "bm25") for c in self.table.columns if c.dataset in self.config.datasets]
        measures = list(dict.fromkeys(c.measure for c in self.table.columns))
        return Table(
            f"{self.published.paper}_{self.name}",
            self.published.paper,
            f"Table {self.table.number}: {self.table.title}",
            tuple(panels),
            tuple(
                table_notes(
                    self.published, self.table, self.config, self.scores, [*datasets, *here], measures
                )
            ),
            f"{self.published.citation} Page {self.table.page}, section {self.table.section}.",
        )

    # Panel of the paper's data sets

    def _paper_plans(self, row: PublishedRow) -> list[_Plan]:
        return [self._plan(row, c.dataset, "bm25", c.measure, row.regimes[0]) for c in self.table.columns]

    def _paper_panel(self, plans: dict[str, list[_Plan]]) -> Panel:
        columns = tuple(
            Column(self.published.datasets[c.dataset].label, c.measure) for c in self.table.columns
        )
        rows = []
        for row in self.table.rows:
            cells = tuple(self._cell(row, plan) for plan in plans[row.key])
            if row.values or any(cell.ours for cell in cells):
                rows.append(Row(row.key, self._label(row), self._filled_by(row), cells))
        return Panel("Data sets of the paper", columns, tuple(rows))

    # Panels of our data sets

    def _measures(self, dataset: str) -> list[str]:
        known = self.scores.measures(dataset)
        wanted = dict.fromkeys(column.measure for column in self.table.columns)
        return [measure for measure in wanted if measure in known]

    def _regimes(self, dataset: str, candidates: str) -> list[str]:
        """Regimes that fill at least one row, in the order of the rows' own lists."""
        models = {self._model(row) for row in self.table.rows}
        run = {
            n.regime
            for n in self.scores.names()
            if (n.dataset, n.candidates) == (dataset, candidates) and n.model in models
        }
        wanted = dict.fromkeys(r for row in self.table.rows for r in row.regimes if r != FIRST_STAGE)
        found = [regime for regime in wanted if regime in run]
        return found or list(wanted)[:1]

    def _plans_here(self, row: PublishedRow, dataset: str, candidates: str) -> list[_Plan]:
        return [
            self._plan(row, dataset, candidates, measure, regime)
            for regime in self._regimes(dataset, candidates)
            for measure in self._measures(dataset)
        ]

    def _panel_here(self, pair: tuple[str, str], plans: dict[str, list[_Plan]]) -> Panel:
        label = dataset_label(self.config, *pair)
        columns = tuple(
            Column(f"{label}, {regime_label(regime)}", measure)
            for regime in self._regimes(*pair)
            for measure in self._measures(pair[0])
        )
        rows = [
            Row(
                row.key,
                self._label(row),
                self._filled_by(row),
                tuple(self._cell(row, p) for p in plans[row.key]),
            )
            for row in self.table.rows
            if row.values or self._model(row) is not None
        ]
        return Panel(f"This configuration: {label}", columns, tuple(rows))

    # Cells

    def _model(self, row: PublishedRow) -> str | None:
        return next((m for m in row.models if m in self.config.models or m in FIRST_STAGES), None)

    def _run(self, row: PublishedRow, dataset: str, candidates: str, regime: str) -> RunName | None:
        """The run that fills a row; a first stage is the same run in every regime."""
        model = self._model(row)
        if model is None:
            return None
        if model in FIRST_STAGES:
            return self.scores.first_stage(dataset, model)
        return RunName(dataset, candidates, model, regime)

    def _plan(self, row: PublishedRow, dataset: str, candidates: str, measure: str, regime: str) -> _Plan:
        run = self._run(row, dataset, candidates, regime)
        reason = self._reason(row, dataset, run, measure)
        baselines = []
        for mark in self.table.marks:
            other = self.table.row(mark.over)
            name = self._run(other, dataset, candidates, regime)
            if name is not None:
                baselines.append((mark.mark, self._name(other), name))
        return _Plan(row.key, dataset, measure, regime, None if reason else run, reason, tuple(baselines))

    def _reason(self, row: PublishedRow, dataset: str, run: RunName | None, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if not row.models:
            return row.absent
        if dataset not in self.config.datasets:
            known = self.published.datasets.get(dataset)
            label = known.label if known else dataset
            return f"data set {label} is not in this configuration" + (f": {known.absent}" if known else "")
        if run is None or (run.model in FIRST_STAGES and self.scores.get(run, measure) is None):
            return row.absent
        if self.scores.get(run, measure) is None:
            return f"no experiment runs {run.model} {regime_label(run.regime)} with {measure} on {dataset}"
        return ""

    def _cell(self, row: PublishedRow, plan: _Plan) -> Cell:
        published = self.table.value(row.key, plan.dataset, plan.measure) if row.values else None
        ours = self.builder.ours(plan)
        if published is not None and plan.regime != row.regimes[0] and row.regimes[0] != FIRST_STAGE:
            published = None
        return Cell(
            plan.row,
            plan.dataset,
            plan.measure,
            plan.regime,
            published,
            ours,
            tuple(self._verdicts(row, plan, published, ours)),
        )

    def _verdicts(
        self, row: PublishedRow, plan: _Plan, published: Any, ours: Ours | None
    ) -> Iterable[Verdict]:
        if ours is None:
            return [not_run(plan.reason)]
        if published is not None:
            return [number_verdict(published, ours, self.published.verdict.tolerance)]
        if plan.regime != row.regimes[0] and row.regimes[0] != FIRST_STAGE:
            return [nothing_published(f"the paper has no {regime_label(plan.regime)} numbers in this table")]
        claims = [self._claim(mark, plan, ours) for mark in self.table.constant_marks(row.key)]
        return claims or [nothing_published("the paper has no such cell, and claims nothing of this row")]

    def _claim(self, mark: str, plan: _Plan, ours: Ours) -> Verdict:
        over = next(m.over for m in self.table.marks if m.mark == mark)
        baseline = self.table.row(over)
        found = next((c for c in ours.comparisons if c.mark == mark), None)
        run = self._run(baseline, plan.dataset, ours.run.candidates, plan.regime)
        missing = self._reason(baseline, plan.dataset, run, plan.measure) or baseline.absent
        return claim_verdict(mark, self._name(baseline), found, missing)

    def _name(self, row: PublishedRow) -> str:
        """The paper's label, and what fills the row here where that is another thing."""
        filled_by = self._filled_by(row)
        return f"{row.label} [here: {filled_by}]" if filled_by not in ("", row.label) else row.label

    def _label(self, row: PublishedRow) -> str:
        model = self._model(row)
        return row.label or (model_label(self.config, model) if model else row.key)

    def _filled_by(self, row: PublishedRow) -> str:
        if row.stands_for:
            stands = " and ".join(self.table.row(key).label for key in row.stands_for)
            return f"ours, in place of {stands}; encoder {encoder_label(self.config)}"
        model = self._model(row)
        return model_label(self.config, model) if model else ""


def build_headline(config: Config, scores: Scores) -> Table:
    """Return the table "zero-shot and fine-tuned on <data set>": first stages, control, all models."""
    builder = _Builder(config, scores)
    pairs = scores.pairs()
    planned = {pair: _headline_plans(config, scores, pair) for pair in pairs}
    for rows in planned.values():
        for plans in rows.values():
            for plan in plans:
                builder.note(plan)
    builder.test()
    panels = [_headline_panel(config, scores, pair, planned[pair], builder) for pair in pairs]
    labels = dict.fromkeys(dataset_label(config, dataset) for dataset, _ in pairs)
    title = f"Zero-shot and fine-tuned on {' and '.join(labels)}" if labels else "Zero-shot and fine-tuned"
    return Table(
        "headline", "", title, tuple(panels), tuple(headline_notes(config, scores, pairs, HEADLINE_MEASURES))
    )


def _headline_models(config: Config, scores: Scores, pair: tuple[str, str]) -> list[str]:
    run = {
        n.model for n in scores.names() if (n.dataset, n.candidates) == pair and n.regime in HEADLINE_REGIMES
    }
    first = [model for model in FIRST_STAGES if scores.first_stage(pair[0], model)]
    known = [model for model in config.models if model in run]
    return first + sorted(known, key=lambda model: not is_control(config, model))


def _headline_layout(scores: Scores, pair: tuple[str, str]) -> tuple[list[str], list[str]]:
    run = {n.regime for n in scores.names() if (n.dataset, n.candidates) == pair}
    known = scores.measures(pair[0])
    measures = [m for m in HEADLINE_MEASURES if m in known] or known[:3]
    return [r for r in HEADLINE_REGIMES if r in run] or [FIRST_STAGE], measures


def _headline_plans(config: Config, scores: Scores, pair: tuple[str, str]) -> dict[str, list[_Plan]]:
    models = _headline_models(config, scores, pair)
    regimes, measures = _headline_layout(scores, pair)
    control = control_model(config, models)
    plans: dict[str, list[_Plan]] = {}
    for model in models:
        plans[model] = []
        for regime in regimes:
            baselines = _headline_baselines(config, scores, pair, regime, control)
            first = scores.first_stage(pair[0], model) if model in FIRST_STAGES else None
            run = first or RunName(*pair, model, regime)
            for measure in measures:
                missing = scores.get(run, measure) is None
                reason = f"no experiment runs {model} {regime_label(regime)} on {pair[0]}" if missing else ""
                plans[model].append(
                    _Plan(model, pair[0], measure, regime, None if missing else run, reason, baselines)
                )
    return plans


def _headline_baselines(
    config: Config, scores: Scores, pair: tuple[str, str], regime: str, control: str | None
) -> tuple[tuple[str, str, RunName], ...]:
    found = []
    bm25 = scores.first_stage(pair[0], "bm25")
    if bm25 is not None:
        found.append((BM25_MARK, FIRST_STAGES["bm25"], bm25))
    if control is not None:
        found.append((CONTROL_MARK, model_label(config, control), RunName(*pair, control, regime)))
    return tuple(found)


def _headline_panel(
    config: Config, scores: Scores, pair: tuple[str, str], plans: dict[str, list[_Plan]], builder: _Builder
) -> Panel:
    regimes, measures = _headline_layout(scores, pair)
    columns: list[Column] = []
    for regime in regimes:
        group = regime_label(regime)
        columns += [Column(group, measure) for measure in measures]
        columns += [
            Column(group, f"{measures[0]} against encoder"),
            Column(group, f"{measures[0]} against BM25"),
        ]
    rows = []
    for model, planned in plans.items():
        cells: list[Cell | Contrast] = []
        for start in range(0, len(planned), len(measures)):
            cells += _headline_cells(planned[start : start + len(measures)], builder)
        rows.append(Row(model, model_label(config, model), "", tuple(cells)))
    return Panel(dataset_label(config, *pair), tuple(columns), tuple(rows))


def _headline_cells(plans: list[_Plan], builder: _Builder) -> list[Cell | Contrast]:
    cells: list[Cell | Contrast] = []
    for plan in plans:
        ours = builder.ours(plan)
        verdict = not_run(plan.reason) if ours is None else nothing_published("this table is not the paper's")
        cells.append(Cell(plan.row, plan.dataset, plan.measure, plan.regime, None, ours, (verdict,)))
    leading = cells[0].ours if isinstance(cells[0], Cell) else None
    for mark in (CONTROL_MARK, BM25_MARK):
        made = leading.comparisons if leading else ()
        cells.append(Contrast(next((c for c in made if c.mark == mark), None), leading))
    return cells


def make_tables(
    papers: Sequence[str | Path],
    config: Config,
    scores: str | Path,
    per_query: str | Path,
    output_directory: str | Path,
    verdicts: str | Path,
) -> dict[str, Any]:
    """Write every table as Markdown, CSV and LaTeX, and the verdicts; return how many there are.

    Args:
        papers: files of published numbers, `resources/published/<paper>.yaml`.
        config: the configuration.
        scores: `results/scores.csv`; its means are checked against the per-query values.
        per_query: `results/per_query.parquet`.
        output_directory: where `<table>.md`, `.csv` and `.tex` go.
        verdicts: `results/verdicts.csv`.
    """
    from irpretrain.report.latex import write_latex
    from irpretrain.report.longform import write_cells, write_verdicts
    from irpretrain.report.markdown import write_markdown

    published = [load_published(path) for path in papers]
    _check_datasets(published)
    tables = build_tables(published, config, Scores.read(per_query, scores))
    for table in tables:
        base = Path(output_directory) / table.name
        write_markdown(table, base.with_suffix(".md"))
        write_cells(table, base.with_suffix(".csv"))
        write_latex(table, base.with_suffix(".tex"))
    counts = write_verdicts(tables, verdicts)
    return {"tables": len(tables), "cells": sum(1 for t in tables for _ in t.cells()), "verdicts": counts}


def _check_datasets(published: Sequence[Published]) -> None:
    names = [paper.paper for paper in published]
    if len(set(names)) != len(names):
        raise ConfigError(f"report.papers: a paper is given twice: {', '.join(names)}")
