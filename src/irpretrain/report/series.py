"""Scores over a series of models that differ in one number (Wikiformer, figure 4; PHP, figure 5).

A series is found by the models' names: `<series>-<number>` in the configuration, such as wikiformer-srr-1000 (pairs),
php-negatives-24 or php-anchors-50 (percent). Where pairs are counted, the snapshots `<series>@<step>` belong to it
too, at the pairs seen until then. A model that is called like the series itself stands at its own number."""

import re
from typing import Any

from irpretrain.config import Config
from irpretrain.config.usage import stage_over
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.drawing import COLOURS, ScoreFigure, short_label, training_remark
from irpretrain.report.naming import FIRST_STAGES, regime_label
from irpretrain.report.scores import Pair, RunName, Scores

# What the numbers of a series count, as the label of the axis.
AXES = {
    "pairs": "pre-training pairs",
    "negatives": "negatives for each positive",
    "anchor-percent": "masked anchor words (%)",
}
MEANINGS = {
    "pairs": "Pairs: steps times groups in a step, a group being a pseudo-query and its documents. ",
    "negatives": "",
    "anchor-percent": "",
}
SEARCHING = "QL searches the whole collection. "
# Points that make a series.
FEWEST = 2
DASHES = (":", (0, (5, 3)), (0, (5, 2, 1, 2)))


