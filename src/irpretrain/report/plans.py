"""What a table is to hold, before anything is computed: its panels and rows, and for each cell what fills it, what the
paper prints there, and which differences it marks. `table_engine.build` makes the table, `verdicts.decide` decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from irpretrain.papers.base import Direction, PublishedPlace, PublishedValue
from irpretrain.papers.published import Published
from irpretrain.report.cells import Ours, PanelOf, RowOf
from irpretrain.report.comparisons import TableTest
from irpretrain.report.scores import RunName

NO_MARK = "the paper has no such cell, and marks nothing in this row"


@dataclass(frozen=True)
class Baseline:
    """A run that a cell is compared with, and the mark that says how it came out."""

    mark: str
    over: str
    run: RunName
    direction: Direction = "better"


@dataclass(frozen=True)
class Mark:
    """What the paper says of a value: better, or worse, than a baseline.

    Attributes:
        against: label of the baseline.
        absent: why the baseline was not run here.
        unordered: number of candidates where the measure counts all of them, so that no order is better; else 0.
    """

    mark: str
    against: str
    absent: str
    direction: Direction = "better"
    unordered: int = 0


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
        other_recipe: keys of the configuration in which ours differs from the paper's recipe.
        alone: why no number or mark of the paper is compared, where none is.
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
    other_recipe: tuple[str, ...] = ()
    alone: str = NO_MARK
    marks: tuple[Mark, ...] = ()
    shown_candidates: str = ""


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
        tolerance: largest difference from a printed number that counts as reproduced.
        testing: how differences are tested; None where the table compares no runs.
        filled_only: whether panels without any value of ours are left out, but for the first.
    """

    name: str
    paper: str
    title: str
    panels: tuple[PlannedPanel, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    paper_name: str = ""
    tolerance: float = 0.0
    testing: TableTest | None = None
    filled_only: bool = False

    @classmethod
    def of_paper(
        cls,
        published: Published,
        place: PublishedPlace,
        panels: list[PlannedPanel],
        notes: list[str],
        testing: TableTest | None = None,
        filled_only: bool = False,
    ) -> TablePlan:
        """Return the plan of a paper's table, called after its number, or after what it shows where it has none."""
        return cls(
            f"{published.paper}_{place.key}",
            published.paper,
            f"{place.heading}: {place.title}",
            tuple(panels),
            tuple(notes),
            f"{published.citation} {published.place(place.page, place.section)}.",
            published.name,
            published.verdict.tolerance,
            testing,
            filled_only,
        )

    def plans(self) -> Iterator[CellPlan]:
        """Every cell with a value, panel by panel, row by row."""
        for panel in self.panels:
            for row in panel.rows:
                yield from (cell for cell in row.cells if isinstance(cell, CellPlan))
