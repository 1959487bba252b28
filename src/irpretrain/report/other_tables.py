"""The papers' tables of another form: question answering (PHP, table 4), and re-ranking at several depths (DeepCT,
table 4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from irpretrain.config import Config
from irpretrain.config.usage import active_experiments
from irpretrain.evaluation.evaluate import at_depth, depth_of
from irpretrain.evaluation.significance import CONFIDENCE
from irpretrain.papers.base import PublishedValue
from irpretrain.papers.other_tables import PublishedDepth, PublishedDepths, PublishedIndex
from irpretrain.papers.published import Published, PublishedAnswers, PublishedColumn, PublishedRow
from irpretrain.plan.paths import TASK_PREDICTIONS
from irpretrain.report.cells import Baseline, Cell, Column, Panel, Row, Table
from irpretrain.report.comparisons import TableTest
from irpretrain.report.naming import (
    dataset_label,
    first_stage_labels,
    model_label,
    ordered_measures,
    regime_label,
)
from irpretrain.report.paper_table import PaperTable
from irpretrain.report.remarks import measures_text, number_of_queries, test_text
from irpretrain.report.scores import FIRST_STAGE, Pair, RunName, Scores

# The table of question answering: models fine-tuned for tasks beside retrieval (PHP, table 4).


# As in irpretrain.downstream.evaluate: nothing is re-ranked.
NO_CANDIDATES = ""
# In the order of columns; those of tasks beside question answering too.
MEASURES = ("F1", "EM", "accuracy")
AVERAGE = "average"
NOTHING_RUN = (
    "no entry of `downstream` is in this configuration (the overlay configs/downstream.yaml has SQuAD)"
)


class AnswerTable(PaperTable):
    """The table of question answering; `scores` are those of tasks beside retrieval."""

    def __init__(
        self, published: Published, answers: PublishedAnswers, config: Config, scores: Scores
    ) -> None:
        super().__init__(published, answers.table(), config, scores)
        self.answers = answers

    def describe(self) -> Table:
        tested = dict.fromkeys(name.dataset for name in self.scores.names())
        here = [(task, NO_CANDIDATES) for task in tested if task not in self.answers.tasks]
        panels = [self._with_means(self._paper_panel()), *map(self._panel_here, here)]
        return Table.of_paper(self.published, self.table, panels, self._notes(here), self.config)

    def _with_means(self, panel: Panel) -> Panel:
        """The panel of the paper with a column of the means over its tasks, where all of them were run."""
        rows = []
        for row in panel.rows:
            cells = tuple(cell for cell in row.cells if isinstance(cell, Cell))
            mean = replace(cells[0], dataset=AVERAGE, mean_of=cells, published=self.answers.mean(row.key))
            rows.append(replace(row, cells=(*cells, replace(mean, run=None, baselines=()))))
        return replace(
            panel,
            columns=(*panel.columns, Column(self.answers.average, self.answers.measure)),
            rows=tuple(rows),
        )

    def _group(self, column: PublishedColumn) -> str:
        return self.answers.tasks[column.dataset]

    def _group_here(self, pair: Pair, regime: str) -> str:
        return self._label_here(pair)

    def _label_here(self, pair: Pair) -> str:
        task = self.config.downstream_tasks.get(pair[0])
        return pair[0] if task is None else task.label

    def _measures(self, dataset: str) -> list[str]:
        computed = self.scores.measures(dataset)
        return [measure for measure in MEASURES if measure in computed]

    def _cell(self, row: PublishedRow, pair: Pair, measure: str, regime: str) -> Cell:
        model = self._model(row) or ""
        return replace(
            super()._cell(row, pair, measure, regime),
            counted="questions" if measure in MEASURES[:2] else "examples",
            source=TASK_PREDICTIONS.format(task=pair[0], model=model, seed="{seed}"),
        )

    def _other_setting(self, printed: PublishedValue | None, run: RunName | None) -> str:
        # The paper gives no recipe of fine-tuning for these tasks.
        return ""

    def _reason(
        self, row: PublishedRow, dataset: str, candidates: str, run: RunName | None, measure: str
    ) -> str:
        if run is not None and self.scores.get(run, measure) is not None:
            return ""
        if dataset in self.config.absent_tasks:
            return self.config.absent_tasks[dataset]
        if not self.scores.names():
            return NOTHING_RUN
        if run is None:
            return row.absent
        label = self.answers.tasks.get(dataset, dataset)
        return f"no entry of `downstream` fine-tunes {run.model} for {label} ({dataset})"

    def _notes(self, here: Sequence[Pair]) -> list[str]:
        mark, evaluation = self.answers.mark, self.config.evaluation
        return [
            f"Published: {self.table.protocol} Shares stand for percent here. Marks: {mark} better than every other "
            f"row, {self.table.test}.",
            f"Ours: mean [{CONFIDENCE:.0%} interval] over the tested half. Same mark against the rows that "
            f"are run, {test_text(TableTest.of(evaluation))}.",
            "Measures: F1 of the words of an answer and EM, exact match, as SQuAD and MRQA define them (the best of "
            "the accepted answers).",
            *(
                f"{self._label_here(pair)}: {number_of_queries(self.scores, pair[0]):,} tested examples."
                for pair in here
            ),
        ]


# The table of depths: recall of two indexes' candidates, and re-rankers over so many of them (DeepCT, table 4).


# Ours is significantly better over this index than over the first.
MARK = "↑"
# Series that no re-ranker makes.
RECALL, CANDIDATES = "recall", "candidates"
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

    def describe(self) -> Table:
        theirs = {row.depth: row for row in self.printed.rows}
        depths = list(theirs)
        series, title = self._their_series(), "Data sets of the paper"
        printed = self.printed.dataset
        here = [d for d in self.datasets if d != printed or not self._fits(series, depths)]
        panels = [self._panel(title, printed, self.theirs, depths, series, theirs)]
        for dataset in here:
            title = f"This configuration: {dataset_label(self.config, dataset)}"
            indexes = self._indexes(dataset)
            displayed = self._series(dataset, indexes)
            panels.append(self._panel(title, dataset, indexes, self._depths(dataset), displayed, {}))
        return Table.of_paper(self.published, self.printed, panels, self._notes(here), self.config)

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
        models = {(displayed.model, displayed.regime) for displayed in series.values()}
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
        computed = ordered_measures(self.config, self.scores, dataset)
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
        printed: dict[int, PublishedDepth],
    ) -> Panel:
        columns = [Column(shown.heading, index.label) for shown in series.values() for index in indexes]
        rows = []
        for depth in depths:
            cells = []
            for key, shown in series.items():
                theirs = printed[depth].values(key) if depth in printed else []
                runs = [shown.run(dataset, index.first_stage, depth) for index in indexes]
                measure = shown.measure or f"R@{depth}"
                baseline = Baseline(MARK, indexes[0].label, runs[0])
                for position, run in enumerate(runs):
                    reason = self._reason(dataset, shown, run, measure)
                    cells.append(
                        Cell(
                            str(depth),
                            dataset,
                            run.candidates,
                            measure,
                            shown.regime,
                            None if reason else run,
                            reason,
                            (baseline,) if position else (),
                            published=theirs[position] if theirs else None,
                        )
                    )
            rows.append(Row(str(depth), str(depth), "", tuple(cells)))
        return Panel(title, tuple(columns), tuple(rows), "Depth")

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
        displayed = (measure for dataset in datasets for measure in self._measures(dataset))
        measures = measures_text([self.printed.measure, *displayed])
        labels = first_stage_labels(self.config)
        stages = ", ".join(
            f"{index.label}: {labels.get(index.first_stage, index.first_stage)}"
            for index in self.printed.indexes.values()
        )
        return [
            f"Published: {self.printed.protocol}. Shares stand for percent here.",
            f"Ours: mean [{CONFIDENCE:.0%} interval, bootstrap over queries]. {MARK} better "
            f"than over {first} at the same depth; {test_text(level)}. Recall is the mean over queries of the "
            "share of relevant documents among the candidates.",
            f"Candidates: {stages}. Models read one query and one document at a time, so a ranking at a smaller depth "
            "is that of the largest without the documents beyond it.",
            f"Measures: {measures}",
            *(
                f"{dataset_label(self.config, dataset)}: {number_of_queries(self.scores, dataset):,} queries."
                for dataset in datasets
            ),
        ]
