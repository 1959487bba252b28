"""A paper's table: published numbers and ours, side by side.

There are two kinds of panels: the paper's data sets (each cell with the printed value, and ours where this
configuration runs that data set), and the data sets of this configuration."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from irpretrain.config import Config
from irpretrain.config.base import leaves
from irpretrain.config.finetuning import FinetuningConfig, keys_unread_by
from irpretrain.config.labels import regime_label
from irpretrain.config.papers import Published, PublishedColumn, PublishedRow, PublishedTable, read_recipe
from irpretrain.config.printed import PublishedValue
from irpretrain.config.run import Run
from irpretrain.config.training import SequenceConfig
from irpretrain.foundation.errors import first_names
from irpretrain.report.cells import (
    AnyCell,
    Cell,
    CellValues,
    Column,
    Panel,
    Row,
    Table,
    outcomes_cell,
)
from irpretrain.report.remarks import table_notes
from irpretrain.report.scores import FIRST_STAGE, Baseline, Pair, RunName, Scores, TableTest, ordered_measures

# Keys of `finetuning` that say nothing of a recipe.
NOT_IN_RECIPES = {"recipe", "keep_models", "compute"}
# Most keys that a note names.
MAX_KEYS = 3


def other_recipe(config: Config, paper: str, model: str, regime: str) -> str:
    """Return the note on a number of ours that is not by the paper's recipe; empty where it is."""
    keys = recipe_differences(config, paper, model, regime)
    if not keys:
        return ""
    key_names = first_names(keys, MAX_KEYS)
    return f"not by the recipe {paper}, which configs/{paper}-paper.yaml has: other {key_names}"


def recipe_differences(config: Config, paper: str, model: str, regime: str) -> list[str]:
    """Return the keys whose values are not those of a paper's recipe, where a number depends on them.

    A paper may have a recipe for long queries too (`<paper>-...`), which counts where it is chosen. Zero-shot numbers
    depend on the lengths of query and document, others on fine-tuning too, and those of first stages on neither.
    Recipes are those of cross-encoders, so lengths do not count for rankers over words, nor keys that they set for
    themselves. DeepCT has no recipe, and no difference.
    """
    configured_recipe = config.finetuning.recipe
    recipe = read_recipe(configured_recipe if configured_recipe.startswith(f"{paper}-") else paper)
    if recipe is None or regime == FIRST_STAGE:
        return []
    name = model.partition("@")[0]
    length_keys, ignored_keys = list[str](), NOT_IN_RECIPES | keys_unread_by(regime)
    if config.models[name].neural is not None:
        ignored_keys |= SequenceConfig.model_fields.keys() | config.models[name].finetuning.keys()
    else:
        lengths = config.reranking_of(name, regime).model_dump()
        length_keys = [
            f"reranking.{key}" for key, value in recipe["reranking"].items() if lengths[key] != value
        ]
    if regime == "zero-shot":
        return length_keys
    recipe_options = FinetuningConfig.model_validate(recipe["finetuning"]).model_dump(exclude=ignored_keys)
    our_options = dict(leaves(config.finetuning_of(name).model_dump(exclude=ignored_keys)))
    keys = [f"finetuning.{key}" for key, value in leaves(recipe_options) if our_options[key] != value]
    return keys + length_keys


class _Column(NamedTuple):
    """A column: values, or wins, ties and losses; without a regime each row has the first of its own."""

    pair: Pair
    measure: str
    regime: str | None
    is_tally: bool = False


