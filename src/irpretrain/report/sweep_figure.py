"""The sweep of a first stage's parameters as a figure: a heat map of two parameters, a line of one."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from irpretrain.atomic import read_csv
from irpretrain.report.canvas import COLOURS, draw_panels, save

NAMES = {"k1": "k₁", "b": "b", "mu": "μ", "smoothing": "λ"}


def draw_sweep(
    tuning: str | Path, grid: str | Path, label: str, dataset: str, output: str | Path
) -> dict[str, Any]:
    """Draw what `irpretrain.retrieval.tuning.tune` wrote.

    Args:
        tuning, grid: its files.
        label: the first stage's name in tables.
        dataset: name of the data set whose queries chose.
        output: the SVG; a PNG is written beside it.
    """
    tuned = json.loads(Path(tuning).read_text(encoding="utf-8"))
    rows = [{name: float(value) for name, value in row.items()} for row in read_csv(grid)]
    parameters, measure = tuned["parameters"], tuned["measure"]
    chosen = ", ".join(f"{NAMES[name]} = {value:g}" for name, value in parameters.items())
    remark = (
        f"{tuned['queries']} training queries of {dataset}. Chosen: {chosen}, {measure} {tuned['value']:.4f}."
    )
    if tuned["at_edge"]:
        edges = " and ".join(NAMES[name] for name in tuned["at_edge"])
        remark += f" {edges} at the edge of the grid: something better may lie beyond it."
    draw = partial(_heat_map if len(parameters) == 2 else _line, measure=measure, chosen=parameters)
    title = f"{label}: {measure} over the grid of parameters"
    figure = draw_panels(title, [rows], draw, remark, height=4.6)
    save(figure, Path(output).parent, Path(output).stem)
    return {"points": len(rows)}


def _heat_map(axis: Any, rows: list[dict[str, float]], measure: str, chosen: dict[str, float]) -> None:
    down, across = chosen
    values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in chosen}
    at = {(row[down], row[across]): row[measure] for row in rows}
    image = axis.imshow(
        [[at[first, second] for second in values[across]] for first in values[down]],
        cmap="cividis",
        aspect="auto",
        origin="lower",
    )
    axis.grid(visible=False)
    axis.set_xticks(range(len(values[across])), [f"{value:g}" for value in values[across]])
    axis.set_yticks(range(len(values[down])), [f"{value:g}" for value in values[down]])
    axis.set_xlabel(NAMES[across])
    axis.set_ylabel(NAMES[down])
    low, high = min(at.values()), max(at.values())
    for (first, second), value in at.items():
        dark = value < (low + high) / 2
        best = first == chosen[down] and second == chosen[across]
        axis.text(
            values[across].index(second),
            values[down].index(first),
            f"{value:.3f}".lstrip("0"),
            ha="center",
            va="center",
            fontsize=8,
            fontweight="bold" if best else "normal",
            color="white" if dark else "black",
            bbox={"fill": False, "edgecolor": COLOURS[1], "linewidth": 2} if best else None,
        )
    axis.figure.colorbar(image, ax=axis, label=measure)


def _line(axis: Any, rows: list[dict[str, float]], measure: str, chosen: dict[str, float]) -> None:
    [name] = chosen
    axis.plot([row[name] for row in rows], [row[measure] for row in rows], marker="o", color=COLOURS[0])
    best = next(row for row in rows if row[name] == chosen[name])
    axis.plot([best[name]], [best[measure]], marker="o", markersize=12, fillstyle="none", color=COLOURS[1])
    if name == "mu":
        axis.set_xscale("log")
    axis.set_xlabel(NAMES[name])
    axis.set_ylabel(measure)
