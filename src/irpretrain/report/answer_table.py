"""The table of question answering: models fine-tuned for tasks beside retrieval (PHP, table 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from irpretrain.config import Config
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table, Verdict
from irpretrain.report.comparisons import TableTest
from irpretrain.report.naming import encoder_label, model_label
from irpretrain.report.plans import Baseline, Plan, Statistics
from irpretrain.report.published import Published, PublishedValue
from irpretrain.report.published_answers import PublishedAnswerRow, PublishedAnswers, as_share
from irpretrain.report.remarks import test_text
from irpretrain.report.scores import RunName, Scores
from irpretrain.report.verdicts import claim_verdict, not_run, nothing_published, number_verdict

REGIME, CANDIDATES = "full", ""
"""As in irpretrain.downstream.evaluate: fine-tuned on all examples; nothing is re-ranked."""
MEASURES = ("F1", "EM", "accuracy")
"""In the order of columns; those of tasks beside question answering too."""
AVERAGE = "average"
NOTHING_RUN = (
    "no entry of `downstream` is in this configuration (the overlay configs/downstream.yaml has SQuAD)"
)


def build_answer_tables(published: Published, config: Config, scores: Scores) -> dict[str, Table]:
    """Return the table of question answering of a paper that has one, called as in `Published.table_names`."""
    if published.answers is None:
        return {}
    table = _AnswerTable(published, published.answers, config, scores).build()
    return {f"table{published.answers.number}": table}


class _AnswerTable:
    def __init__(
        self, published: Published, printed: PublishedAnswers, config: Config, scores: Scores
    ) -> None:
        self.published, self.printed, self.config, self.scores = published, printed, config, scores
        self.names = set(scores.names())
        self.statistics = Statistics(config, scores, TableTest.of(config.evaluation))

    def build(self) -> Table:
        tested = list(dict.fromkeys(name.dataset for name in self.scores.names()))
        here = [task for task in tested if task not in self.printed.tasks]
        theirs = {
            row.key: self._plans(row, self.printed.tasks, [self.printed.measure]) for row in self.printed.rows
        }
        ours = {
            task: {row.key: self._plans(row, [task], self._measures(task)) for row in self.printed.rows}
            for task in here
        }
        for plans in (theirs, *ours.values()):
            for plan in (plan for found in plans.values() for plan in found):
                self.statistics.note(plan)
        self.statistics.test()
        panels = [self._paper_panel(theirs), *(self._panel_here(task, plans) for task, plans in ours.items())]
        return Table(
            f"{self.published.paper}_table{self.printed.number}",
            self.published.paper,
            f"Table {self.printed.number}: {self.printed.title}",
            tuple(panels),
            tuple(self._notes(here)),
            f"{self.published.citation} {self.published.place(self.printed.page, self.printed.section)}.",
            self.published.name,
        )

    def _measures(self, task: str) -> list[str]:
        known = self.scores.measures(task)
        return [measure for measure in MEASURES if measure in known]

    # What is measured

    def _model(self, row: PublishedAnswerRow) -> str | None:
        return next((name for name in row.models if name in self.config.models), None)

    def _plans(
        self, row: PublishedAnswerRow, tasks: Sequence[str] | dict[str, str], measures: Sequence[str]
    ) -> list[Plan]:
        return [self._plan(row, task, measure) for task in tasks for measure in measures]

    def _plan(self, row: PublishedAnswerRow, task: str, measure: str) -> Plan:
        model = self._model(row)
        run = RunName(task, CANDIDATES, model or "", REGIME)
        reason = self._reason(row, run, measure)
        found = None if reason else run
        baselines = tuple(self._baselines(row, task))
        return Plan(row.key, task, CANDIDATES, measure, REGIME, found, reason, baselines)

    def _baselines(self, row: PublishedAnswerRow, task: str) -> list[Baseline]:
        if row.key != self.printed.marked:
            return []
        others = [other for other in self.printed.rows if other.key != row.key]
        return [
            Baseline(self.printed.mark, self._name(other), RunName(task, CANDIDATES, model, REGIME))
            for other in others
            if (model := self._model(other)) is not None
        ]

    def _reason(self, row: PublishedAnswerRow, run: RunName, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if self.scores.get(run, measure) is not None:
            return ""
        if run.dataset in self.config.absent_tasks:
            return self.config.absent_tasks[run.dataset]
        if not self.names:
            return NOTHING_RUN
        if not run.model:
            return row.absent
        label = self.printed.tasks.get(run.dataset, run.dataset)
        return f"no entry of `downstream` fine-tunes {run.model} for {label} ({run.dataset})"

    # Panels

    def _paper_panel(self, plans: dict[str, list[Plan]]) -> Panel:
        columns = [Column(label, self.printed.measure) for label in self.printed.tasks.values()]
        columns.append(Column(self.printed.average, self.printed.measure))
        rows = []
        for row in self.printed.rows:
            values: list[PublishedValue | None] = [
                PublishedValue.parse(as_share(text)) for text in row.values
            ]
            values = values or [None] * len(columns)
            cells = [
                self._cell(row, plan, value) for plan, value in zip(plans[row.key], values[:-1], strict=True)
            ]
            cells.append(self._average(row, cells, values[-1]))
            if row.values or any(cell.ours for cell in cells):
                rows.append(self._row(row, cells))
        return Panel("Data sets of the paper", tuple(columns), tuple(rows))

    def _panel_here(self, task: str, plans: dict[str, list[Plan]]) -> Panel:
        label = self._task_label(task)
        columns = tuple(Column(label, measure) for measure in self._measures(task))
        rows = [
            self._row(row, [self._cell(row, plan, None) for plan in plans[row.key]])
            for row in self.printed.rows
            if row.values or self._model(row) is not None
        ]
        return Panel(f"This configuration: {label}", columns, tuple(rows))

    def _row(self, row: PublishedAnswerRow, cells: Sequence[Cell]) -> Row:
        return Row(row.key, row.label, self._filled_by(row), tuple(cells))

    def _task_label(self, task: str) -> str:
        found = self.config.downstream_tasks.get(task)
        return task if found is None else found.label

    # Cells

    def _cell(self, row: PublishedAnswerRow, plan: Plan, value: PublishedValue | None) -> Cell:
        ours = self.statistics.ours(plan)
        if ours is not None:
            seed = ours.seeds[0]
            path = f"results/downstream/predictions/{plan.dataset}/{ours.run.model}/seed-{seed}.json"
            ours = replace(
                ours, source=path, counted="questions" if plan.measure in MEASURES[:2] else "examples"
            )
        verdict = self._verdict(row, plan, value, ours)
        return Cell(plan.row, plan.dataset, plan.measure, plan.regime, value, ours, verdict)

    def _verdict(
        self, row: PublishedAnswerRow, plan: Plan, value: PublishedValue | None, ours: Ours | None
    ) -> tuple[Verdict, ...]:
        if ours is None:
            return (not_run(plan.reason),)
        if value is not None:
            return (number_verdict(value, ours, self.published.verdict.tolerance),)
        if not plan.baselines or plan.measure != self.printed.measure:
            return (nothing_published("the paper has no such cell, and claims nothing of this row"),)
        found = {comparison.over: comparison for comparison in ours.comparisons}
        others = [other for other in self.printed.rows if other.key != row.key and self._model(other)]
        return tuple(
            claim_verdict(
                self.printed.mark,
                self._name(other),
                found.get(self._name(other)),
                self._reason(
                    other, RunName(plan.dataset, CANDIDATES, self._model(other) or "", REGIME), plan.measure
                ),
            )
            for other in others
        )

    def _average(self, row: PublishedAnswerRow, cells: Sequence[Cell], value: PublishedValue | None) -> Cell:
        """The mean over the tasks, where all of them were run; it has no interval, being over different questions."""
        found = [cell.ours for cell in cells if cell.ours is not None]
        if len(found) < len(cells):
            lacking = next(cell.not_run for cell in cells if cell.ours is None)
            reason = f"the mean needs all {len(cells)} data sets" if found else lacking
            return self._averaged(row, value, None, not_run(reason))
        mean = sum(ours.mean for ours in found) / len(found)
        first = found[0]
        ours = replace(
            first,
            run=replace(first.run, dataset=AVERAGE),
            mean=mean,
            low=math.nan,
            high=math.nan,
            queries=sum(one.queries for one in found),
            comparisons=(),
        )
        verdict = (
            nothing_published("the paper has no such row")
            if value is None
            else number_verdict(value, ours, self.published.verdict.tolerance)
        )
        return self._averaged(row, value, ours, verdict)

    def _averaged(
        self, row: PublishedAnswerRow, value: PublishedValue | None, ours: Ours | None, verdict: Verdict
    ) -> Cell:
        return Cell(row.key, AVERAGE, self.printed.measure, REGIME, value, ours, (verdict,))

    # Names and notes

    def _filled_by(self, row: PublishedAnswerRow) -> str:
        if row.stands_for:
            stands = next(other.label for other in self.printed.rows if other.key == row.stands_for)
            return f"ours, in place of {stands}; encoder {encoder_label(self.config)}"
        model = self._model(row)
        return model_label(self.config, model) if model else ""

    def _name(self, row: PublishedAnswerRow) -> str:
        filled_by = self._filled_by(row)
        return f"{row.label} [here: {filled_by}]" if filled_by not in ("", row.label) else row.label

    def _notes(self, here: Sequence[str]) -> list[str]:
        mark, evaluation = self.printed.mark, self.config.evaluation
        return [
            f"Published: {self.printed.protocol} Shares stand for percent here. Marks: {mark} better than every other "
            f"row, {self.printed.test}.",
            f"Ours: mean [{evaluation.confidence:.0%} interval] over the tested half. Same mark against the rows that "
            f"are run, {test_text(TableTest.of(evaluation))}.",
            f"Verdicts: a number is reproduced when it lies in our interval or within "
            f"{self.published.verdict.tolerance:g} of our mean. On other data the mark is a claim, reproduced when "
            "ours is significantly better too.",
            "Measures: F1 of the words of an answer and EM, exact match, as SQuAD and MRQA define them (the best of "
            "the accepted answers).",
            *(f"{self._task_label(task)}: {self._examples(task):,} tested examples." for task in here),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _examples(self, task: str) -> int:
        name = next(name for name in self.scores.names() if name.dataset == task)
        found = self.scores.get(name, self._measures(task)[0])
        return 0 if found is None else len(found.queries)
