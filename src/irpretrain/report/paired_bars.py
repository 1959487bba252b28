"""Models with and without one part, as bars side by side (PHP, figure 6).

The model without masked language modelling is called `<model>-without-mlm`.
"""

from __future__ import annotations

from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import COLOURS, STYLE, empty_figure, legend_below, new_figure, titled
from irpretrain.report.comparisons import interval
from irpretrain.report.drawing import (
    draw_level,
    heading,
    measure_of,
    queries_text,
    reading_remark,
    short_label,
    training_remark,
)
from irpretrain.report.naming import dataset_label, regime_label
from irpretrain.report.scores import RunName, Scores, identifier

SUFFIXES = {"with MLM": "", "without MLM": "-without-mlm"}
"""The two bars of a model, and what is added to its name."""
WIDTH = 0.36
HATCHES = ("", "//")


def paired_bars(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw the scores of some models with and without masked language modelling, and the levels of others."""
    from matplotlib import rc_context

    figure_data = published.figures[name]
    title = heading(published, figure_data)
    models = figure_data.models["with"]
    panels = [
        (pair, regime)
        for pair in scores.pairs()
        for regime in figure_data.regimes
        if any(_known(scores, pair, regime, f"{model}{SUFFIXES['without MLM']}") for model in models)
    ]
    if not panels:
        reason = f"no experiment runs a model such as {models[0]}{SUFFIXES['without MLM']}{figure_data.where}"
        return empty_figure(title, reason)
    figure, axes = new_figure(len(panels))
    with rc_context(STYLE):
        for axis, (pair, regime) in zip(axes, panels, strict=True):
            _draw(axis, figure_data, config, scores, pair, regime)
        labels = " and ".join(dict.fromkeys(dataset_label(config, *pair) for pair, _ in panels))
        levels = [
            model
            for model in figure_data.models.get("levels", [])
            if any(_known(scores, *panel, model) for panel in panels)
        ]
        reading = reading_remark(config, scores, [pair for pair, _ in panels], figure_data)
        titled(figure, f"{title}, on {labels}", f"{reading} {training_remark(config, [*models, *levels])}")
    return figure


def _tick(config: Config, model: str) -> str:
    """The model's label; for one that the configuration lacks its name, broken so that neighbours keep apart."""
    return config.models[model].label if model in config.models else model.replace("-", "-\n", 1)


def _known(scores: Scores, pair: tuple[str, str], regime: str, model: str) -> bool:
    return RunName(*pair, model, regime) in scores.names()


def _draw(
    axis: Any,
    figure_data: PublishedFigure,
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    regime: str,
) -> None:
    measure = measure_of(scores, pair[0], figure_data)
    models = figure_data.models["with"]
    for side, (label, suffix) in enumerate(SUFFIXES.items()):
        places, means, below, above = [], [], [], []
        for place, model in enumerate(models):
            run = RunName(*pair, f"{model}{suffix}", regime)
            results = scores.get(run, measure)
            x = place + (side - 0.5) * WIDTH
            if results is None:
                axis.text(
                    x, 0, " not run", rotation=90, ha="center", va="bottom", fontsize=9, color="#444444"
                )
                continue
            low, high = interval(results, config.evaluation, config.seed, identifier(run, measure))
            places.append(x)
            means.append(results.mean)
            below.append(results.mean - low)
            above.append(high - results.mean)
        style = {"color": COLOURS[(0, 5)[side]], "hatch": HATCHES[side], "edgecolor": "white"}
        axis.bar(places, means, WIDTH, yerr=(below, above), label=label, ecolor="#444444", **style)
    for model in figure_data.models.get("levels", []):
        draw_level(
            axis, scores, RunName(*pair, model, regime), measure, short_label(config, model), ":", COLOURS[1]
        )
    axis.set_xticks(range(len(models)), [_tick(config, model) for model in models], fontsize=9)
    axis.grid(axis="x", visible=False)
    axis.set_ylabel(measure)
    title = f"{dataset_label(config, *pair)}, {regime_label(regime)}, {queries_text(scores, pair[0])}"
    axis.set_title(title, fontsize=10)
    legend_below(axis)
