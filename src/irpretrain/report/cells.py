"""What a table is made of: panels of rows × columns, and what fills a cell (`CellValues`: the value of a run)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from string import ascii_lowercase
from typing import Self, TypeVar

from irpretrain.config import Config
from irpretrain.config.labels import without_bracket
from irpretrain.config.papers import Published
from irpretrain.config.printed import PublishedPlace, PublishedValue
from irpretrain.evaluation.ledger import RunFacts, ledger_notes
from irpretrain.evaluation.significance import Outcomes, bounds_text
from irpretrain.report.scores import (
    Baseline,
    Comparison,
    Results,
    RunName,
    Scores,
    TableTest,
    compare,
    draw_stream,
    interval,
)


@dataclass(frozen=True)
class OurValue:
    """Our value of a cell."""

    # The run it was measured on; for what is no run, the data and the model, with nothing in the other parts.
    run: RunName
    measure: str
    mean: float  # over queries and seeds
    low: float  # low, high: confidence interval; not numbers where there is none
    high: float
    seeds: tuple[int, ...]
    sample_size: int  # number of queries, or of what the cell's `unit` says
    comparisons: tuple[Comparison, ...] = ()

    @property
    def marks(self) -> str:
        """Marks that hold, each against every baseline that it speaks of and that was run."""
        marks = dict.fromkeys(c.mark for c in self.comparisons)
        return "".join(m for m in marks if all(c.holds for c in self.comparisons if c.mark == m))


@dataclass(frozen=True)
class Cell:
    """One cell: what is measured and compared, and what the paper prints there."""

    row: str
    dataset: str
    candidates: str
    measure: str
    regime: str
    run: RunName | None = None  # what fills the cell; None where nothing does
    reason: str = ""  # why nothing fills it
    baselines: tuple[Baseline, ...] = ()
    ours: OurValue | None = None  # our value
    unit: str = "queries"  # what the mean is over
    source: str = ""  # the file that our value stands in, where the run does not name it
    published: PublishedValue | None = None  # the paper's number
    gap: str = ""  # what stands in the paper's cell in place of a number: "NA", or "illegible"
    printed_outcomes: str = ""  # the paper's wins, ties and losses, where it prints them beside the value
    # In what ours is not by the paper's setting; a difference from its number would say nothing.
    other_setting: str = ""

    @property
    def note(self) -> str:
        """Why nothing of ours fills the cell, or in what our setting is not the paper's."""
        return self.reason if self.ours is None else self.other_setting

    @property
    def sort_key(self) -> str:
        if self.ours is None:
            return f"{self.published.value:.6f}" if self.published else ""
        return f"{self.ours.mean:z.6f}"

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
    """A cell of text, beside the paper's where it prints one."""

    text: str = ""
    detail: str = ""  # stands after the text in small letters: a p-value, or the reason of a verdict
    printed: str = ""
    sort_text: str | None = None  # what the cell is sorted by, where that is not the text
    outcome: str = ""  # a claim's verdict, which gives the text its colour

    @property
    def sort_key(self) -> str:
        return self.text if self.sort_text is None else self.sort_text


AnyCell = Cell | TextCell


@dataclass(frozen=True)
class Column:
    """A column: its group (data set, regime) and its own heading (measure)."""

    group: str
    label: str


@dataclass(frozen=True)
class Row:
    """A row: its label (the paper's, or ours), what fills it here, its cells."""

    key: str
    label: str
    filled_by: str = ""
    cells: tuple[AnyCell, ...] = ()

    @property
    def short_label(self) -> str:
        return without_bracket(self.label)

    def is_filled(self) -> bool:
        return any(isinstance(cell, Cell) and cell.ours is not None for cell in self.cells)


RowKey = TypeVar("RowKey")
ColumnKey = TypeVar("ColumnKey")


