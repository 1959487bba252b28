"""What a table is made of: cells with the published value, ours and the comparisons; no formatting.

A table has panels (for example the paper's data sets, and ours); a panel has columns and rows of cells.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Generic, Self, TypeVar

from irpretrain.evaluation.ledger import Facts
from irpretrain.evaluation.significance import Outcomes
from irpretrain.papers.base import Direction, PublishedValue
from irpretrain.report.scores import RunName


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
class Cell:
    """One cell: what the paper prints, and what we measured; candidates where not the usual BM25.

    `note` says why nothing of ours fills the cell, or in what our setting is not the paper's. `gap` stands where the
    paper's cell has no number for us: "NA", or "illegible". `printed_outcomes` are the paper's wins, ties and losses,
    where it prints them beside the value.
    """

    row: str
    dataset: str
    measure: str
    regime: str
    published: PublishedValue | None
    ours: Ours | None
    note: str = ""
    candidates: str = ""
    gap: str = ""
    printed_outcomes: str = ""

    @property
    def printed(self) -> str:
        """The paper's side of the cell as text, marks included; empty where the paper has no such cell."""
        return self.published.printed if self.published else self.gap

    @property
    def difference(self) -> float | None:
        """Our mean minus the printed number; None without either, or where our setting is not the paper's."""
        if self.published is None or self.ours is None or self.note:
            return None
        return self.ours.mean - self.published.value


@dataclass(frozen=True)
class TextCell:
    """A cell of text, beside the paper's where it prints one.

    Attributes:
        detail: stands after the text in small letters: a p-value, or the reason of a verdict.
        order: what the cell is sorted by, where that is not the text.
        outcome: a claim's verdict, which gives the text its colour.
    """

    text: str
    detail: str = ""
    printed: str = ""
    order: str | None = None
    outcome: str = ""


AnyCell = Cell | TextCell


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
    """A table: name of its files, title, panels, notes printed under it, its paper's name, and the ledger of its runs,
    None of a table without runs. `summary` is what came out in words, of the headline table."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    paper: str = ""
    ledger: tuple[Facts, ...] | None = None
    summary: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The title, after the paper's name where there is a paper."""
        return f"{self.paper}, {self.title}" if self.paper else self.title

    def cells(self) -> Iterator[Cell]:
        """Every cell that holds values, panel by panel, row by row."""
        for panel in self.panels:
            for row in panel.rows:
                yield from (cell for cell in row.cells if isinstance(cell, Cell))

    @cached_property
    def letters(self) -> dict[str, str]:
        """Note on cells → the letter that stands for it in the table, in order of appearance."""
        notes = dict.fromkeys(cell.note for cell in self.cells() if cell.note)
        return {note: letter(number) for number, note in enumerate(notes)}


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
    """Return a p-value as text: p < 0.001, or p = 0.034; NaN is that of one query."""
    if math.isnan(p):
        return "one query, so no p"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def difference_text(difference: float) -> str:
    """Return a difference as text, +0.231; one that rounds to nothing is +0.000 whatever its sign."""
    return f"{round(difference, 3) + 0.0:+.3f}"


def outcomes_text(outcomes: Outcomes | None) -> str:
    """Return wins, ties and losses as text, 2022/3861/1097; nothing where there are none."""
    return "" if outcomes is None else "/".join(map(str, outcomes))


def plain_text(cell: TextCell) -> str:
    """Return a cell of text on one line: 2022/3861/1097 · ours 310/1400/290, or +0.231 (p < 0.001); a dash for none."""
    ours = f"ours {cell.text}" if cell.text and cell.printed else cell.text
    if cell.detail:
        ours += f": {cell.detail}" if cell.outcome else f" ({cell.detail})"
    return " · ".join(part for part in (cell.printed, ours) if part) or "–"
