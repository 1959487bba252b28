"""Scores over a series of models that differ in one number (Wikiformer, figure 4; PHP, figure 5).

A series is found by the models' names: `<series>-<number>` in the configuration, such as wikiformer-srr-1000 (pairs),
php-negatives-24 or php-anchors-50 (percent). Where pairs are counted, the snapshots `<series>@<step>` belong to it
too, at the pairs seen until then. A model that is called like the series itself stands at its own number.
"""

from __future__ import annotations

import re
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import COLOURS, STYLE, empty_figure, legend_below, new_figure, titled
from irpretrain.report.drawing import (
    draw_level,
    draw_with_interval,
    heading,
    measure_of,
    queries_text,
    reading_remark,
    short_label,
    training_remark,
)
from irpretrain.report.naming import FIRST_STAGES, dataset_label, regime_label
from irpretrain.report.scores import RunName, Scores

AXES = {
    "pairs": "pre-training pairs",
    "negatives": "negatives for each positive",
    "anchor-percent": "masked anchor words (%)",
}
"""What the numbers of a series count, as the label of the axis."""
MEANINGS = {
    "pairs": "Pairs: steps times groups in a step, a group being a pseudo-query and its documents. ",
    "negatives": "",
    "anchor-percent": "",
}
SEARCHING = "QL searches the whole collection. "
FEWEST = 2
"""Points that make a series."""
DASHES = (":", (0, (5, 3)), (0, (5, 2, 1, 2)))


def series_figure(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw the scores of a series of models over their numbers; the levels of other models as broken lines."""
    from matplotlib import rc_context

    figure_data = published.figures[name]
    title = heading(published, figure_data)
    panels = {
        (pair, regime): points
        for pair in scores.pairs()
        for regime in figure_data.regimes
        if len(points := series_points(figure_data, config, scores, pair, regime)) >= FEWEST
    }
    if not panels:
        return empty_figure(title, _absent(figure_data))
    figure, axes = new_figure(len(panels))
    with rc_context(STYLE):
        for axis, ((pair, regime), points) in zip(axes, panels.items(), strict=True):
            _draw(axis, figure_data, config, scores, pair, regime, points)
        models = [run.model.partition("@")[0] for points in panels.values() for run in points.values()]
        labels = " and ".join(dict.fromkeys(dataset_label(config, *pair) for pair, _ in panels))
        reading = reading_remark(config, scores, [pair for pair, _ in panels], figure_data)
        searching = SEARCHING if set(FIRST_STAGES) & set(figure_data.models.get("levels", [])) else ""
        training = training_remark(config, list(dict.fromkeys(models)))
        titled(
            figure, f"{title}, on {labels}", f"{MEANINGS[figure_data.counts]}{reading} {searching}{training}"
        )
    return figure


def series_points(
    figure_data: PublishedFigure, config: Config, scores: Scores, pair: tuple[str, str], regime: str
) -> dict[int, RunName]:
    """Return number → run of a series, ascending; where several runs have a number, the model named after it."""
    found: dict[int, RunName] = {}
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
                        found.setdefault(number, run)
    return dict(sorted(found.items()))


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
    return f"no experiment runs {FEWEST} or more models {series}-<number>{snapshots} {regimes}{figure_data.where}"


def _draw(
    axis: Any,
    figure_data: PublishedFigure,
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    regime: str,
    points: dict[int, RunName],
) -> None:
    measure = measure_of(scores, pair[0], figure_data)
    label = f"{_series_label(config, figure_data.models['series'])}, {regime_label(regime)}"
    draw_with_interval(axis, config, scores, list(points.values()), list(points), measure, 0, label)
    for place, model in enumerate(figure_data.models.get("levels", [])):
        first = scores.first_stage(pair[0], model) if model in FIRST_STAGES else None
        run = first or RunName(*pair, model, regime)
        draw_level(
            axis, scores, run, measure, short_label(config, model), DASHES[place % 3], COLOURS[1 + place]
        )
    if figure_data.counts == "pairs":
        axis.set_xscale("log")
        axis.minorticks_off()
    ticks = _ticks(list(points), figure_data.counts == "pairs")
    axis.set_xticks(ticks, [f"{number:,}" for number in ticks])
    axis.set_xlabel(AXES[figure_data.counts])
    axis.set_ylabel(measure)
    title = f"{dataset_label(config, *pair)}, {regime_label(regime)}, {queries_text(scores, pair[0])}"
    axis.set_title(title, fontsize=10)
    legend_below(axis)


def _series_label(config: Config, series: list[str]) -> str:
    """What the models of a series are but for their number: the label of the one that is called like a series."""
    return next((config.models[name].label for name in series if name in config.models), series[0])


def _ticks(numbers: list[int], logarithmic: bool) -> list[int]:
    """The numbers themselves; powers of ten where they span several, so that labels keep apart."""
    powers = [10**n for n in range(12) if numbers[0] <= 10**n <= numbers[-1]]
    return powers if logarithmic and len(powers) > 1 else numbers