def series_figure(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw the scores of a series of models over their numbers; the levels of other models as broken lines."""
    view = ScoreFigure.of(published, name, config, scores)
    panels = [
        (pair, regime, points)
        for pair in scores.pairs()
        for regime in view.figure.regimes
        if len(points := series_points(view.figure, config, scores, pair, regime)) >= FEWEST
    ]
    if not panels:
        return view.absent(_absent(view.figure))
    models = [run.model.partition("@")[0] for *_, points in panels for run in points.values()]
    pairs = [pair for pair, *_ in panels]
    first_stages = set(FIRST_STAGES) & set(view.models("levels"))
    is_searched = any(stage_over(config, stage, pair[1]) is None for stage in first_stages for pair in pairs)
    searching = SEARCHING if is_searched else ""
    training = training_remark(config, list(dict.fromkeys(models)))
    remark = f"{MEANINGS[view.figure.counts]}{view.reading(pairs)} {searching}{training}"
    return view.panels(panels, lambda axis, panel: _draw(axis, view, *panel), remark, pairs)


def series_points(
    figure_data: PublishedFigure, config: Config, scores: Scores, pair: Pair, regime: str
) -> dict[int, RunName]:
    """Return number → run of a series, ascending; where several runs have a number, the model named after it."""
    run_at: dict[int, RunName] = {}
    runs = [n for n in scores.names() if (n.dataset, n.candidates, n.regime) == (*pair, regime)]
    for series in figure_data.models["series"]:
        for form in (rf"{series}-([0-9]+)", rf"{series}(?:@[0-9]+)?"):
            for run in runs:
                if match := re.fullmatch(form, run.model):
                    number = (
                        int(match[1])
                        if match.groups()
                        else _own_number(config, run.model, figure_data.counts)
                    )
                    if number is not None:
                        run_at.setdefault(number, run)
    return dict(sorted(run_at.items()))


def _own_number(config: Config, model: str, counts: str) -> int | None:
    """The number of a model that is called like its series, or of its snapshot; None where it has none, as a model
    trained for so many epochs has no number of pairs in the configuration."""
    name, _, step = model.partition("@")
    if name not in config.models or not config.models[name].tasks or (step and counts != "pairs"):
        return None
    training = config.training_of(name)
    if counts == "pairs":
        steps = int(step) if step else training.steps
        return None if steps is None else steps * training.batch_groups
    if counts == "negatives":
        options = [config.objectives[task.objective] for task in config.models[name].tasks]
        numbers = {getattr(option, "negatives", None) for option in options}
        return numbers.pop() if len(numbers) == 1 else None
    ratio = getattr(training.masking, "anchor_ratio", None)
    return None if ratio is None else round(100 * ratio)


def _absent(figure_data: PublishedFigure) -> str:
    """Why there is nothing to draw, and what would have to be run."""
    series = figure_data.models["series"][0]
    regimes = " or ".join(regime_label(regime) for regime in figure_data.regimes)
    snapshots = f", or {series} with snapshots," if figure_data.counts == "pairs" else ""
    return f"no experiment runs {FEWEST} or more models {series}-<number>{snapshots} {regimes}"


def _draw(axis: Any, view: ScoreFigure, pair: Pair, regime: str, points: dict[int, RunName]) -> None:
    measure, counts = view.measure(pair[0]), view.figure.counts
    models, series = view.config.models, view.models("series")
    # What the models are but for their number: the label of the one that is called like the series.
    named = next((models[name].label for name in series if name in models), series[0])
    view.line(axis, points.items(), measure, 0, f"{named}, {regime_label(regime)}")
    for position, model in enumerate(view.models("levels")):
        stage = stage_over(view.config, model, pair[1]) or model
        first = view.scores.first_stage(pair[0], stage) if model in FIRST_STAGES else None
        run = first or RunName(*pair, model, regime)
        label = short_label(view.config, model)
        view.level(axis, run, measure, label, DASHES[position % 3], COLOURS[1 + position])
    if counts == "pairs":
        axis.set_xscale("log")
        axis.minorticks_off()
    ticks = list(points)
    powers = [10**n for n in range(12) if ticks[0] <= 10**n <= ticks[-1]]
    if counts == "pairs" and len(powers) > 1:  # so that labels keep apart
        ticks = powers
    axis.set_xticks(ticks, [f"{number:,}" for number in ticks])
    view.finish(axis, pair, measure, AXES[counts], regime_label(regime))


# Models with and without one part, as bars side by side (PHP, figure 6).
#
# The model without masked language modelling is called `<model>-without-mlm`.


# The two bars of a model, and what is added to its name.
SUFFIXES = {"with MLM": "", "without MLM": "-without-mlm"}
WIDTH = 0.36
HATCHES = ("", "//")
# Their places in the palette.
BAR_COLOURS = (0, 5)


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
    return view.panels(panels, lambda axis, panel: _draw_bars(axis, view, *panel), remark, pairs)


def _was_run(scores: Scores, pair: Pair, regime: str, model: str) -> bool:
    return RunName(*pair, model, regime) in scores.names()


def _draw_bars(axis: Any, view: ScoreFigure, pair: Pair, regime: str) -> None:
    measure, models = view.measure(pair[0]), view.models("with")
    for side, (label, suffix) in enumerate(SUFFIXES.items()):
        positions, means, below, above = [], [], [], []
        for position, model in enumerate(models):
            run = RunName(*pair, f"{model}{suffix}", regime)
            results, bounds = view.scores.get(run, measure), view.interval(run, measure)
            x = position + (side - 0.5) * WIDTH
            if results is None or bounds is None:
                axis.text(
                    x, 0, " not run", rotation=90, ha="center", va="bottom", fontsize=9, color="#444444"
                )
                continue
            positions.append(x)
            means.append(results.mean)
            below.append(results.mean - bounds[0])
            above.append(bounds[1] - results.mean)
        style = {"color": COLOURS[BAR_COLOURS[side]], "hatch": HATCHES[side], "edgecolor": "white"}
        axis.bar(positions, means, WIDTH, yerr=(below, above), label=label, ecolor="#444444", **style)
    for model in view.models("levels"):
        label = short_label(view.config, model)
        view.level(axis, RunName(*pair, model, regime), measure, label, ":", COLOURS[1])
    known = view.config.models
    # Names of models that the configuration lacks are broken, so that neighbours keep apart.
    labels = [known[name].label if name in known else name.replace("-", "-\n", 1) for name in models]
    axis.set_xticks(range(len(models)), labels, fontsize=9)
    axis.grid(axis="x", visible=False)
    view.finish(axis, pair, measure, detail=regime_label(regime))
