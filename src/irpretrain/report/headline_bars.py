"""The report's first picture: a dot with its interval for each run of the headline table, in its first measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from irpretrain.report.cells import Cell, Panel, Table


@dataclass(frozen=True)
class Bar:
    """A run: its name, its mean as text, and mean and interval in percent of the picture's width."""

    label: str
    text: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class BarChart:
    """The runs of a panel in one regime, and where the picture's width ends."""

    title: str
    measure: str
    end: float
    bars: tuple[Bar, ...]


def headline_bars(headline: Table) -> list[BarChart]:
    """Return a chart for every regime of every panel; runs that were not made have none."""
    return [chart for panel in headline.panels for chart in _charts(panel) if chart.bars]


def _charts(panel: Panel) -> list[BarChart]:
    leading: list[tuple[str, list[tuple[str, Cell]]]] = []
    place = 0
    for group, width in panel.groups():
        column = [(row.label.partition(" (")[0], row.cells[place]) for row in panel.rows]
        leading.append((group, [(label, cell) for label, cell in column if isinstance(cell, Cell)]))
        place += width
    # One scale for the regimes of a panel, so that they can be compared.
    highest = max((_high(cell) for _, cells in leading for _, cell in cells), default=0.0)
    end = min(1.0, highest * 1.05) or 1.0
    return [
        BarChart(
            f"{panel.title}, {group}",
            cells[0][1].measure if cells else "",
            end,
            tuple(_bar(label, cell, end) for label, cell in cells if cell.ours is not None),
        )
        for group, cells in leading
    ]


def _high(cell: Cell) -> float:
    """The upper end of a run's interval, or its mean where it has no interval."""
    if cell.ours is None:
        return 0.0
    return cell.ours.mean if math.isnan(cell.ours.high) else max(cell.ours.mean, cell.ours.high)


def _bar(label: str, cell: Cell, end: float) -> Bar:
    assert cell.ours is not None
    ours = cell.ours
    low, high = (ours.mean, ours.mean) if math.isnan(ours.low) else (ours.low, ours.high)
    mean, low, high = (round(100 * min(max(value, 0.0), end) / end, 2) for value in (ours.mean, low, high))
    return Bar(label, f"{ours.mean:.3f}", mean, low, high)
