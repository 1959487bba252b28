"""The papers' tables of another form: question answering (PHP, table 4), and re-ranking at several depths (DeepCT,
table 4)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from irpretrain.config import Config
from irpretrain.config.labels import regime_label
from irpretrain.config.papers import Published, PublishedAnswers, PublishedColumn, PublishedRow
from irpretrain.config.printed import PublishedDepths, PublishedIndex, PublishedValue
from irpretrain.evaluation.answers import NO_CANDIDATES
from irpretrain.evaluation.evaluate import at_depth, depth_of
from irpretrain.evaluation.significance import CONFIDENCE
from irpretrain.foundation.errors import count_of
from irpretrain.report.cells import Cell, CellValues, Column, Panel, Row, Table
from irpretrain.report.paper_table import PaperTable
from irpretrain.report.remarks import measures_text, number_of_queries, test_text
from irpretrain.report.scores import FIRST_STAGE, Baseline, Pair, RunName, Scores, TableTest, ordered_measures
from irpretrain.workflow.plan.paths import TASK_PREDICTIONS

# The table of question answering: models fine-tuned for tasks beside retrieval (PHP, table 4).


# In the order of columns.
MEASURES = ("F1", "EM")
NOTHING_RUN = (
    "no entry of `downstream` is in this configuration (the overlay configs/downstream.yaml has SQuAD)"
)


class AnswerTable(PaperTable):
    """The table of question answering; `scores` are those of tasks beside retrieval."""

    def __init__(
        self, published: Published, answers: PublishedAnswers, config: Config, scores: Scores
    ) -> None:
        super().__init__(published, answers, config, scores)
        self.answers = answers

    def build(self) -> Table:
        tested_tasks = dict.fromkeys(name.dataset for name in self.scores.runs())
        our_pairs = [(task, NO_CANDIDATES) for task in tested_tasks if task not in self.answers.tasks]
        return self._table_of(
            [self._paper_panel(), *map(self._panel_of_pair, our_pairs)], self._notes(our_pairs)
        )

    def _heading(self, column: PublishedColumn) -> str:
        return self.answers.tasks[column.dataset]

    def _group_of_pair(self, pair: Pair, regime: str) -> str:
        return self._label_of_pair(pair)

    def _label_of_pair(self, pair: Pair) -> str:
        task = self.config.downstream_tasks.get(pair[0])
        return pair[0] if task is None else task.label

    def _measures(self, dataset: str) -> list[str]:
        computed = self.scores.measures(dataset)
        return [measure for measure in MEASURES if measure in computed]

    def _cell(self, row: PublishedRow, pair: Pair, measure: str, regime: str) -> Cell:
        cell = super()._cell(row, pair, measure, regime)
        results = self.scores.get(cell.run, measure) if cell.run else None
        if cell.run is None or results is None:
            return cell
        source = TASK_PREDICTIONS.format(task=pair[0], model=cell.run.model, seed=results.seeds[0])
        return replace(cell, unit="questions", source=source)

    def _other_setting(self, published_value: PublishedValue | None, run: RunName | None) -> str:
        # The paper gives no recipe of fine-tuning for these tasks.
        return ""

    def _reason(
        self, row: PublishedRow, dataset: str, candidates: str, run: RunName | None, measure: str
    ) -> str:
        if run is not None and self.scores.get(run, measure) is not None:
            return ""
        if dataset in self.config.absent_tasks:
            return self.config.absent_tasks[dataset]
        if not self.scores.runs():
            return NOTHING_RUN
        if run is None:
            return row.absent
        label = self.answers.tasks.get(dataset, dataset)
        return f"no entry of `downstream` fine-tunes {run.model} for {label} ({dataset})"

    def _notes(self, our_pairs: Sequence[Pair]) -> list[str]:
        return [
            f"Published: {self.table.protocol} Shares stand for percent here. Marks: † better than every other row, "
            f"{self.table.test}.",
            f"Ours: mean [{CONFIDENCE:.0%} interval] over the tested half. Same mark against the rows that "
            f"are run, {test_text(TableTest())}.",
            "Measures: F1 of the words of an answer and EM, exact match, as SQuAD and MRQA define them (the best of "
            "the accepted answers).",
            *(
                f"{self._label_of_pair(pair)}: {number_of_queries(self.scores, pair[0]):,} tested examples."
                for pair in our_pairs
            ),
        ]


# The table of depths: recall of two indexes' candidates, and re-rankers over so many of them (DeepCT, table 4).


PAPER_PANEL = "Data sets of the paper"
# Ours is significantly better over this index than over the first.
BETTER_MARK = "↑"
NO_DEPTHS = "no experiment of this configuration has depths"


class _ColumnSeries(NamedTuple):
    """Columns of one measure of one ranking, a column an index; without a model the candidates themselves.

    An empty measure stands for recall of the candidates, whose cut-off is the depth. `key` is that of the paper's
    re-ranker.
    """

    label: str
    model: str | None
    regime: str
    measure: str = ""
    key: str = ""

    @property
    def heading(self) -> str:
        return f"{self.label}, {self.measure}" if self.measure else self.label

    def run(self, dataset: str, first_stage: str, depth: int) -> RunName:
        model = first_stage if self.model is None else self.model
        return RunName(dataset, at_depth(first_stage, depth), model, self.regime)


RECALL = _ColumnSeries("Recall", None, FIRST_STAGE)


class DepthTable:
    """The table of depths; `scores` are those of the experiments at several depths."""

    def __init__(
        self, published: Published, published_table: PublishedDepths, config: Config, scores: Scores
    ) -> None:
        self.published, self.table, self.config, self.scores = published, published_table, config, scores
        self.datasets = list(dict.fromkeys(name.dataset for name in scores.runs()))
        self.paper_indexes = list(published_table.indexes.values())
        self.values = CellValues(config, scores, TableTest())

    def build(self) -> Table:
        panels = [self._panel(PAPER_PANEL, self.table.dataset, self.paper_indexes, self._paper_series())]
        for dataset in self.datasets:
            title = f"This configuration: {self.config.dataset_label(dataset)}"
            indexes = self._indexes(dataset)
            panels.append(self._panel(title, dataset, indexes, self._series(dataset, indexes)))
        table = Table.of_paper(self.published, self.table, panels, self._notes(), self.config)
        return table.with_ledger(self.config, self.scores)

    # What is in columns and rows

    def _paper_series(self) -> list[_ColumnSeries]:
        series = [RECALL]
        for key, reranker in self.table.rerankers.items():
            model = next((name for name in reranker.models if name in self.config.models), "")
            measured_regimes = {name.regime for name in self.scores.runs() if name.model == model}
            known_regimes = (regime for regime in reranker.regimes if regime in measured_regimes)
            regime = next(known_regimes, reranker.regimes[0])
            series.append(_ColumnSeries(reranker.label, model, regime, self.table.measure, key))
        return series

    def _indexes(self, dataset: str) -> list[PublishedIndex]:
        """What candidates of a data set come from: the paper's indexes, then other first stages that experiments at
        several depths name."""
        stages: dict[str, None] = {}
        for experiment in self.config.active_experiments.values():
            if experiment.depths and experiment.dataset == dataset:
                stages |= dict.fromkeys([experiment.candidates, *experiment.first_stages])
        labels, paper_stages = self.config.stage_labels, {i.first_stage for i in self.paper_indexes}
        return [
            *(index for index in self.paper_indexes if self._runs(dataset, [index])),
            *(
                PublishedIndex(label=labels[stage], first_stage=stage)
                for stage in stages
                if stage not in paper_stages
            ),
        ]

    def _runs(self, dataset: str, indexes: list[PublishedIndex]) -> list[RunName]:
        stages = {index.first_stage for index in indexes}
        return [
            run
            for run in self.scores.runs()
            if run.dataset == dataset and run.candidates.rpartition("@")[0] in stages
        ]

    def _series(self, dataset: str, indexes: list[PublishedIndex]) -> list[_ColumnSeries]:
        runs = self._runs(dataset, indexes)
        rankings: list[tuple[str, str | None, str]] = [("Not re-ranked", None, FIRST_STAGE)]
        for model, regime in sorted({(run.model, run.regime) for run in runs if run.regime != FIRST_STAGE}):
            rankings.append((f"{self.config.model_label(model)}, {regime_label(regime)}", model, regime))
        measures = self._measures(dataset)
        return [RECALL, *(_ColumnSeries(*ranking, measure) for ranking in rankings for measure in measures)]

    def _measures(self, dataset: str) -> list[str]:
        depths = {f"R@{depth}" for depth in self._depths(dataset)}
        configured = self.config.datasets[dataset].measures if dataset in self.config.datasets else []
        computed = ordered_measures(self.config, self.scores, dataset)
        return [measure for measure in computed if measure in configured or measure not in depths]

    def _depths(self, dataset: str) -> list[int]:
        return sorted({depth_of(run.candidates) for run in self.scores.runs() if run.dataset == dataset})

    def _panel(
        self, title: str, dataset: str, indexes: list[PublishedIndex], series: list[_ColumnSeries]
    ) -> Panel:
        published_rows = {row.depth: row for row in self.table.rows if title == PAPER_PANEL}

        def make_cell(depth: int, column: tuple[_ColumnSeries, int]) -> Cell:
            series_of_column, position = column
            baseline_run, run = (
                series_of_column.run(dataset, index.first_stage, depth)
                for index in (indexes[0], indexes[position])
            )
            measure = series_of_column.measure or f"R@{depth}"
            reason = self._reason(series_of_column, run, measure)
            published_row = published_rows.get(depth)
            cell = Cell(
                str(depth),
                run.dataset,
                run.candidates,
                measure,
                series_of_column.regime,
                None if reason else run,
                reason,
                (Baseline(BETTER_MARK, indexes[0].label, baseline_run),) if position else (),
                published=published_row.values(series_of_column.key)[position] if published_row else None,
            )
            return self.values.fill(cell)

        columns = {
            (series_of_column, position): Column(series_of_column.heading, index.label)
            for series_of_column in series
            for position, index in enumerate(indexes)
        }
        rows = {depth: Row(str(depth), str(depth)) for depth in published_rows or self._depths(dataset)}
        return Panel.of(title, rows, columns, make_cell, "Depth")

    def _reason(self, series: _ColumnSeries, run: RunName, measure: str) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if self.scores.get(run, measure) is not None:
            return ""
        if run.dataset not in self.config.datasets:
            dataset = self.published.datasets[run.dataset]
            return f"data set {dataset.label} is not in this configuration: {dataset.absent}"
        if not self.datasets:
            return NO_DEPTHS
        if series.key and not series.model:
            return self.table.rerankers[series.key].absent
        return f"no experiment measures it at this depth on {run.dataset}"

    def _notes(self) -> list[str]:
        datasets = self.datasets
        panels = [self.paper_indexes, *(self._indexes(dataset) for dataset in datasets)]
        baseline_labels = " or ".join(dict.fromkeys(indexes[0].label for indexes in panels))
        configured_measures = (measure for dataset in datasets for measure in self._measures(dataset))
        measures = measures_text([self.table.measure, *configured_measures])
        labels = self.config.stage_labels
        stages = ", ".join(
            f"{index.label}: {labels.get(index.first_stage, index.first_stage)}"
            for index in self.table.indexes.values()
        )
        return [
            f"Published: {self.table.protocol}. Shares stand for percent here.",
            f"Ours: mean [{CONFIDENCE:.0%} interval, bootstrap over queries]. {BETTER_MARK} better "
            f"than over {baseline_labels} at the same depth; {test_text(TableTest())}. Recall is the mean over "
            "queries of the "
            "share of relevant documents among the candidates.",
            f"Candidates: {stages}. Models read one query and one document at a time, so a ranking at a smaller depth "
            "is that of the largest without the documents beyond it.",
            f"Measures: {measures}",
            *(
                f"{self.config.dataset_label(dataset)}: {count_of(number_of_queries(self.scores, dataset), 'query')}."
                for dataset in datasets
            ),
        ]
