"""All figures of a paper, as SVG and PNG, and those of other things than scores: importance of axioms (ARES, figure 2),
and distribution of term weights (DeepCT, figure 1)."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from irpretrain.config import Config
from irpretrain.config.labels import index_labels
from irpretrain.config.papers import Drawing, Published, load_published
from irpretrain.config.printed import PublishedAxioms
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.report import curves
from irpretrain.report.axiom_results import (
    NO_PREDICTORS,
    PredictorGroup,
    PredictorScores,
    in_order,
    predictor_groups,
)
from irpretrain.report.drawing import (
    COLOURS,
    draw_panels,
    empty_figure,
    heading,
    legend_below,
    line_style,
    save,
)
from irpretrain.report.result_files import ResultFiles


def make_figures(
    paper: str | Path,
    config: Config,
    files: ResultFiles,
    metrics: Sequence[str | Path],
    output_directory: str | Path,
) -> dict[str, Any]:
    """Draw every figure of a paper as `<paper>_<figure>.svg` and `.png`; return how many."""
    scores, axioms = files.read(), files.read_axioms()
    draw: dict[Drawing, tuple[Callable[[Published, str, Config, Any], Any], Any]] = {
        "loss-curves": (curves.loss_curves, metrics),
        "step-curves": (curves.step_curves, scores),
        "few-shot-curves": (curves.few_shot_curves, scores),
        "series": (curves.series_figure, scores),
        "with-and-without": (curves.with_and_without, scores),
        "importance": (importance_bars, axioms.predictors),
        "weight-curves": (weight_curves, files.distributions),
    }
    published = load_published(paper)
    for name, printed in published.figures.items():
        figure, source = draw[printed.drawn]
        save(figure(published, name, config, source), output_directory, f"{published.paper}_{name}")
    return {"figures": len(published.figures)}


# How much each axiom counts in the preference predictor, a panel a setting (ARES, figure 2).


# Inches, for nine bars.
PANEL_HEIGHT = 3.0


def importance_bars(
    published: Published, name: str, config: Config, predictors: Sequence[PredictorScores]
) -> Any:
    """Draw the gain of each axiom, divided by the largest of its predictor; colours tell the groups of axioms."""
    title = heading(published, published.figures[name])
    axioms = published.axioms
    if axioms is None or not predictors:
        return empty_figure(title, next(iter(config.absent_predictors.values()), NO_PREDICTORS))
    settings = [setting.setting for setting in axioms.predictors.settings]
    groups = predictor_groups(axioms, config, predictors)
    panels = [(group, setting) for group in groups for setting in settings if setting in group.members]
    remark = (
        "Bars: gain of all splits on an axiom, divided by that of the axiom with the largest. Colours: the groups "
        f"{', '.join(dict.fromkeys(axioms.groups.values()))}."
    )
    return draw_panels(
        title,
        panels,
        lambda axis, panel: _draw_importance(axis, axioms, panel[0], panel[0].members[panel[1]]),
        remark,
        height=PANEL_HEIGHT,
        columns=2,
    )


def _draw_importance(
    axis: Any, axioms: PublishedAxioms, group: PredictorGroup, scores: PredictorScores
) -> None:
    names = in_order(axioms, [*axioms.groups, *(a for a in scores.axioms if a not in axioms.groups)])
    colours = {kind: COLOURS[position] for position, kind in enumerate(dict.fromkeys(axioms.groups.values()))}
    largest = max(scores.importance.values(), default=0.0) or 1.0
    for position, axiom in enumerate(names):
        if axiom in scores.axioms:
            value = scores.importance.get(axiom, 0.0) / largest
            axis.barh(position, value, color=colours.get(axioms.groups.get(axiom, ""), "#444444"))
            axis.text(value + 0.015, position, f"{value:.2f}", va="center", fontsize=9)
        else:
            axis.text(0.015, position, "not a feature", va="center", fontsize=9, color="#444444")
    axis.set_yticks(range(len(names)), names, fontsize=9)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(0, 1.12)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"], fontsize=9)
    axis.grid(axis="y", visible=False)
    axis.set_title(f"Setting {scores.setting}, AUC {scores.auc:.3f}\n{group.label}", fontsize=10)


# How much of a passage's weight its heaviest terms have, as curves over their ranks (DeepCT, figure 1).


NO_DISTRIBUTIONS = "the configuration names no collection under weight_distributions"
REMARK = (
    "Mean over passages of a term's weight divided by the sum of its passage's weights. Terms are those of the index: "
    "stop words are gone, stems added up. A passage with fewer terms counts 0 at the ranks beyond them; passages "
    "without any are left out."
)
# Inches: height of a panel without its legend, and of a line of that.
PANEL, WEIGHT_LEGEND_LINE = 3.6, 0.24


class WeightingShares(BaseModel):
    """Mean shares of a weighting by rank, and what they are means over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    weighting: str
    passages: int = Field(ge=0)
    passages_without_terms: int = Field(ge=0)
    shares: list[float | None] = Field(min_length=1)

    @property
    def counted(self) -> int:
        """Number of passages that the means are over."""
        return self.passages - self.passages_without_terms


def read_distribution(path: str | Path) -> list[WeightingShares]:
    """Read what `irpretrain.retrieval.weighted_index` wrote; raise InputError where it is not that."""
    with refusing(path, "these shares of weights cannot be used", MAKE_AGAIN):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return [WeightingShares.model_validate(row) for row in content["weightings"]]


def weight_curves(
    published: Published, name: str, config: Config, distributions: Sequence[str | Path]
) -> Any:
    title = heading(published, published.figures[name])
    if not distributions:
        return empty_figure(title, NO_DISTRIBUTIONS)
    panels = {
        config.weight_distributions[path.stem].label: read_distribution(path)
        for path in map(Path, distributions)
    }
    labels = index_labels(config)
    return draw_panels(
        title,
        list(panels.items()),
        lambda axis, panel: _draw(axis, panel[0], panel[1], labels),
        REMARK,
        height=PANEL + WEIGHT_LEGEND_LINE * max(len(shares) for shares in panels.values()),
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
    axis.set_title(f"{label}, {count_of(weightings[0].passages, 'passage')}", fontsize=11)
    legend_below(axis)


def _legend(weighting: WeightingShares, label: str) -> str:
    if weighting.shares[0] is None:
        return f"{label}: no passage has a term"
    without = (
        f", {count_of(weighting.passages_without_terms, 'passage')} without terms"
        if weighting.passages_without_terms
        else ""
    )
    return f"{label}: {100 * weighting.shares[0]:.1f} % on the heaviest{without}"
