"""What a table is made of: cells with the published value, ours, the comparison and the verdict; no formatting.

A table has panels (for example the paper's data sets, and ours); a panel has columns and rows of cells.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Generic, Self, TypeVar

from irpretrain.evaluation.significance import Outcomes
from irpretrain.papers.base import Direction, PublishedValue
from irpretrain.report.scores import RunName

NOT_RUN = "not run"
REPRODUCED = "reproduced"
OFF = "off"
NOTHING_PUBLISHED = "no published value"
OTHER_RECIPE = "other recipe"
OUTCOMES = (REPRODUCED, OFF, NOT_RUN, NOTHING_PUBLISHED, OTHER_RECIPE)


@dataclass(frozen=True)
class Comparison:
    """Ours against a baseline of ours, paired over queries.

    Attributes:
        mark: printed beside our value when it is significantly better, or worse, as `direction` says.
        difference: our mean minus the baseline's.
        p: two-tailed p-value, corrected as the configuration says.
        significant: whether p is at most the level.
        outcomes: on how many queries ours is better, equal and worse; None for what is not paired over queries.
    """

    over: str
    mark: str
    difference: float
    p: float
    significant: bool
    direction: Direction = "better"
    outcomes: Outcomes | None = None

    @property
    def holds(self) -> bool:
        """Whether what the mark says is true here: the difference is significant and has the mark's direction."""
        return self.significant and (
            self.difference > 0 if self.direction == "better" else self.difference < 0
        )


@dataclass(frozen=True)
class Ours:
    """Our value of a cell.

    Attributes:
        run: the run it was measured on; for what is no run, the data and the model, with nothing in the other parts.
        mean: over queries and seeds.
        low, high: confidence interval; not numbers where there is none.
        queries: number of queries, or of what `counted` says.
        counted: what the mean is over.
        source: the file that it was read from, where it is no run's.
    """

    run: RunName
    measure: str
    mean: float
    low: float
    high: float
    seeds: tuple[int, ...]
    queries: int
    comparisons: tuple[Comparison, ...] = ()
    counted: str = "queries"
    source: str = ""

    @classmethod
    def of_file(
        cls,
        name: tuple[str, str],
        measure: str,
        value: tuple[float, float, float],
        number: int,
        counted: str,
        source: str,
        comparisons: tuple[Comparison, ...] = (),
    ) -> Self:
        """Return a value that was read from a file: `name` is (data, model), `value` (mean, low, high)."""
        run = RunName(name[0], "", name[1], "")
        return cls(run, measure, *value, (), number, comparisons, counted, source)

    @property
    def marks(self) -> str:
        """Marks that hold, each against every baseline that it speaks of and that was run."""
        marks = dict.fromkeys(c.mark for c in self.comparisons)
        return "".join(m for m in marks if all(c.holds for c in self.comparisons if c.mark == m))


@dataclass(frozen=True)
class Verdict:
    """Whether the paper's statement holds here.

    Attributes:
        outcome: one of OUTCOMES.
        reason: why, in one clause.
        kind: "number" (the printed value), "mark" (against a baseline), or "" where there is neither.
        against: label of the baseline, for a mark.
    """

    outcome: str
    reason: str
    kind: str = ""
    against: str = ""
    mark: str = ""
    direction: Direction = "better"


@dataclass(frozen=True)
class Cell:
    """One cell: what the paper prints, what we measured, and what follows; candidates where not the usual BM25.

    `gap` stands where the paper's cell has no number for us: "NA", or "illegible". `printed_outcomes` are the paper's
    wins, ties and losses, where it prints them beside the value.
    """

    row: str
    dataset: str
    measure: str
    regime: str
    published: PublishedValue | None
    ours: Ours | None
    verdicts: tuple[Verdict, ...]
    candidates: str = ""
    gap: str = ""
    printed_outcomes: str = ""

    @property
    def printed(self) -> str:
        """The paper's side of the cell as text, marks included; empty where the paper has no such cell."""
        return self.published.printed if self.published else self.gap

    @property
    def not_run(self) -> str:
        """The reason why there is no value of ours; empty where there is one."""
        return "" if self.ours else next((v.reason for v in self.verdicts if v.outcome == NOT_RUN), "")


@dataclass(frozen=True)
class Contrast:
    """A cell that shows one comparison of a value instead of the value; None where there is nothing to compare."""

    comparison: Comparison | None


