"""How much each axiom counts in the preference predictor, a panel a setting (ARES, figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import PredictorScores
from irpretrain.report.canvas import COLOURS, draw_panels, empty_figure
from irpretrain.report.drawing import heading
from irpretrain.report.predictor_groups import PredictorGroup, in_order, predictor_groups
from irpretrain.report.settings_table import NO_PREDICTORS

PANEL_HEIGHT = 3.0
"""Inches, for nine bars."""


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
    missing = _missing(groups, settings)
    remark = (
        "Bars: gain of all splits on an axiom, divided by that of the axiom with the largest. Colours: the groups "
        f"{', '.join(dict.fromkeys(axioms.groups.values()))}."
    ) + (f" Not run: {'; '.join(missing)}." if missing else "")
    return draw_panels(
        title,
        panels,
        lambda axis, panel: _draw(axis, axioms, panel[0], panel[0].members[panel[1]]),
        remark,
        height=PANEL_HEIGHT,
        columns=2,
    )


def _missing(groups: Sequence[PredictorGroup], settings: Sequence[str]) -> list[str]:
    """Return "SQuAD 1.1 train, settings II, III" for each group that lacks some."""
    lacking = [
        (group.label, [setting for setting in settings if setting not in group.members]) for group in groups
    ]
    return [
        f"{label}, setting{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
        for label, absent in lacking
        if absent
    ]


def _draw(axis: Any, axioms: PublishedAxioms, group: PredictorGroup, scores: PredictorScores) -> None:
    names = in_order(axioms, [*axioms.groups, *(a for a in scores.axioms if a not in axioms.groups)])
    colours = {kind: COLOURS[place] for place, kind in enumerate(dict.fromkeys(axioms.groups.values()))}
    largest = max(scores.importance.values(), default=0.0) or 1.0
    for place, axiom in enumerate(names):
        if axiom in scores.axioms:
            value = scores.importance.get(axiom, 0.0) / largest
            axis.barh(place, value, color=colours.get(axioms.groups.get(axiom, ""), "#444444"))
            axis.text(value + 0.015, place, f"{value:.2f}", va="center", fontsize=9)
        else:
            axis.text(0.015, place, "not a feature", va="center", fontsize=9, color="#444444")
    axis.set_yticks(range(len(names)), names, fontsize=9)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(0, 1.12)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"], fontsize=9)
    axis.grid(axis="y", visible=False)
    axis.set_title(f"Setting {scores.setting}, AUC {scores.auc:.3f}\n{group.label}", fontsize=10)