@dataclass(frozen=True)
class Panel:
    """One grid of a table; `row_heading` heads the rows' labels."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    row_heading: str = "Model"

    @classmethod
    def of(
        cls,
        title: str,
        rows: Mapping[RowKey, Row],
        columns: Mapping[ColumnKey, Column],
        make_cell: Callable[[RowKey, ColumnKey], AnyCell],
        row_heading: str = "Model",
    ) -> Self:
        """Return the panel whose cell in a row and a column is `make_cell(row's key, column's key)`."""
        filled_rows = (
            replace(row, cells=tuple(make_cell(key, column) for column in columns))
            for key, row in rows.items()
        )
        return cls(title, tuple(columns.values()), tuple(filled_rows), row_heading)

    def is_filled(self) -> bool:
        return any(row.is_filled() for row in self.rows)

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers alone, which stand at its right."""
        cells = (row.cells[column] for row in self.rows)
        return all(isinstance(cell, Cell) or is_number(cell.sort_key) for cell in cells)

    def groups(self) -> list[tuple[str, int]]:
        """(group, columns it spans), in order."""
        return [
            (group, len(list(columns_of_group)))
            for group, columns_of_group in groupby(column.group for column in self.columns)
        ]


@dataclass(frozen=True)
class Table:
    """A table; its files are called `name`."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    source: str = ""  # of the published numbers
    paper: str = ""
    ledger: tuple[RunFacts, ...] | None = None  # of its runs; None of a table without runs
    summary: tuple[str, ...] = ()  # what came out in words, of the headline table

    @classmethod
    def of_paper(
        cls,
        published: Published,
        published_place: PublishedPlace,
        panels: list[Panel],
        notes: list[str],
        config: Config,
    ) -> Table:
        """Return a paper's table, called after its number, or after what it shows where it has none; the remarks of the
        paper's file and of the configuration follow its notes."""
        return cls(
            f"{published.paper}_{published_place.key}",
            f"{published_place.heading}: {published_place.title}",
            tuple(panels),
            (*notes, *published_place.remarks, *config.report.notes),
            f"{published.citation} {published.location(published_place.page, published_place.section)}.",
            published.name,
        )

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.title}" if self.paper else self.title

    def cells(self) -> Iterator[Cell]:
        """Every cell that holds values, panel by panel, row by row."""
        for panel in self.panels:
            for row in panel.rows:
                yield from (cell for cell in row.cells if isinstance(cell, Cell))

    def compared_runs(self) -> list[list[RunName]]:
        """Return the runs of each column, with those that its marks compare them with."""
        columns: dict[tuple[str, ...], dict[RunName, None]] = {}
        for cell in self.cells():
            if cell.run is not None:
                runs = columns.setdefault((cell.dataset, cell.candidates, cell.regime), {})
                runs |= dict.fromkeys([cell.run, *(baseline.run for baseline in cell.baselines)])
        return [list(runs) for runs in columns.values()]

    def with_ledger(self, config: Config, scores: Scores) -> Table:
        """Return the table with the facts of its runs, and, as its first notes, what differs beyond the experiment."""
        measured_runs = set(scores.runs())
        columns = [
            [scores.facts_of(config, run) for run in runs if run in measured_runs]
            for runs in self.compared_runs()
        ]
        notes = ledger_notes(config, columns, f"; {self.name}.ledger.csv has the rest")
        rows = tuple(dict.fromkeys(chain.from_iterable(columns)))
        return replace(self, notes=(*notes, *self.notes), ledger=rows)

    @cached_property
    def letters(self) -> dict[str, str]:
        """Note on cells → the letter that stands for it in the table, in order of appearance."""
        notes = dict.fromkeys(cell.note for cell in self.cells() if cell.note)
        return {note: letter(index) for index, note in enumerate(notes)}