@dataclass(frozen=True)
class Tally:
    """A cell that shows how a value compares with another one, as the paper prints it, and ours.

    Attributes:
        outcomes: on how many queries ours is better than its baseline, equal, and worse; None where these were not
            compared.
        change: our mean's relative change from another row's; None where the table shows none.
    """

    printed: str
    outcomes: Outcomes | None
    change: float | None = None

    @property
    def ours(self) -> str:
        """Ours as the paper would print it: 2022/3861/1097, or +2%."""
        return outcomes_text(self.outcomes) if self.change is None else f"{round(self.change, 2) + 0.0:+.0%}"

    @property
    def order(self) -> float | None:
        """The number that the cell is sorted by."""
        return self.change if self.outcomes is None else self.outcomes.wins - self.outcomes.losses


@dataclass(frozen=True)
class Text:
    """A cell of plain text; `detail` stands in small letters after it, and `outcome` gives it a verdict's colour."""

    text: str
    detail: str = ""
    outcome: str = ""

    @property
    def whole(self) -> str:
        """Both as one text."""
        return f"{self.text}: {self.detail}" if self.detail else self.text


AnyCell = Cell | Contrast | Tally | Text


@dataclass(frozen=True)
class Column:
    """A column: its group (data set, regime) and its own heading (measure)."""

    group: str
    label: str


CellKind = TypeVar("CellKind", covariant=True)


@dataclass(frozen=True)
class RowOf(Generic[CellKind]):
    """A row: its label (the paper's, or ours), what fills it here, its cells or their plans. An optional one is left
    out where no cell of it has a value."""

    key: str
    label: str
    filled_by: str
    cells: tuple[CellKind, ...]
    is_optional: bool = False


@dataclass(frozen=True)
class PanelOf(Generic[CellKind]):
    """One grid of a table; `rows_are` heads the rows' labels."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[RowOf[CellKind], ...]
    rows_are: str = "Model"

    def has_rows(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.rows)

    def is_filled(self) -> bool:
        """Whether some cell has a number of ours."""
        return any(
            isinstance(cell, Cell) and cell.ours is not None for row in self.rows for cell in row.cells
        )

    def groups(self) -> list[tuple[str, int]]:
        """(group, columns it spans), in order."""
        return [(group, len(list(same))) for group, same in groupby(column.group for column in self.columns)]


Row = RowOf[AnyCell]
Panel = PanelOf[AnyCell]


@dataclass(frozen=True)
class Table:
    """A table: name of its files, key of its paper, title, panels, notes printed under it, the paper's name."""

    name: str
    paper: str
    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    paper_name: str = ""

    @property
    def heading(self) -> str:
        """The title, after the paper's name where there is a paper."""
        return f"{self.paper_name}, {self.title}" if self.paper_name else self.title

    def cells(self) -> Iterator[Cell]:
        """Every cell that holds values, panel by panel, row by row."""
        for panel in self.panels:
            for row in panel.rows:
                yield from (cell for cell in row.cells if isinstance(cell, Cell))

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why cells were not run → the letter that stands for it in the table, in order of appearance."""
        reasons = dict.fromkeys(cell.not_run for cell in self.cells() if cell.not_run)
        return {reason: letter(number) for number, reason in enumerate(reasons)}


def letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for 0, 1, ..., 25, 26, 27, ..."""
    name = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        name = chr(ord("a") + digit) + name
    return name


def value_text(ours: Ours, marks: bool = True) -> str:
    """Return our value as text: 0.412*† [0.373, 0.451]."""
    bounds = "" if math.isnan(ours.low) else f" [{ours.low:.3f}, {ours.high:.3f}]"
    return f"{ours.mean:.3f}{ours.marks if marks else ''}{bounds}"


def p_text(p: float) -> str:
    """Return a p-value as text: p < 0.001, or p = 0.034."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def difference_text(difference: float) -> str:
    """Return a difference as text, +0.231; one that rounds to nothing is +0.000 whatever its sign."""
    return f"{round(difference, 3) + 0.0:+.3f}"


def outcomes_text(outcomes: Outcomes | None) -> str:
    """Return wins, ties and losses as text, 2022/3861/1097; nothing where there are none."""
    return "" if outcomes is None else "/".join(map(str, outcomes))


def tally_text(tally: Tally) -> str:
    """Return wins, ties and losses, or a change, as text: 2022/3861/1097 · ours 310/1400/290; a dash without any."""
    ours = f"ours {tally.ours}" if tally.ours and tally.printed else tally.ours
    return " · ".join(part for part in (tally.printed, ours) if part) or "–"


def contrast_text(contrast: Contrast) -> str:
    """Return a comparison as text: +0.231 (p < 0.001)."""
    comparison = contrast.comparison
    return f"{difference_text(comparison.difference)} ({p_text(comparison.p)})" if comparison else ""
