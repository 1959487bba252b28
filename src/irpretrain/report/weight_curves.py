"""How much of a passage's weight its heaviest terms have, as curves over their ranks (DeepCT, figure 1)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from irpretrain.config import Config
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.published import Published
from irpretrain.report.canvas import draw_panels, empty_figure, legend_below, line_style, save
from irpretrain.report.drawing import heading
from irpretrain.report.naming import index_labels

TITLE = "Share of a passage's weight that its heaviest terms have"
NO_DISTRIBUTIONS = "the configuration names no collection under weight_distributions"
REMARK = (
    "Mean over passages of a term's weight divided by the sum of its passage's weights. Terms are those of the index: "
    "stop words are gone, stems added up. A passage with fewer terms counts 0 at the ranks beyond them; passages "
    "without any are left out."
)
PANEL, LEGEND_LINE = 3.6, 0.24
"""Inches: height of a panel without its legend, and of a line of that."""


class WeightingShares(BaseModel):
    """Mean shares of a weighting by rank, and what they are means over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    weighting: str
    passages: int = Field(ge=0)
    passages_without_terms: int = Field(ge=0)
    shares: list[float | None] = Field(min_length=1)


def read_distribution(path: str | Path) -> list[WeightingShares]:
    """Read what `irpretrain.retrieval.weight_distribution` wrote; raise InputError where it is not that."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return [WeightingShares.model_validate(row) for row in content["weightings"]]
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        fault = f"these shares of weights cannot be used: {' '.join(str(error).split())}"
        raise InputError(path, fault, remedy=MAKE_AGAIN) from None


def weight_curves(
    published: Published, name: str, config: Config, distributions: Sequence[str | Path]
) -> Any:
    """Draw a panel for each collection.

    Args:
        distributions: `results/weight_distributions/<name>.json`.
    """
    title = heading(published, published.figures[name])
    if not distributions:
        return empty_figure(title, NO_DISTRIBUTIONS)
    panels = {
        config.weight_distributions[path.stem].label: read_distribution(path)
        for path in map(Path, distributions)
    }
    return _figure(title, panels, index_labels(config))


def draw_distribution(
    shares: str | Path, label: str, labels: Mapping[str, str], output: str | Path
) -> dict[str, Any]:
    """Draw one collection as a figure by itself.

    Args:
        shares: what `irpretrain.retrieval.weight_distribution` wrote.
        label: the collection's name.
        labels: weighting → its name.
        output: the SVG; a PNG is written beside it.
    """
    weightings = read_distribution(shares)
    save(_figure(TITLE, {label: weightings}, labels), Path(output).parent, Path(output).stem)
    return {"weightings": len(weightings)}


def _figure(title: str, panels: Mapping[str, Sequence[WeightingShares]], labels: Mapping[str, str]) -> Any:
    height = PANEL + LEGEND_LINE * max(len(shares) for shares in panels.values())
    return draw_panels(
        title,
        list(panels.items()),
        lambda axis, panel: _draw(axis, panel[0], panel[1], labels),
        REMARK,
        height=height,
        columns=2,
    )


def _draw(axis: Any, label: str, weightings: Sequence[WeightingShares], labels: Mapping[str, str]) -> None:
    ranks = range(1, max(len(weighting.shares) for weighting in weightings) + 1)
    for number, weighting in enumerate(weightings):
        points = [
            (rank, 100 * share)
            for rank, share in zip(ranks, weighting.shares, strict=False)
            if share is not None
        ]
        axis.plot(
            [rank for rank, _ in points],
            [share for _, share in points],
            label=_legend(weighting, labels.get(weighting.weighting, weighting.weighting)),
            **line_style(number),
        )
    axis.set_xticks(ranks)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("rank of the term by its weight")
    axis.set_ylabel("% of the passage's weight")
    axis.set_title(f"{label}, {weightings[0].passages:,} passages", fontsize=11)
    legend_below(axis)


def _legend(weighting: WeightingShares, label: str) -> str:
    if weighting.shares[0] is None:
        return f"{label}: no passage has a term"
    without = (
        f", {weighting.passages_without_terms:,} passages without terms"
        if weighting.passages_without_terms
        else ""
    )
    return f"{label}: {100 * weighting.shares[0]:.1f} % on the heaviest{without}"