def letter(index: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for 0, 1, ..., 25, 26, 27, ..."""
    earlier_letters = letter(index // 26 - 1) if index >= 26 else ""
    return earlier_letters + ascii_lowercase[index % 26]


def value_text(ours: OurValue, marks: bool = True) -> str:
    """Return our value as text: 0.412*† [0.373, 0.451]."""
    return f"{ours.mean:z.3f}{ours.marks if marks else ''} {bounds_text(ours.low, ours.high)}".rstrip()


def p_text(p: float) -> str:
    """Return a p-value as text: p < 0.001, or p = 0.034; NaN is that of one query."""
    if math.isnan(p):
        return "one query, so no p"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def is_number(text: str) -> bool:
    """Whether a table sorts this text as a number; an empty one comes last."""
    return not text or re.fullmatch(r"[+-]?\d+(?:\.\d+)?(?:e[+-]\d+)?", text) is not None


def difference_text(difference: float) -> str:
    """Return a difference as text, +0.231; one that rounds to nothing is +0.000 whatever its sign."""
    return f"{difference:+z.3f}"


def outcomes_text(outcomes: Outcomes | None) -> str:
    """Return wins, ties and losses as text, 2022/3861/1097; nothing where there are none."""
    return "" if outcomes is None else "/".join(map(str, outcomes))


def plain_text(cell: TextCell) -> str:
    """Return a cell of text on one line: 2022/3861/1097 · ours 310/1400/290, or +0.231 (p < 0.001); a dash for none."""
    our_text = f"ours {cell.text}" if cell.text and cell.printed else cell.text
    if cell.detail:
        our_text += f": {cell.detail}" if cell.outcome else f" ({cell.detail})"
    return " · ".join(text for text in (cell.printed, our_text) if text) or "–"


# Values with their intervals, and comparisons with p-values.


# Decimals that are kept of means and bounds.
DIGITS = 12


def comparison_cell(cell: Cell, baseline_mark: str) -> TextCell:
    """Return how a cell compares with the baseline of a mark: difference and p."""
    if (comparison := _comparison_with(cell, baseline_mark)) is None:
        return TextCell(sort_text="")
    difference = comparison.difference
    return TextCell(difference_text(difference), p_text(comparison.p), sort_text=f"{difference:z.6f}")


def outcomes_cell(cell: Cell, baseline_mark: str) -> TextCell:
    """Return wins, ties and losses of a cell against the baseline of a mark, beside the printed ones."""
    comparison = _comparison_with(cell, baseline_mark)
    outcomes = comparison.outcomes if comparison else None
    sort_text = "" if outcomes is None else str(outcomes.wins - outcomes.losses)
    return TextCell(outcomes_text(outcomes), printed=cell.printed_outcomes, sort_text=sort_text)


def _comparison_with(cell: Cell, baseline_mark: str) -> Comparison | None:
    comparisons = cell.ours.comparisons if cell.ours else ()
    return next((comparison for comparison in comparisons if comparison.mark == baseline_mark), None)


class CellValues:
    """Puts values of runs into the cells of a table, whose test is `table_test`."""

    def __init__(self, config: Config, scores: Scores, table_test: TableTest) -> None:
        self.config, self.scores, self.table_test = config, scores, table_test
        self._filled_cells: dict[Cell, Cell] = {}

    def fill(self, cell: Cell) -> Cell:
        """Return a cell with the value of its run, where there is one."""
        if cell not in self._filled_cells:
            self._filled_cells[cell] = replace(cell, ours=self._our_value(cell))
        return self._filled_cells[cell]

    def _our_value(self, cell: Cell) -> OurValue | None:
        results = self.scores.get(cell.run, cell.measure) if cell.run else None
        if cell.run is None or results is None:
            return None
        stream = draw_stream(cell.run, cell.measure)
        low, high = interval(results, self.config.seed, stream)
        # What differs in the last bits only must not print differently.
        mean, low, high = (round(value, DIGITS) for value in (results.mean, low, high))
        return OurValue(
            cell.run,
            cell.measure,
            mean,
            low,
            high,
            results.seeds,
            len(results.query_ids),
            tuple(self._comparisons(cell, results, stream)),
        )

    def _comparisons(self, cell: Cell, ours: Results, stream: str) -> Iterator[Comparison]:
        for baseline in cell.baselines:
            baseline_results = self.scores.get(baseline.run, cell.measure)
            if baseline_results is not None and baseline.run != cell.run:
                pair_stream = f"{stream} against {draw_stream(baseline.run, cell.measure)}"
                yield compare(
                    ours, baseline_results, baseline, pair_stream, self.table_test, self.config.seed
                )
