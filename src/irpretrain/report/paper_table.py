"""A paper's table: published numbers and ours, side by side.

There are two kinds of panels: the paper's data sets (each cell with the printed value, and ours where this
configuration runs that data set), and the data sets of this configuration.
"""

from __future__ import annotations

from collections.abc import Iterable

from irpretrain.config import Config
from irpretrain.config.usage import reranked_depth
from irpretrain.evaluation.measures import needs_no_order
from irpretrain.report.cells import AnyCell, Cell, Column, Ours, Panel, Row, Table, Tally, Verdict
from irpretrain.report.comparisons import TableTest
from irpretrain.report.filled_tables import is_of_ones_own
from irpretrain.report.naming import (
    USUAL_CANDIDATES,
    dataset_label,
    encoder_label,
    first_stage_labels,
    model_label,
    regime_label,
    shown_measures,
)
from irpretrain.report.plans import Baseline, Plan, Statistics
from irpretrain.report.published import (
    ILLEGIBLE,
    Published,
    PublishedColumn,
    PublishedMark,
    PublishedRow,
    PublishedTable,
    PublishedValue,
)
from irpretrain.report.recipes import differences
from irpretrain.report.remarks import table_notes
from irpretrain.report.scores import FIRST_STAGE, RunName, Scores
from irpretrain.report.verdicts import claim_verdict, not_run, nothing_published, number_verdict, other_recipe

GAPS = {
    "NA": "the paper has this cell and gives no number in it",
    ILLEGIBLE: "the paper prints a number here; our text of it does not show it",
}
"""Why a cell of the paper cannot be compared with ours."""


def build_table(published: Published, name: str, config: Config, scores: Scores) -> Table:
    """Return one table of a paper: the printed values, ours, significance marks and verdicts."""
    return _PaperTable(published, name, config, scores).build()


