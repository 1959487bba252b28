"""The figures as the report's page shows them: pictures inside the page with their captions; and its first picture."""

import base64
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.published import Published
from irpretrain.report.cells import Cell, Panel, Table
from irpretrain.report.drawing import heading

WIDE = 2.2
"""Ratio of width to height from which a figure takes the page's whole width."""


def figure_views(paper: Published, directory: Path) -> list[dict[str, Any]]:
    """Return what the template needs of each figure of a paper."""
    views = []
    for name in paper.drawings():
        if name in paper.figures:
            figure = paper.figures[name]
            title = heading(paper, figure)
            caption = (
                f"{figure.published} ({paper.place(figure.page, figure.section)}. The paper's curves are printed as "
                "pictures only, so none is copied here.)"
            )
        else:
            title = caption = paper.own_figures[name].caption
        key = f"{paper.paper}_{name}"
        path = directory / f"{key}.svg"
        picture = {"image": svg_uri(path), "wide": _is_wide(path)}
        views.append({"name": key, "title": title, "caption": caption, **picture})
    return views


def _is_wide(path: Path) -> bool:
    """Whether a picture is so much wider than high (several panels) that half the page is too little for it."""
    size = re.search(r'<svg[^>]*\sviewBox="\S+ \S+ (\S+) (\S+)"', path.read_text(encoding="utf-8"))
    return size is not None and float(size[1]) > WIDE * float(size[2])


def svg_uri(path: Path) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            path, f"cannot be read: {error.strerror}", remedy="Run the workflow again."
        ) from None
    if b"<svg" not in content:
        raise InputError(path, "this is not an SVG picture", remedy=MAKE_AGAIN)
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


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
    """Return a chart for every regime of every panel, a dot with its interval for each run that was made, in the first
    measure."""
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
