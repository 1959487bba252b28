"""How figures look and how they are saved: one style, colour-blind safe, the same bytes every time."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from irpretrain.atomic import atomic_file

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette, told apart under every common colour-vision deficiency."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REMARK_LINE, REMARK_LINES = 0.16, 2
"""Inches that a line of remarks takes, and the lines for which a figure has room."""
LEGEND_OFFSET = 0.5
"""Inches from the axis to a legend below it: room for tick labels and the axis label."""

STYLE: Any = {
    "svg.hashsalt": "irpretrain",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9dee5",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def line_style(number: int) -> dict[str, Any]:
    """Return colour and marker of a line or series. Colours come again after seven; the marker then is another."""
    place = number % len(COLOURS)
    return {"color": COLOURS[place], "marker": MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]}


def draw_panels(
    title: str,
    panels: Sequence[Any],
    draw: Callable[[Any, Any], None],
    remark: str = "",
    height: float = 4.8,
    columns: int = 3,
) -> Any:
    """Return a matplotlib figure with a panel for each of `panels`, which `draw(axis, panel)` fills.

    Args:
        remark: what must be known to read the figure, in smaller letters under it.
        height: of a row of panels, in inches.
        columns: the most panels side by side.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(len(panels), columns)
    rows = -(-len(panels) // columns)
    with rc_context(STYLE):
        width = 7.2 if columns == 1 else 4.4 * columns
        figure = Figure(figsize=(width, height * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = [figure.add_subplot(rows, columns, place + 1) for place in range(len(panels))]
        for axis, panel in zip(axes, panels, strict=True):
            draw(axis, panel)
        _set_title(figure, title, remark)
    return figure


def _set_title(figure: Any, title: str, remark: str) -> None:
    letters = int(figure.get_figwidth() * 10)
    figure.suptitle(textwrap.fill(title, letters), fontsize=13, x=0.01, ha="left")
    if remark:
        lines = textwrap.wrap(remark, int(letters * 1.35))
        # What is drawn keeps its height, however much there is to say.
        figure.set_figheight(figure.get_figheight() + REMARK_LINE * max(0, len(lines) - REMARK_LINES))
        figure.supxlabel("\n".join(lines), fontsize=9, x=0.01, ha="left", color="#444444")


def legend_below(axis: Any, columns: int = 1, size: int = 10) -> None:
    """Put the legend under the axis, where it covers no data; `size` in points."""
    from matplotlib.transforms import ScaledTranslation

    below_label = axis.transAxes + ScaledTranslation(0, -LEGEND_OFFSET, axis.figure.dpi_scale_trans)
    axis.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below_label, fontsize=size, ncols=columns
    )


def empty_figure(title: str, reason: str) -> Any:
    """Return a figure that says why there is nothing to draw."""

    def say(axis: Any, text: str) -> None:
        axis.axis("off")
        axis.text(0.5, 0.5, text, ha="center", va="center", color="#444444")

    return draw_panels(title, [textwrap.fill(f"No data: {reason}", 70)], say, height=2.6)


def say_not_run(axis: Any, reason: str) -> None:
    """Write into an empty panel why nothing is drawn in it."""
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])
    text = textwrap.fill(f"Not run: {reason}", 34, break_on_hyphens=False)
    axis.text(0.5, 0.5, text, ha="center", va="center", color="#444444", transform=axis.transAxes)


def save(figure: Any, directory: str | Path, name: str) -> None:
    """Write `<directory>/<name>.svg` and `.png` without dates or version names."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        for format_, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            with atomic_file(Path(directory) / f"{name}.{format_}") as temporary:
                figure.savefig(temporary, format=format_, dpi=140, metadata=metadata)
