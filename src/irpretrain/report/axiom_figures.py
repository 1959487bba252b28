"""Figures of axioms: how much each counts in the preference predictor, a panel a setting (ARES, figure 2); and which
of them re-rankers follow, as dots with intervals: a row an axiom, a colour a model; beyond the papers."""

import textwrap
from collections.abc import Sequence
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import Diagnosis, PredictorScores
from irpretrain.report.canvas import COLOURS, draw_panels, empty_figure, legend_below, line_style
from irpretrain.report.diagnosis_table import NO_DIAGNOSES, TITLE, diagnosed_axioms, diagnosis_label, pairs_of
from irpretrain.report.drawing import heading
from irpretrain.report.predictor_groups import PredictorGroup, in_order, predictor_groups
from irpretrain.report.settings_table import NO_PREDICTORS

PANEL_HEIGHT = 3.0
"""Inches, for nine bars."""
ROW, MODEL, LEGEND_LINE, MARGIN = 0.22, 0.085, 0.24, 1.9
"""Inches: of a row without models, of each model in it, of two entries of the legend, and of title and remark."""
LABEL = 42
"""Most letters of a model's label in one line of the legend."""


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
        lambda axis, panel: _draw_importance(axis, axioms, panel[0], panel[0].members[panel[1]]),
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


def _draw_importance(
    axis: Any, axioms: PublishedAxioms, group: PredictorGroup, scores: PredictorScores
) -> None:
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


def diagnosis_dots(published: Published, config: Config, diagnoses: Sequence[Diagnosis]) -> Any:
    """Draw the share of pairs on which each model decides as each axiom does; dashed: chance."""
    axioms = published.axioms
    if axioms is None or not diagnoses:
        return empty_figure(TITLE, NO_DIAGNOSES[0].lower() + NO_DIAGNOSES[1:].rstrip("."))
    most = max(len(diagnosis.models) for diagnosis in diagnoses)
    rows = max(len(diagnosed_axioms(axioms, diagnosis)) for diagnosis in diagnoses)
    height = MARGIN + rows * (ROW + MODEL * most) + LEGEND_LINE * -(-most // 2)
    remark = (
        "Of the pairs of pseudo-queries on which an axiom prefers one, the share on which the model's score "
        "prefers it too. In brackets: these pairs. Intervals: 95%, Wilson's. Dashed: chance."
    )
    return draw_panels(
        TITLE,
        diagnoses,
        lambda axis, diagnosis: _draw_diagnosis(axis, axioms, config, diagnosis),
        remark,
        height=height,
        columns=1,
    )


def _draw_diagnosis(axis: Any, axioms: PublishedAxioms, config: Config, diagnosis: Diagnosis) -> None:
    axis.set_title(diagnosis_label(config, diagnosis), fontsize=10)
    names, models = diagnosed_axioms(axioms, diagnosis), diagnosis.models
    for row in range(0, len(names), 2):
        axis.axhspan(row - 0.5, row + 0.5, color="#f3f5f8", zorder=0)
    axis.axvline(0.5, color="#444444", linestyle="--", linewidth=1)
    for number, (model, label) in enumerate(models.items()):
        aside = 0.8 * ((number + 0.5) / len(models) - 0.5)
        by_row = [(row, diagnosis.get(model, axiom)) for row, axiom in enumerate(names)]
        points = [
            (row + aside, agreement) for row, agreement in by_row if agreement is not None and agreement.pairs
        ]
        style = line_style(number)
        places = [place for place, _ in points]
        axis.hlines(
            places,
            [agreement.low for _, agreement in points],
            [agreement.high for _, agreement in points],
            color=style["color"],
        )
        shares = [agreement.share for _, agreement in points]
        text = textwrap.fill(label, LABEL)
        axis.plot(shares, places, markersize=5, linestyle="none", label=text, **style)
    pairs = pairs_of(diagnosis)
    axis.set_yticks(range(len(names)), [f"{axiom} ({pairs[axiom]:,})" for axiom in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(-0.015, 1.015)  # a mark at either end is seen whole
    axis.set_xlabel("share of pairs decided as the axiom does")
    axis.grid(axis="y", visible=False)
    legend_below(axis, columns=2, size=9)
