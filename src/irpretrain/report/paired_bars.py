"""Models with and without one part, as bars side by side (PHP, figure 6).

The model without masked language modelling is called `<model>-without-mlm`.
"""

from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Published
from irpretrain.report.canvas import COLOURS
from irpretrain.report.drawing import ScoreFigure, short_label, training_remark
from irpretrain.report.naming import regime_label
from irpretrain.report.scores import Pair, RunName, Scores

SUFFIXES = {"with MLM": "", "without MLM": "-without-mlm"}
"""The two bars of a model, and what is added to its name."""
WIDTH = 0.36
HATCHES = ("", "//")
BAR_COLOURS = (0, 5)
"""Their places in the palette."""


def paired_bars(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw the scores of some models with and without masked language modelling, and of others as horizontal lines."""
    view = ScoreFigure.of(published, name, config, scores)
    models, without = view.models("with"), SUFFIXES["without MLM"]
    panels = [
        (pair, regime)
        for pair in scores.pairs()
        for regime in view.figure.regimes
        if any(_was_run(scores, pair, regime, f"{model}{without}") for model in models)
    ]
    if not panels:
        return view.absent(f"no experiment runs a model such as {models[0]}{without}")
    levels = [
        model for model in view.models("levels") if any(_was_run(scores, *panel, model) for panel in panels)
    ]
    pairs = [pair for pair, _ in panels]
    remark = f"{view.reading(pairs)} {training_remark(config, [*models, *levels])}"
    return view.panels(panels, lambda axis, panel: _draw(axis, view, *panel), remark, pairs)


def _tick(config: Config, model: str) -> str:
    """The model's label; for one that the configuration lacks its name, broken so that neighbours keep apart."""
    return config.models[model].label if model in config.models else model.replace("-", "-\n", 1)


def _was_run(scores: Scores, pair: Pair, regime: str, model: str) -> bool:
    return RunName(*pair, model, regime) in scores.names()


def _draw(axis: Any, view: ScoreFigure, pair: Pair, regime: str) -> None:
    measure, models = view.measure(pair[0]), view.models("with")
    for side, (label, suffix) in enumerate(SUFFIXES.items()):
        places, means, below, above = [], [], [], []
        for place, model in enumerate(models):
            run = RunName(*pair, f"{model}{suffix}", regime)
            results, bounds = view.scores.get(run, measure), view.interval(run, measure)
            x = place + (side - 0.5) * WIDTH
            if results is None or bounds is None:
                axis.text(
                    x, 0, " not run", rotation=90, ha="center", va="bottom", fontsize=9, color="#444444"
                )
                continue
            places.append(x)
            means.append(results.mean)
            below.append(results.mean - bounds[0])
            above.append(bounds[1] - results.mean)
        style = {"color": COLOURS[BAR_COLOURS[side]], "hatch": HATCHES[side], "edgecolor": "white"}
        axis.bar(places, means, WIDTH, yerr=(below, above), label=label, ecolor="#444444", **style)
    for model in view.models("levels"):
        label = short_label(view.config, model)
        view.level(axis, RunName(*pair, model, regime), measure, label, ":", COLOURS[1])
    axis.set_xticks(range(len(models)), [_tick(view.config, model) for model in models], fontsize=9)
    axis.grid(axis="x", visible=False)
    view.finish(axis, pair, measure, detail=regime_label(regime))
