"""The plot of paired differences: how far each run is ahead of BM25 and of its control, with the intervals that the
claims have."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from irpretrain.config.labels import listed, quoted, without_bracket
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.evaluation.significance import bounds_text
from irpretrain.evaluation.verdicts import EffectEstimate
from irpretrain.report.cells import Cell, OurValue, Panel, Table, difference_text, outcomes_text, p_text
from irpretrain.report.scores import Comparison, RunName

# Most ticks of an axis beside 0, and steps between them but for a power of ten.
MAX_TICKS = 7
STEP_FACTORS = (1, 2, 5, 10)
# Share of the axis that is left free at both ends.
MARGIN = 0.03


class Dot(NamedTuple):
    """A difference: the number of its series, mean and interval in percent of the axis, and its numbers as text."""

    series: int
    baseline: str  # what is subtracted
    mean: float
    low: float
    high: float
    text: str
    details: str


class Tick(NamedTuple):
    place: float  # in percent of the axis
    text: str
    is_minor: bool  # whether a narrow axis leaves out the text


@dataclass(frozen=True)
class DifferencePlot:
    """Runs on one data set, a line each, on one axis from the lowest bound to the highest, 0 among them."""

    title: str
    measure: str
    series: tuple[str, ...]  # what is subtracted
    ticks: tuple[Tick, ...]
    zero: float
    lines: tuple[tuple[str, tuple[Dot, ...]], ...]


def difference_plots(headline: Table) -> list[DifferencePlot]:
    """Return a plot for each panel of the headline table in which something is compared."""
    plots = (_panel_plot(panel) for panel in headline.panels)
    return [plot for plot in plots if plot is not None]


def compared_rows(panel: Panel) -> list[tuple[str, OurValue, str]]:
    """Return label, value in the first measure, and regime's label of each run: models in the table's order, each in
    its regimes."""
    rows: dict[RunName, tuple[str, OurValue, str]] = {}
    for row in panel.rows:
        for column, cell in zip(panel.columns, row.cells, strict=True):
            if isinstance(cell, Cell) and cell.ours and cell.measure == panel.columns[0].label:
                is_first_stage = cell.ours.run.regime == FIRST_STAGE
                label = row.short_label if is_first_stage else f"{row.short_label}, {column.group}"
                rows.setdefault(cell.ours.run, (label, cell.ours, column.group))
    return list(rows.values())


def comparison_text(comparison: Comparison | EffectEstimate) -> str:
    """Return a difference with its interval: "+0.187 [0.110, 0.265]"."""
    return f"{difference_text(comparison.difference)} {bounds_text(comparison.low, comparison.high)}".rstrip()


def _panel_plot(panel: Panel) -> DifferencePlot | None:
    # Of several numbers of training queries the ends are drawn.
    regimes = [regime for regime, _ in panel.groups()]
    drawn_rows = [
        (label, _drawn_comparisons(ours))
        for label, ours, regime in compared_rows(panel)
        if regime in (regimes[0], regimes[-1]) or ours.run.regime == FIRST_STAGE
    ]
    lines = [(label, row_comparisons) for label, row_comparisons in drawn_rows if row_comparisons]
    if not lines:
        return None
    comparisons = [comparison for _, row_comparisons in lines for comparison in row_comparisons]
    bounds = [bound for comparison in comparisons for bound in _interval(comparison)]
    axis = Axis.over(min(bounds), max(bounds))
    marks = sorted({comparison.mark for comparison in comparisons})
    return DifferencePlot(
        panel.title,
        panel.columns[0].label,
        tuple(_series_label(lines, mark) for mark in marks),
        axis.ticks(),
        axis.place(0),
        tuple(
            (label, tuple(sorted(_dot(axis, marks.index(c.mark), c) for c in row_comparisons)))
            for label, row_comparisons in lines
        ),
    )


def _drawn_comparisons(ours: OurValue) -> list[Comparison]:
    # A first stage has no regime, so "minus control" would not say which of the control's regimes is subtracted.
    is_first_stage = ours.run.regime == FIRST_STAGE
    return [c for c in ours.comparisons if not is_first_stage or c.run.regime == FIRST_STAGE]


def _series_label(lines: Sequence[tuple[str, Sequence[Comparison]]], mark: str) -> str:
    """Return what the series subtracts: the baseline of most rows, then of which rows another one."""
    rows_of_baseline = defaultdict[str, list[str]](list)
    for row, row_comparisons in lines:
        for comparison in row_comparisons:
            if comparison.mark == mark:
                rows_of_baseline[_baseline(comparison)].append(quoted(row))
    usual = max(rows_of_baseline, key=lambda baseline: len(rows_of_baseline[baseline]))
    others = (
        f"{listed(rows)} minus {baseline}" for baseline, rows in rows_of_baseline.items() if baseline != usual
    )
    return "; ".join([f"minus {usual}", *others])


def _baseline(comparison: Comparison) -> str:
    return quoted(without_bracket(comparison.label))


def _dot(axis: Axis, series: int, comparison: Comparison) -> Dot:
    low, high = _interval(comparison)
    outcomes = outcomes_text(comparison.outcomes).replace("/", " / ")
    return Dot(
        series,
        f"minus {_baseline(comparison)}",
        axis.place(comparison.difference),
        axis.place(low),
        axis.place(high),
        comparison_text(comparison),
        f"{p_text(comparison.p)}; wins / ties / losses {outcomes}",
    )


def _interval(comparison: Comparison) -> tuple[float, float]:
    if math.isnan(comparison.low):
        return comparison.difference, comparison.difference
    return comparison.low, comparison.high


class Axis(NamedTuple):
    """An axis of differences."""

    low: float
    high: float

    @classmethod
    def over(cls, low: float, high: float) -> Axis:
        """Return the axis that holds both bounds and 0."""
        low, high = min(low, 0.0), max(high, 0.0)
        margin = MARGIN * ((high - low) or 1.0)
        return cls(low - margin, high + margin)

    def place(self, value: float) -> float:
        """Return where a value stands, in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def ticks(self) -> tuple[Tick, ...]:
        """Return ticks at round numbers, 0 among them."""
        width = (self.high - self.low) / MAX_TICKS
        power = 10.0 ** math.floor(math.log10(width))
        step = next(power * factor for factor in STEP_FACTORS if power * factor >= width * (1 - 1e-9))
        digits = max(0, -math.floor(math.log10(step)))
        multiples: Sequence[int] = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        return tuple(
            Tick(self.place(n * step), f"{n * step:+z.{digits}f}" if n else "0", n % 2 == 1)
            for n in multiples
        )