class _PaperTable:
    def __init__(self, published: Published, name: str, config: Config, scores: Scores) -> None:
        self.published, self.name, self.config, self.scores = published, name, config, scores
        self.table: PublishedTable = published.tables[name]
        self.statistics = Statistics(config, scores, TableTest.of(config.evaluation, self.table))
        self._known_runs, self._pairs = set(scores.names()), scores.pairs()

    def build(self) -> Table:
        here = [pair for pair in self._pairs if self._belongs_here(pair[0]) and self._measures(pair[0])]
        plans_paper = {row.key: self._paper_plans(row) for row in self.table.rows}
        plans_here = {
            pair: {row.key: self._plans_here(row, *pair) for row in self.table.rows} for pair in here
        }
        for rows in (plans_paper, *plans_here.values()):
            for plans in rows.values():
                for plan in plans:
                    self.statistics.note(plan)
        self.statistics.test()
        panels = [self._paper_panel(plans_paper)]
        panels += [self._panel_here(pair, plans) for pair, plans in plans_here.items()]
        if is_of_ones_own(self.published, self.config):
            panels = [panel for panel in panels if panel.is_filled()] or panels[:1]
        return Table(
            f"{self.published.paper}_{self.name}",
            self.published.paper,
            f"Table {self.table.number}: {self.table.title}",
            tuple(panels),
            tuple(self._notes(here)),
            f"{self.published.citation} {self.published.place(self.table.page, self.table.section)}.",
            self.published.name,
        )

    def _notes(self, here: list[tuple[str, str]]) -> list[str]:
        columns = self.table.columns
        datasets = [(c.dataset, c.candidates) for c in columns if (c.dataset, c.candidates) in self._pairs]
        measures = dict.fromkeys(c.measure for c in columns)
        measures |= dict.fromkeys(m for dataset, _ in here for m in self._measures(dataset))
        return table_notes(
            self.published, self.table, self.config, self.scores, [*datasets, *here], list(measures)
        )

    # Panel of the paper's data sets

    def _paper_plans(self, row: PublishedRow) -> list[Plan]:
        return [
            self._plan(row, c.dataset, c.candidates, c.measure, self.table.regime(row, c))
            for c in self.table.columns
        ]

    def _paper_panel(self, plans: dict[str, list[Plan]]) -> Panel:
        columns = self._columns((self._group(c), c.measure) for c in self.table.columns)
        rows = []
        for row in self.table.rows:
            cells = [self._cell(row, plan) for plan in plans[row.key]]
            if row.values or any(cell.ours for cell in cells):
                rows.append(Row(row.key, self._label(row), self._filled_by(row), self._with_tallies(cells)))
        return Panel("Data sets of the paper", columns, tuple(rows))

    def _columns(self, given: Iterable[tuple[str, str]]) -> tuple[Column, ...]:
        """(group, measure) of each column, and columns of wins, ties and losses beside their measure's."""
        found = []
        for group, measure in given:
            found.append(Column(group, measure))
            if self.table.counts_outcomes(measure):
                found.append(Column(group, f"{measure} W/T/L"))
        return tuple(found)

    def _with_tallies(self, cells: Iterable[Cell]) -> tuple[AnyCell, ...]:
        """The cells as `_columns` has them."""
        found: list[AnyCell] = []
        for cell in cells:
            found.append(cell)
            if self.table.outcomes is not None and self.table.counts_outcomes(cell.measure):
                compared = cell.ours.comparisons if cell.ours else ()
                made = (c.outcomes for c in compared if c.mark == self.table.outcomes.mark)
                found.append(Tally(cell.printed_outcomes, next(made, None)))
        return tuple(found)

    def _group(self, column: PublishedColumn) -> str:
        """The data set, with the candidates where the table has several for it, and the regime where it is given."""
        parts = [self.published.datasets[column.dataset].label]
        if len({c.candidates for c in self.table.columns if c.dataset == column.dataset}) > 1:
            parts.append(self.published.candidates.get(column.candidates, column.candidates))
        if column.regime is not None:
            parts.append(regime_label(column.regime))
        return ", ".join(parts)

    # Panels of our data sets

    def _belongs_here(self, dataset: str) -> bool:
        """Whether a data set of ours has a panel: not where the paper reports it, but in other tables."""
        of_table = {column.dataset for column in self.table.columns}
        return dataset in of_table or dataset not in self.published.datasets

    def _measures(self, dataset: str) -> list[str]:
        """All measures of a data set of ours, in the order of the configuration."""
        return shown_measures(self.config, self.scores, dataset)

    def _speaks_of(self, measure: str, dataset: str) -> bool:
        """Whether the table's claims are about a measure: it is among the table's own; where none of these was computed
        on the data set, one of them at another cut-off; where that was not either, any measure."""
        printed = {column.measure for column in self.table.columns}
        kinds = {name.partition("@")[0] for name in printed}
        computed = self._measures(dataset)
        own = [name for name in computed if name in printed]
        kin = [name for name in computed if name.partition("@")[0] in kinds]
        return measure in (own or kin or computed)

    def _regimes(self, dataset: str, candidates: str) -> list[str]:
        """Regimes that fill at least one row, in the order of the columns and then of the rows' own lists."""
        models = {self._model(row, dataset) for row in self.table.rows}
        run = {
            n.regime
            for n in self.scores.names()
            if (n.dataset, n.candidates) == (dataset, candidates) and n.model in models
        }
        wanted = dict.fromkeys(column.regime for column in self.table.columns if column.regime)
        wanted |= dict.fromkeys(r for row in self.table.rows for r in row.regimes if r != FIRST_STAGE)
        return [regime for regime in wanted if regime in run] or [FIRST_STAGE]

    def _plans_here(self, row: PublishedRow, dataset: str, candidates: str) -> list[Plan]:
        return [
            self._plan(row, dataset, candidates, measure, regime)
            for regime in self._regimes(dataset, candidates)
            for measure in self._measures(dataset)
        ]

    def _panel_here(self, pair: tuple[str, str], plans: dict[str, list[Plan]]) -> Panel:
        label = dataset_label(self.config, *pair)
        columns = self._columns(
            (f"{label}, {regime_label(regime)}", measure)
            for regime in self._regimes(*pair)
            for measure in self._measures(pair[0])
        )
        rows = [
            Row(
                row.key,
                self._label(row),
                self._filled_by(row),
                self._with_tallies(self._cell(row, plan) for plan in plans[row.key]),
            )
            for row in self.table.rows
            if (row.values or self._model(row, pair[0]) is not None)
            and (row.is_first_stage or self._regimes(*pair) != [FIRST_STAGE])
        ]
        rows += [
            Row(name, stage.label, "", self._with_tallies(self._cells_beside(name, pair)))
            for name, stage in self.config.first_stages.items()
            if self._stands_beside(name, pair[0])
        ]
        return Panel(f"This configuration: {label}", columns, tuple(rows))

    def _stands_beside(self, first_stage: str, dataset: str) -> bool:
        """Whether a first stage that fills no row of the paper has one of its own: in a table of first stages alone,
        beside those that are searched as it is, with plain or with structured queries."""
        stages = self.config.first_stages
        filling = {name for row in self.table.rows for name in row.all_models if name in stages}
        filling |= {self._model(row, dataset) or "" for row in self.table.rows}
        is_structured = stages[first_stage].model == "indri"
        return (
            all(row.is_first_stage for row in self.table.rows)
            and first_stage not in filling
            and self.scores.first_stage(dataset, first_stage) is not None
            and is_structured == any(stages[name].model == "indri" for name in filling if name in stages)
        )

    def _cells_beside(self, first_stage: str, pair: tuple[str, str]) -> Iterable[Cell]:
        run = self.scores.first_stage(pair[0], first_stage)
        verdict = nothing_published("the paper has no such row")
        for regime in self._regimes(*pair):
            for measure in self._measures(pair[0]):
                ours = self.statistics.ours(Plan(first_stage, *pair, measure, regime, run, "", ()))
                yield Cell(first_stage, pair[0], measure, regime, None, ours, (verdict,))

    # Cells

    def _model(self, row: PublishedRow, dataset: str = "") -> str | None:
        """What fills a row: the first of its models (or of those on this data set) that there is. A first stage of one
        data set alone, as one whose queries are weighed by a model of that data set, is called after it:
        <model>-<dataset>."""
        stages = first_stage_labels(self.config)
        models = row.by_dataset.get(dataset, row.models)
        own = (f"{model}-{dataset}" for model in models)
        known = (model for model in models if model in self.config.models or model in stages)
        return next((model for model in own if model in stages), None) or next(known, None)

    def _run(self, row: PublishedRow, dataset: str, candidates: str, regime: str) -> RunName | None:
        """The run that fills a row; a first stage is the same run in every regime.

        A first stage of ours searches the collection, so where the paper ranks given candidates with it none stands but
        the order in which they are given, if the row names that.
        """
        model = self._model(row, dataset)
        if model is None:
            return None
        if model in first_stage_labels(self.config):
            ranked = self.config.first_stages.get(candidates)
            given = candidates in self.published.candidates and (ranked is None or bool(ranked.runs))
            return None if given and model != candidates else self.scores.first_stage(dataset, model)
        return RunName(dataset, candidates, model, regime)

    def _plan(self, row: PublishedRow, dataset: str, candidates: str, measure: str, regime: str) -> Plan:
        run = self._run(row, dataset, candidates, regime)
        reason = self._reason(row, dataset, candidates, run, measure)
        baselines = []
        for mark in self.table.marks:
            other = self.table.row(mark.over)
            name = self._run(other, dataset, candidates, regime)
            if name is not None and self.table.can_have(row.key, mark):
                baselines.append(Baseline(mark.mark, self._name(other), name, mark.direction))
        found = None if reason else run
        return Plan(row.key, dataset, candidates, measure, regime, found, reason, tuple(baselines))

    def _reason(
        self, row: PublishedRow, dataset: str, candidates: str, run: RunName | None, measure: str
    ) -> str:
        """Why a cell has no value of ours; empty where it has one."""
        if not row.models:
            return row.absent
        if dataset not in self.config.datasets:
            known = self.published.datasets.get(dataset)
            label = known.label if known else dataset
            return f"data set {label} is not in this configuration" + (f": {known.absent}" if known else "")
        if (run is None or self.scores.get(run, measure) is None) and (
            absence := self._absence(dataset, candidates)
        ):
            return absence
        theirs = self.published.candidates.get(candidates, "")
        if run is None:
            if theirs and row.is_first_stage:
                return f"the paper ranks {theirs} alone; ours searches the whole collection"
            model = self._model(row, dataset)
            return row.absent if model is None else f"no experiment runs this first stage on {dataset}"
        if self.scores.get(run, measure) is not None:
            return ""
        if run.model in first_stage_labels(self.config):
            return row.absent
        if run in self._known_runs:
            return f"{measure} is not among the measures of {dataset}"
        if run.regime == FIRST_STAGE:
            return f"no experiment runs {run.model} on {dataset}"
        same = (dataset, candidates) in self._pairs
        return (not same and self._other_candidates(dataset, theirs)) or (
            f"no experiment runs {run.model} {regime_label(run.regime)} on {dataset}"
        )

    def _absence(self, dataset: str, candidates: str) -> str:
        """Why no experiment re-ranks these candidates, where files of the data set are missing; else empty."""
        found = self.config.absent.values()
        return next((a.reason for a in found if (a.dataset, a.candidates) == (dataset, candidates)), "")

    def _other_candidates(self, dataset: str, theirs: str) -> str:
        """What is re-ranked here in place of the paper's candidates; empty where it names none of its own."""
        if not theirs:
            return ""
        ours = [first_stage_labels(self.config).get(c, c) for d, c in self._pairs if d == dataset]
        if not ours:
            return f"the paper re-ranks {theirs}, which this configuration does not have"
        panel = f"see the panel of {dataset_label(self.config, dataset)} below"
        return (
            f"the paper re-ranks {theirs}, this configuration the candidates of {' and '.join(ours)}; {panel}"
        )

    def _cell(self, row: PublishedRow, plan: Plan) -> Cell:
        published = self.table.value(row.key, plan.dataset, plan.measure, plan.candidates, plan.regime)
        ours = self.statistics.ours(plan)
        verdicts = tuple(self._verdicts(row, plan, published, ours))
        candidates = "" if plan.candidates == USUAL_CANDIDATES else plan.candidates
        gap = self.table.gap(row.key, plan.dataset, plan.measure, plan.candidates, plan.regime)
        outcomes = self.table.printed_outcomes(row.key, plan.dataset, plan.measure)
        return Cell(
            plan.row,
            plan.dataset,
            plan.measure,
            plan.regime,
            published,
            ours,
            verdicts,
            candidates,
            gap,
            outcomes,
        )

    def _verdicts(
        self, row: PublishedRow, plan: Plan, published: PublishedValue | None, ours: Ours | None
    ) -> Iterable[Verdict]:
        if ours is None:
            return [not_run(plan.reason)]
        if published is not None:
            paper = self.published.paper
            if differing := differences(self.config, paper, ours.run.model, ours.run.regime):
                return [other_recipe(paper, differing)]
            return [number_verdict(published, ours, self.published.verdict.tolerance)]
        gap = self.table.gap(row.key, plan.dataset, plan.measure, plan.candidates, plan.regime)
        if gap:
            return [nothing_published(GAPS[gap])]
        if not self.table.reports(row, plan.regime):
            return [nothing_published(f"the paper has no {regime_label(plan.regime)} numbers in this table")]
        if not self._speaks_of(plan.measure, plan.dataset):
            return [nothing_published(f"the paper's table has no {plan.measure}")]
        claims = [self._claim(mark, plan, ours) for mark in self.table.claims(row.key, plan.regime)]
        return claims or [nothing_published("the paper has no such cell, and claims nothing of this row")]

    def _claim(self, mark: PublishedMark, plan: Plan, ours: Ours) -> Verdict:
        baseline = self.table.row(mark.over)
        name = self._name(baseline)
        found = next((c for c in ours.comparisons if (c.mark, c.over) == (mark.mark, name)), None)
        run = self._run(baseline, plan.dataset, ours.run.candidates, plan.regime)
        missing = self._reason(baseline, plan.dataset, plan.candidates, run, plan.measure)
        depth = reranked_depth(self.config, ours.run.candidates)
        if found and found.difference == 0 and needs_no_order(plan.measure, depth):
            return nothing_published(f"all {depth} candidates count, so no order of them is better")
        return claim_verdict(mark.mark, name, found, missing or baseline.absent, mark.direction)

    def _name(self, row: PublishedRow) -> str:
        """The paper's label, and what fills the row here where that is another thing."""
        label, filled_by = self._label(row), self._filled_by(row)
        return f"{label} [here: {filled_by}]" if filled_by not in ("", label) else label

    def _label(self, row: PublishedRow) -> str:
        model = self._model(row)
        return row.label or (model_label(self.config, model) if model else row.key)

    def _filled_by(self, row: PublishedRow) -> str:
        if row.stands_for:
            stands = " and ".join(self.table.row(key).label for key in row.stands_for)
            return f"ours, in place of {stands}; encoder {encoder_label(self.config)}"
        datasets = (
            ("", *dict.fromkeys(column.dataset for column in self.table.columns)) if row.by_dataset else ("",)
        )
        found = dict.fromkeys(self._model(row, dataset) for dataset in datasets)
        return " or ".join(model_label(self.config, model) for model in found if model)
