"""The table of question answering: models fine-tuned for tasks beside retrieval (PHP, table 4)."""

from collections.abc import Iterable, Sequence
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.base import PublishedValue
from irpretrain.papers.depths import PublishedAnswerRow, PublishedAnswers
from irpretrain.papers.published import Published
from irpretrain.plan.paths import TASK_PREDICTIONS
from irpretrain.report.cells import Column
from irpretrain.report.comparisons import TableTest
from irpretrain.report.naming import encoder_labels, model_label
from irpretrain.report.plans import Baseline, CellPlan, Mark, PlannedPanel, PlannedRow, TablePlan
from irpretrain.report.remarks import number_of_queries, test_text
from irpretrain.report.scores import RunName, Scores

REGIME, CANDIDATES = "full", ""
"""As in irpretrain.downstream.evaluate: fine-tuned on all examples; nothing is re-ranked."""
MEASURES = ("F1", "EM", "accuracy")
"""In the order of columns; those of tasks beside question answering too."""
AVERAGE = "average"
NOTHING_RUN = (
    "no entry of `downstream` is in this configuration (the overlay configs/downstream.yaml has SQuAD)"
)


class AnswerTable:
    """The table of question answering; `scores` are those of tasks beside retrieval."""

    def __init__(
        self, published: Published, printed: PublishedAnswers, config: Config, scores: Scores
    ) -> None:
        self.published, self.printed, self.config, self.scores = published, printed, config, scores

    def plan(self) -> TablePlan:
        tested = dict.fromkeys(name.dataset for name in self.scores.names())
        here = [task for task in tested if task not in self.printed.tasks]
        panels = [self._paper_panel(), *map(self._panel_here, here)]
        return TablePlan.of_paper(self.published, self.printed, panels, self._notes(here))

    def _measures(self, task: str) -> list[str]:
        computed = self.scores.measures(task)
        return [measure for measure in MEASURES if measure in computed]

    # Panels

    def _paper_panel(self) -> PlannedPanel:
        labels = [*self.printed.tasks.values(), self.printed.average]
        columns = tuple(Column(label, self.printed.measure) for label in labels)
        rows = (self._row(row, self._their_cells(row), not row.values) for row in self.printed.rows)
        return PlannedPanel("Data sets of the paper", columns, tuple(rows))

    def _their_cells(self, row: PublishedAnswerRow) -> Iterable[CellPlan]:
        """A cell for each task, and their mean, where all of them were run."""
        columns = [*self.printed.tasks, AVERAGE]
        printed = dict(zip(columns, map(PublishedValue.of_percent, row.values), strict=False))
        plans = [
            self._plan(row, task, self.printed.measure, printed=printed.get(task))
            for task in self.printed.tasks
        ]
        mean = CellPlan(
            row.key,
            AVERAGE,
            CANDIDATES,
            self.printed.measure,
            REGIME,
            mean_of=tuple(plans),
            printed=printed.get(AVERAGE),
            alone="the paper has no such row",
        )
        return [*plans, mean]

    def _panel_here(self, task: str) -> PlannedPanel:
        label, measures = self._task_label(task), self._measures(task)
        rows = [
            self._row(row, [self._plan(row, task, measure) for measure in measures])
            for row in self.printed.rows
            if row.values or self._model(row) is not None
        ]
        columns = tuple(Column(label, measure) for measure in measures)
        return PlannedPanel(f"This configuration: {label}", columns, tuple(rows))

    def _row(
        self, row: PublishedAnswerRow, plans: Iterable[CellPlan], is_optional: bool = False
    ) -> PlannedRow:
        return PlannedRow(row.key, row.label, self._filled_by(row), tuple(plans), is_optional)

    def _task_label(self, task: str) -> str:
        task_config = self.config.downstream_tasks.get(task)
        return task if task_config is None else task_config.label

    # Cells

    def _model(self, row: PublishedAnswerRow) -> str | None:
        return next((name for name in row.models if name in self.config.models), None)

    def _plan(self, row: PublishedAnswerRow, task: str, measure: str, **printed: Any) -> CellPlan:
        run = RunName(task, CANDIDATES, self._model(row) or "", REGIME)
        reason = self._reason(row, run, measure)
        others = [other for other in self.printed.rows if other.key != row.key and self._model(other)]
        runs = [
            (other, RunName(task, CANDIDATES, self._model(other) or "", REGIME))
            for other in (others if row.key == self.printed.marked else ())
        ]
        mark = self.printed.mark
        return CellPlan(
            row.key,
            task,
            CANDIDATES,
            measure,
            REGIME,
            None if reason else run,
            reason,
            tuple(Baseline(mark, self._name(other), name) for other, name in runs),
            counted="questions" if measure in MEASURES[:2] else "examples",
            source=TASK_PREDICTIONS.format(task=task, model=run.model, seed="{seed}"),
            marks=tuple(
                Mark(mark, self._name(other), self._reason(other, name, measure))
                for other, name in (runs if measure == self.printed.measure else ())
            ),
            **printed,
        )

    def _reason(self, row: PublishedAnswerRow, run: RunName, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if self.scores.get(run, measure) is not None:
            return ""
        if run.dataset in self.config.absent_tasks:
            return self.config.absent_tasks[run.dataset]
        if not self.scores.names():
            return NOTHING_RUN
        if not run.model:
            return row.absent
        label = self.printed.tasks.get(run.dataset, run.dataset)
        return f"no entry of `downstream` fine-tunes {run.model} for {label} ({run.dataset})"

    # Names and notes

    def _filled_by(self, row: PublishedAnswerRow) -> str:
        model = self._model(row)
        if row.stands_for:
            stands = next(other.label for other in self.printed.rows if other.key == row.stands_for)
            return (
                f"ours, in place of {stands}; encoder {encoder_labels(self.config, [model] if model else [])}"
            )
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
            f"{self.published.verdict.tolerance:g} of our mean. On other data the mark is reproduced when "
            "ours is significantly better too.",
            "Measures: F1 of the words of an answer and EM, exact match, as SQuAD and MRQA define them (the best of "
            "the accepted answers).",
            *(
                f"{self._task_label(task)}: {number_of_queries(self.scores, task):,} tested examples."
                for task in here
            ),
            *self.printed.remarks,
            *self.config.report.notes,
        ]