class PaperTable:
    """One table of a paper: printed values, what fills them here, and marks."""

    def __init__(self, published: Published, table: PublishedTable, config: Config, scores: Scores) -> None:
        self.published, self.table, self.config, self.scores = published, table, config, scores
        self._measured_runs, self._pairs = set(scores.runs()), scores.pairs()
        self.values = CellValues(config, scores, TableTest.of(table))

    def build(self) -> Table:
        # A data set that the paper reports in other tables has its panel there.
        elsewhere = self.published.datasets.keys() - {column.dataset for column in self.table.columns}
        our_pairs = [pair for pair in self._pairs if pair[0] not in elsewhere and self._measures(pair[0])]
        panels = [self._paper_panel(), *map(self._panel_of_pair, our_pairs)]
        return self._table_of([panel for panel in panels if panel.rows] or panels[:1], self._notes(our_pairs))

    def _table_of(self, panels: list[Panel], notes: list[str]) -> Table:
        table = Table.of_paper(self.published, self.table, panels, notes, self.config)
        return table.with_ledger(self.config, self.scores)

    def _notes(self, our_pairs: list[Pair]) -> list[str]:
        columns = self.table.columns
        published_pairs = [
            (column.dataset, column.candidates)
            for column in columns
            if (column.dataset, column.candidates) in self._pairs
        ]
        measures = dict.fromkeys(column.measure for column in columns)
        measures |= dict.fromkeys(measure for dataset, _ in our_pairs for measure in self._measures(dataset))
        return table_notes(
            self.table, self.config, self.scores, [*published_pairs, *our_pairs], list(measures)
        )

    # Rows and columns

    def _paper_panel(self) -> Panel:
        columns = {
            _Column((column.dataset, column.candidates), column.measure, column.regime): self._heading(column)
            for column in self.table.columns
        }
        panel = self._panel("Data sets of the paper", self.table.rows, columns)
        rows = (row for row in panel.rows if self.table.row(row.key).values or row.is_filled())
        return replace(panel, rows=tuple(rows))

    def _panel_of_pair(self, pair: Pair) -> Panel:
        regimes = self._regimes(*pair)
        rows = [
            row
            for row in self.table.rows
            if (row.values or self._model(row, pair[0]) is not None)
            and (row.is_first_stage or regimes != [FIRST_STAGE])
        ]
        columns = {
            _Column(pair, measure, regime): self._group_of_pair(pair, regime)
            for regime in regimes
            for measure in self._measures(pair[0])
        }
        return self._panel(f"This configuration: {self._label_of_pair(pair)}", rows, columns)

    def _panel(self, title: str, rows: Iterable[PublishedRow], groups: Mapping[_Column, str]) -> Panel:
        columns = {}
        for column, group in groups.items():
            columns[column] = Column(group, column.measure)
            if self.table.counts_outcomes(column.measure):
                columns[column._replace(is_tally=True)] = Column(group, f"{column.measure} W/T/L")
        headings = {row.key: Row(row.key, self._label(row), self._filled_by(row)) for row in rows}
        return Panel.of(title, headings, columns, self._make_cell)

    def _make_cell(self, key: str, column: _Column) -> AnyCell:
        row = self.table.row(key)
        cell = self.values.fill(self._cell(row, column.pair, column.measure, row.regime_in(column.regime)))
        if self.table.outcomes is None or not column.is_tally:
            return cell
        return outcomes_cell(cell, self.table.outcomes.mark)

    def _heading(self, column: PublishedColumn) -> str:
        label_parts = [self.published.datasets[column.dataset].label]
        if len({c.candidates for c in self.table.columns if c.dataset == column.dataset}) > 1:
            label_parts.append(self.published.candidates.get(column.candidates, column.candidates))
        if column.regime is not None:
            label_parts.append(regime_label(column.regime))
        return ", ".join(label_parts)

    def _group_of_pair(self, pair: Pair, regime: str) -> str:
        return f"{self._label_of_pair(pair)}, {regime_label(regime)}"

    def _label_of_pair(self, pair: Pair) -> str:
        return self.config.dataset_label(*pair)

    def _measures(self, dataset: str) -> list[str]:
        return ordered_measures(self.config, self.scores, dataset)

    def _regimes(self, dataset: str, candidates: str) -> list[str]:
        models = {self._model(row, dataset) for row in self.table.rows}
        reranked = self.scores.reranked((dataset, candidates))
        measured_regimes = {run.regime for run in reranked if run.model in models}
        regimes = dict.fromkeys(column.regime for column in self.table.columns if column.regime)
        regimes |= dict.fromkeys(regime for row in self.table.rows for regime in row.regimes)
        return [regime for regime in regimes if regime in measured_regimes] or [FIRST_STAGE]

    # Cells

    def _model(self, row: PublishedRow, dataset: str = "") -> str | None:
        """What fills a row: the first of its models (or of those on this data set) that there is. A first stage of one
        data set alone, as one whose queries are weighed by a model of that data set, is called after it:
        <model>-<dataset>."""
        stages = self.config.stage_labels
        models = row.by_dataset.get(dataset, row.models)
        stages_of_dataset = (f"{model}-{dataset}" for model in models if f"{model}-{dataset}" in stages)
        known_models = (model for model in models if model in self.config.models or model in stages)
        return next(chain(stages_of_dataset, known_models), None)

    def _run(self, row: PublishedRow, dataset: str, candidates: str, regime: str) -> RunName | None:
        """The run that fills a row; a first stage is the same run in every regime."""
        model = self._model(row, dataset)
        if model is None:
            return None
        if model in self.config.stage_labels:
            # The row may also name the order in which the candidates are given.
            if candidates in self.published.candidates:
                model = Run(self.config, dataset, candidates).stage_beside(model)
            return None if model is None else self.scores.first_stage(dataset, model)
        return RunName(dataset, candidates, model, regime)

    def _best_run(self, row: PublishedRow, pair: Pair, measure: str, regime: str) -> RunName | None:
        runs = (RunName(*pair, model, regime) for model in row.models if row.is_best)
        means = {run: results.mean for run in runs if (results := self.scores.get(run, measure))}
        return max(means, key=lambda run: means[run], default=None)

    def _cell(self, row: PublishedRow, pair: Pair, measure: str, regime: str) -> Cell:
        run = self._best_run(row, pair, measure, regime) or self._run(row, *pair, regime)
        reason = self._reason(row, *pair, run, measure)
        baselines = []
        for mark in self.table.marks:
            baseline_row = self.table.row(mark.over)
            baseline_run = self._run(baseline_row, *pair, regime)
            if baseline_run is not None and self.table.can_have(row.key, mark):
                baselines.append(
                    Baseline(mark.mark, self._baseline_label(baseline_row), baseline_run, mark.direction)
                )
        cell_key = (row.key, pair[0], measure, pair[1], regime)
        published_value = self.table.value(*cell_key)
        return Cell(
            row.key,
            *pair,
            measure,
            regime,
            None if reason else run,
            reason,
            tuple(baselines),
            published=published_value,
            gap=self.table.gap(*cell_key),
            printed_outcomes=self.table.printed_outcomes(row.key, pair[0], measure),
            other_setting=self._other_setting(published_value, None if reason else run),
        )

    def _other_setting(self, published_value: PublishedValue | None, run: RunName | None) -> str:
        """Why a printed number is not compared with ours: another recipe."""
        if published_value is None or run is None:
            return ""
        return other_recipe(self.config, self.published.paper, run.model, run.regime)

    def _reason(
        self, row: PublishedRow, dataset: str, candidates: str, run: RunName | None, measure: str
    ) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if not row.models and dataset not in row.by_dataset:
            return row.absent
        if dataset not in self.config.datasets:
            if (published_dataset := self.published.datasets.get(dataset)) is None:
                return f"data set {dataset} is not in this configuration"
            return (
                f"data set {published_dataset.label} is not in this configuration: {published_dataset.absent}"
            )
        if run is not None and self.scores.get(run, measure) is not None:
            return ""
        for absence in self.config.absent.values():
            if (absence.dataset, absence.candidates) == (dataset, candidates):
                return absence.reason
        stages = self.config.stage_labels
        paper_candidates = self.published.candidates.get(candidates, "")
        model = self._model(row, dataset)
        if run is None:
            if paper_candidates and row.is_first_stage and model in stages:
                return f"the paper ranks {paper_candidates} alone; no experiment has a first stage {model}-{candidates}"
            return row.absent if model is None else f"no experiment runs this first stage on {dataset}"
        if run.model in stages:
            return row.absent
        if run in self._measured_runs:
            return f"{measure} is not among the measures of {dataset}"
        if paper_candidates and (dataset, candidates) not in self._pairs:
            return f"the paper re-ranks {paper_candidates}, which no experiment on {dataset} does"
        regime = regime_label(run.regime)
        return f"no experiment of this table's papers runs {run.model} {regime} on {dataset}"

    def _baseline_label(self, row: PublishedRow) -> str:
        label, filled_by = self._label(row), self._filled_by(row)
        return f"{label} [here: {filled_by}]" if filled_by not in ("", label) else label

    def _label(self, row: PublishedRow) -> str:
        model = self._model(row)
        return row.label or (self.config.model_label(model) if model else row.key)

    def _filled_by(self, row: PublishedRow) -> str:
        if row.stands_for:
            replaced_rows = " and ".join(self.table.row(key).label for key in row.stands_for)
            return f"ours, in place of {replaced_rows}; encoder {self.config.encoder_labels([self._model(row) or ''])}"
        if row.is_best:
            models = self.config.models
            return "the best of " + ", ".join(models[name].label for name in row.models if name in models)
        datasets = [column.dataset for column in self.table.columns] if row.by_dataset else []
        models_of_row = dict.fromkeys(self._model(row, dataset) for dataset in ("", *datasets))
        return " or ".join(dict.fromkeys(self.config.model_label(model) for model in models_of_row if model))
