"""Fine-tuning with few queries (PROP, figure 2; ARES, figure 3), and with few and many (PHP, figure 4)."""

from __future__ import annotations

import math
import re
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import (
    COLOURS,
    STYLE,
    empty_figure,
    legend_below,
    new_figure,
    say_not_run,
    titled,
)
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
from irpretrain.report.naming import (
    FIRST_STAGES,
    dataset_label,
    first_stage_labels,
    model_label,
    regime_label,
)
from irpretrain.report.scores import RunName, Scores

FEW_SHOT = re.compile(r"few-shot-([0-9]+)")
LARGE_SCALE = 1_000
"""From so many training queries on, fine-tuning counts as large-scale."""
SPREAD = 0.05
"""Distance in ticks between two curves' points at one number of queries: their intervals stand side by side."""
SCALES = ("trained on few queries", "trained on many")
LEVEL_DASHES = ((0, (5, 3)), (0, (1, 2)), (0, (5, 2, 1, 2)))


def few_shot_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw performance over the number of training queries; dashed: full fine-tuning and BM25 (PROP, figure 2)."""
    from matplotlib import rc_context

    figure_data = published.figures[name]
    title = heading(published, figure_data)
    model = next((m for m in figure_data.models["solid"] if m in config.models), None)
    pairs = [pair for pair in scores.pairs() if model and _few_shot(scores, pair, model)]
    if model is None or not pairs:
        return empty_figure(
            title, f"no experiment fine-tunes {figure_data.models['solid'][-1]} in a few-shot regime"
        )
    figure, axes = new_figure(len(pairs))
    with rc_context(STYLE):
        for axis, pair in zip(axes, pairs, strict=True):
            _draw_few_shot(axis, published, figure_data, config, scores, pair, model)
        labels = " and ".join(dict.fromkeys(dataset_label(config, *pair) for pair in pairs))
        reading = reading_remark(config, scores, pairs, figure_data)
        smallest = min(n for pair in pairs for n in _few_shot(scores, pair, model))
        remark = f"{steps_remark(config, smallest)} {reading} {training_remark(config, [model])}"
        titled(figure, f"{title}, on {labels}", remark)
    return figure


def steps_remark(config: Config, queries: int) -> str:
    """Return what zero queries are, the batches, and how few steps the fewest training queries make up."""
    options = config.finetuning
    sizes = list(dict.fromkeys(options.few_shot_batch_sizes))
    steps = list(dict.fromkeys(math.ceil(queries / size) for size in sizes))
    passes = "1 pass" if options.epochs == 1 else f"at most {options.epochs} passes"
    return (
        f"Zero queries: zero-shot. Batches of {_either(sizes)}, {passes}: {queries} training queries with one relevant "
        f"document each are {_either(steps)} step{'' if steps == [1] else 's'} a pass."
    )


def _either(numbers: list[int]) -> str:
    """Return "4, 8 or 16"."""
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last


def _few_shot(scores: Scores, pair: tuple[str, str], model: str) -> list[int]:
    runs = [n for n in scores.names() if (n.dataset, n.candidates, n.model) == (*pair, model)]
    return sorted(int(match[1]) for n in runs if (match := FEW_SHOT.fullmatch(n.regime)))


def _draw_few_shot(
    axis: Any,
    published: Published,
    figure_data: PublishedFigure,
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    model: str,
) -> None:
    measure = measure_of(scores, pair[0], figure_data)
    queries = [0, *_few_shot(scores, pair, model)]
    runs = [RunName(*pair, model, f"few-shot-{n}" if n else "zero-shot") for n in queries]
    draw_with_interval(axis, config, scores, runs, queries, measure, 0, model_label(config, model))
    for place, other in enumerate(figure_data.models["dashed"]):
        if other in FIRST_STAGES:
            run, label = _first_stage_level(published, config, scores, pair, other)
        else:
            run = RunName(*pair, other, "full")
            label = f"{config.models[other].label} ({other}), {regime_label('full')} on all queries"
        draw_level(axis, scores, run, measure, label, LEVEL_DASHES[place % 3], COLOURS[1 + place])
    axis.set_xlabel("training queries")
    axis.set_ylabel(measure)
    axis.set_xticks(queries)
    axis.set_title(f"{dataset_label(config, *pair)}, {queries_text(scores, pair[0])}", fontsize=10)
    legend_below(axis)


def _first_stage_level(
    published: Published, config: Config, scores: Scores, pair: tuple[str, str], level: str
) -> tuple[RunName, str]:
    """Return the run of a level line and its label: where given candidates are re-ranked, their order, as a first stage
    of ours searches the whole collection."""
    name = pair[1] if pair[1] in published.candidates else level
    run = scores.first_stage(pair[0], name) or RunName(pair[0], name, name, "first-stage")
    return run, first_stage_labels(config)[name]


def query_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw several models over the number of training queries, few and many in panels of their own (PHP, figure 4)."""
    from matplotlib import rc_context

    figure_data = published.figures[name]
    title = heading(published, figure_data)
    wanted = figure_data.models["curves"]
    pairs = [pair for pair in scores.pairs() if any(_few_shot(scores, pair, model) for model in wanted)]
    if not pairs:
        reason = f"no experiment fine-tunes {wanted[0]} in a few-shot regime{figure_data.where}"
        return empty_figure(title, reason)
    figure, axes = new_figure(2 * len(pairs), columns=2)
    with rc_context(STYLE):
        for place, axis in enumerate(axes):
            _draw_scale(axis, figure_data, config, scores, pairs[place // 2], place % 2 == 1)
        _say_how_to_read(figure, title, figure_data, config, scores, pairs)
    return figure


def compared_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw several models over the number of training queries, a panel a data set; first stages as levels (ARES, 3)."""
    from matplotlib import rc_context

    figure_data = published.figures[name]
    title = heading(published, figure_data)
    wanted = figure_data.models["curves"]
    pairs = [pair for pair in scores.pairs() if _few_shot(scores, pair, wanted[0])]
    if not pairs:
        reason = f"no experiment fine-tunes {wanted[0]} in a few-shot regime{figure_data.where}"
        return empty_figure(title, reason)
    figure, axes = new_figure(len(pairs))
    with rc_context(STYLE):
        for axis, pair in zip(axes, pairs, strict=True):
            measure = measure_of(scores, pair[0], figure_data)
            axis.set_title(f"{dataset_label(config, *pair)}, {queries_text(scores, pair[0])}", fontsize=10)
            queries = {model: _few_shot(scores, pair, model) for model in wanted}
            drawn = {m: _from_zero(scores, pair, m, measure, found) for m, found in queries.items() if found}
            _draw_curves(axis, config, scores, pair, drawn, measure)
            for place, level in enumerate(figure_data.models.get("levels", [])):
                run, label = _first_stage_level(published, config, scores, pair, level)
                draw_level(axis, scores, run, measure, label, LEVEL_DASHES[place % 3])
            legend_below(axis)
        _say_how_to_read(figure, title, figure_data, config, scores, pairs)
    return figure


def _say_how_to_read(
    figure: Any,
    title: str,
    figure_data: PublishedFigure,
    config: Config,
    scores: Scores,
    pairs: list[tuple[str, str]],
) -> None:
    """Set title and remark: measure, intervals, text of pre-training, and the paper's curves that are missing."""
    wanted = figure_data.models["curves"]
    drawn = [model for model in wanted if any(_few_shot(scores, pair, model) for pair in pairs)]
    stand_ins = figure_data.models.get("stand_ins", [])  # the paper has no such curve to miss
    missing = [model for model in wanted if model not in (*drawn, *stand_ins)]
    reading = reading_remark(config, scores, pairs, figure_data)
    smallest = min(n for pair in pairs for model in drawn for n in _few_shot(scores, pair, model))
    remark = f"{steps_remark(config, smallest)} {reading} {training_remark(config, drawn)}"
    labels = " and ".join(dict.fromkeys(dataset_label(config, *pair) for pair in pairs))
    titled(figure, f"{title}, on {labels}", remark + (f" Not run: {', '.join(missing)}." if missing else ""))


def _draw_scale(
    axis: Any,
    figure_data: PublishedFigure,
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    large: bool,
) -> None:
    """Draw the curves of one data set over few queries, with zero-shot as zero, or over many; evenly spaced."""
    measure = measure_of(scores, pair[0], figure_data)
    tested = queries_text(scores, pair[0])
    axis.set_title(f"{dataset_label(config, *pair)}, {SCALES[large]}, {tested}", fontsize=10)
    curves = {}
    for model in figure_data.models["curves"]:
        queries = [n for n in _few_shot(scores, pair, model) if (n >= LARGE_SCALE) == large]
        curves[model] = queries if large else _from_zero(scores, pair, model, measure, queries)
    if any(curves.values()):
        _draw_curves(axis, config, scores, pair, curves, measure)
        legend_below(axis)
    else:
        wanted = f"{LARGE_SCALE:,} queries or more" if large else f"fewer than {LARGE_SCALE:,} queries"
        say_not_run(axis, f"no experiment fine-tunes with {wanted} (few-shot-<n>)")


def _from_zero(
    scores: Scores, pair: tuple[str, str], model: str, measure: str, queries: list[int]
) -> list[int]:
    """Numbers of training queries, after 0 where there are any and the model was run zero-shot too."""
    zero_shot = scores.get(RunName(*pair, model, "zero-shot"), measure)
    return [0, *queries] if queries and zero_shot else queries


def _draw_curves(
    axis: Any,
    config: Config,
    scores: Scores,
    pair: tuple[str, str],
    curves: dict[str, list[int]],
    measure: str,
) -> None:
    """Draw each model over its numbers of training queries, evenly spaced, the curves a little apart."""
    ticks = sorted({number for queries in curves.values() for number in queries})
    for colour, (model, queries) in enumerate(curves.items()):
        runs = [RunName(*pair, model, f"few-shot-{n}" if n else "zero-shot") for n in queries]
        aside = SPREAD * (colour - (len(curves) - 1) / 2)
        places = [ticks.index(number) + aside for number in queries]
        if queries:
            label = short_label(config, model)
            draw_with_interval(axis, config, scores, runs, places, measure, colour, label, bars=True)
    axis.set_xlabel("training queries")
    axis.set_ylabel(measure)
    axis.set_xticks(range(len(ticks)), [f"{number:,}" for number in ticks])
