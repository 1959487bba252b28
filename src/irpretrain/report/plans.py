"""What a table is to hold, before anything is computed: its panels and rows, and for each cell what fills it, what the
paper prints there, and which differences are marked. `table_engine.build` makes the table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

from irpretrain.config.experiments import EvaluationConfig
from irpretrain.errors import IRPretrainError
from irpretrain.evaluation.significance import (
    bootstrap_interval,
    holm,
    paired_t_test,
    randomisation_test,
    student_interval,
    wins_ties_losses,
)
from irpretrain.papers.base import Direction, PublishedPlace, PublishedValue
from irpretrain.papers.published import Published, PublishedTable
from irpretrain.report.cells import Comparison, Ours, PanelOf, RowOf
from irpretrain.report.scores import Results, RunName

# Tests and intervals as the configuration asks for them, over results of several seeds.
#
# Tests pair queries; with several seeds a query's value is its mean over the seeds. The interval is a bootstrap over
# queries for one seed. For several it is Student's t over the seeds' means, because it then speaks about repeating
# the training, or, where the configuration asks for it, a bootstrap over queries and seeds.


HEADLINE_LEVEL = 0.05

# Confidence of intervals, resamples of the queries behind them, and draws of a randomisation test. The papers print no
# intervals and no number of draws: with these, a p-value of 0.05 has a standard error of 0.0007.
CONFIDENCE, RESAMPLES, PERMUTATIONS = 0.95, 2_000, 100_000


@dataclass(frozen=True)
class TableTest:
    """How one table is tested: the configuration's choice, or else the paper's."""

    kind: Literal["t-test", "randomisation"]
    level: float
    correction: Literal["none", "holm"]

    @classmethod
    def of(cls, options: EvaluationConfig, table: PublishedTable | None = None) -> Self:
        """Return how a paper's table is tested, or the headline table where none is given."""
        kind, level = (table.tested_by, table.level) if table else ("t-test", HEADLINE_LEVEL)
        return cls(
            kind if options.test == "paper" else options.test,
            level if options.level is None else options.level,
            options.correction,
        )


@dataclass(frozen=True)
class Pairing:
    """A comparison to be made: ours against a baseline; `name` names its stream of random draws."""

    ours: Results
    baseline: Results
    over: str
    mark: str
    name: str
    direction: Direction = "better"


def compare(pairings: list[Pairing], testing: TableTest, seed: int) -> list[Comparison]:
    """Return the comparison of each pairing; p-values are corrected over all of them, as `testing` says.

    One query has no p-value by the t-test: it is NaN, and nothing is significant.
    """
    p_values = [_p_value(pairing, testing, seed) for pairing in pairings]
    if testing.correction == "holm":
        corrected = iter(holm([p for p in p_values if not math.isnan(p)]))
        p_values = [p if math.isnan(p) else next(corrected) for p in p_values]
    return [
        Comparison(
            pairing.over,
            pairing.mark,
            pairing.ours.mean - pairing.baseline.mean,
            p,
            p <= testing.level,
            pairing.direction,
            wins_ties_losses(pairing.ours.per_query, pairing.baseline.per_query),
        )
        for pairing, p in zip(pairings, p_values, strict=True)
    ]


def interval(results: Results, options: EvaluationConfig, seed: int, name: str) -> tuple[float, float]:
    """Return the bounds of the mean's confidence interval; NaN where nothing supports one (a single query).

    Args:
        name: names the stream of random draws, so that a cell's interval depends on nothing else.
    """
    if len(results.seeds) == 1 or options.intervals == "queries and seeds":
        bounds = bootstrap_interval(results.values, RESAMPLES, CONFIDENCE, seed, name)
    else:
        bounds = student_interval([float(mean) for mean in results.per_seed], CONFIDENCE)
    return bounds.low, bounds.high


def _p_value(pairing: Pairing, testing: TableTest, seed: int) -> float:
    if pairing.ours.queries != pairing.baseline.queries:
        raise IRPretrainError(
            f"{pairing.name}: the two runs were evaluated on different queries, so no paired test is possible.\n"
            "  Delete results/per_query.parquet and run the workflow again."
        )
    ours, baseline = pairing.ours.per_query, pairing.baseline.per_query
    if testing.kind == "t-test":
        return paired_t_test(ours, baseline).p_value
    return randomisation_test(ours, baseline, PERMUTATIONS, seed, pairing.name).p_value


@dataclass(frozen=True)
class Baseline:
    """A run that a cell is compared with, and the mark that says how it came out."""

    mark: str
    over: str
    run: RunName
    direction: Direction = "better"


@dataclass(frozen=True)
class CellPlan:
    """A cell: what is measured and compared, and what the paper has to say of it.

    Attributes:
        run: what fills the cell; None where nothing does.
        reason: why nothing fills it.
        measured: our value, where it was read from a file and not from the scores of a run.
        mean_of: cells whose mean it is, in place of a run.
        counted: what the mean is over.
        source: the file that our value stands in, where that is not told by the run.
        printed: the paper's number.
        gap: what stands in the paper's cell in place of a number.
        printed_outcomes: the paper's wins, ties and losses.
        other_setting: in what ours is not by the paper's setting; a difference from its number would say nothing.
        shown_candidates: the candidates, where they are named.
    """

    row: str
    dataset: str
    candidates: str
    measure: str
    regime: str
    run: RunName | None = None
    reason: str = ""
    baselines: tuple[Baseline, ...] = ()
    measured: Ours | None = None
    mean_of: tuple[CellPlan, ...] = ()
    counted: str = "queries"
    source: str = ""
    printed: PublishedValue | None = None
    gap: str = ""
    printed_outcomes: str = ""
    other_setting: str = ""
    named_candidates: str = ""


@dataclass(frozen=True)
class Compared:
    """A cell that shows how another cell compares with one baseline: difference and p, or wins, ties and losses."""

    plan: CellPlan
    mark: str
    as_outcomes: bool = False


@dataclass(frozen=True)
class Changed:
    """A cell that shows the relative change of another cell's mean from a third one's; `printed` is the paper's."""

    plan: CellPlan
    base: CellPlan
    printed: str


PlannedRow = RowOf[CellPlan | Compared | Changed]
PlannedPanel = PanelOf[CellPlan | Compared | Changed]


@dataclass(frozen=True)
class TablePlan:
    """A table; p-values are corrected over all its cells.

    Attributes:
        testing: how differences are tested; None where the table compares no runs.
        filled_only: whether panels without any value of ours are left out, but for the first.
    """

    name: str
    title: str
    panels: tuple[PlannedPanel, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    paper: str = ""
    testing: TableTest | None = None
    filled_only: bool = False

    @classmethod
    def of_paper(
        cls,
        published: Published,
        printed: PublishedPlace,
        panels: list[PlannedPanel],
        notes: list[str],
        testing: TableTest | None = None,
        filled_only: bool = False,
    ) -> TablePlan:
        """Return the plan of a paper's table, called after its number, or after what it shows where it has none."""
        return cls(
            f"{published.paper}_{printed.key}",
            f"{printed.heading}: {printed.title}",
            tuple(panels),
            tuple(notes),
            f"{published.citation} {published.location(printed.page, printed.section)}.",
            published.name,
            testing,
            filled_only,
        )

    def plans(self) -> Iterator[CellPlan]:
        """Every cell with a value, panel by panel, row by row."""
        for panel in self.panels:
            for row in panel.rows:
                yield from (cell for cell in row.cells if isinstance(cell, CellPlan))
