"""Curves of loss and test performance over pre-training steps (PROP, figure 1)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config import Config
from irpretrain.config.usage import stage_over
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.drawing import (
    COLOURS,
    ScoreFigure,
    draw_panels,
    empty_figure,
    heading,
    keyed_label,
    legend_below,
    line_style,
    short_label,
    training_remark,
    write_not_run,
)
from irpretrain.report.naming import (
    FIRST_STAGES,
    control_model,
    first_stage_labels,
    listed,
    model_label,
    regime_label,
)
from irpretrain.report.scores import Pair, RunName, Scores

# A loss curve is drawn with at most so many points; each is the mean of the steps around it.
POINTS = 100
# A curve of no more steps is drawn step by step.
FEW_STEPS = 10
SAMPLING = {"document-model": "sampling from the document language model", "random": "random sampling"}


def loss_curves(published: Published, name: str, config: Config, metrics: Sequence[str | Path]) -> Any:
    """Draw the ranking loss over the steps, one line a sampling strategy (PROP, figure 1a).

    Args:
        metrics: files `<model>/seed-<n>.jsonl`, one JSON object a step.
    """
    figure_data = published.figures[name]
    title = heading(published, figure_data)
    curves: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
    for strategy, models in figure_data.models.items():
        model = next((m for m in models if any(_model_of(path) == m for path in metrics)), None)
        if model is not None:
            steps, losses = _mean_losses([path for path in metrics if _model_of(path) == model])
            if len(steps):
                curves[strategy] = (model, steps, losses)
    if not curves:
        models_text = " or ".join(models[0] for models in figure_data.models.values())
        return empty_figure(title, f"no experiment pre-trains {models_text} with a ranking loss")
    models = [model for model, _, _ in curves.values()]
    remark = training_remark(config, models) + _absent(figure_data, curves, "pre-trained")
    return draw_panels(title, [curves], lambda axis, drawn: _draw_losses(axis, config, drawn), remark)


def _draw_losses(axis: Any, config: Config, curves: Mapping[str, tuple[str, np.ndarray, np.ndarray]]) -> None:
    for position, (strategy, (model, steps, losses)) in enumerate(curves.items()):
        x, y = binned(steps, losses)
        label, every = _strategy_label(strategy, model), max(1, len(x) // 10)
        axis.plot(x, y, markevery=every, label=label, markersize=5, **line_style(position))
    axis.set_xlabel("pre-training steps")
    axis.set_ylabel(f"ROP loss ({config.pretraining.loss})")
    axis.set_ylim(bottom=0)
    legend_below(axis)


def _strategy_label(strategy: str, model: str) -> str:
    return f"{SAMPLING.get(strategy, strategy)} ({model})"


def _absent(figure_data: PublishedFigure, drawn: Mapping[str, Any], verb: str) -> str:
    missing = [models[0] for strategy, models in figure_data.models.items() if strategy not in drawn]
    return f" Not {verb} here: {', '.join(missing)}." if missing else ""


def _model_of(path: str | Path) -> str:
    return Path(path).parent.name


def _mean_losses(paths: Sequence[str | Path]) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the ranking loss of each, averaged over seeds (files) and over tasks that have one."""
    losses_by_step: dict[int, list[float]] = {}
    for path in paths:
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            try:
                record = json.loads(line)
                losses = [task["ranking_loss"] for task in record["tasks"].values()]
                step = int(record["step"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                reason = f"not a line of training metrics ({error!r})"
                raise InputError(path, reason, number, MAKE_AGAIN) from None
            ranking_losses = [loss for loss in losses if loss is not None]
            if ranking_losses:
                losses_by_step.setdefault(step, []).append(sum(ranking_losses) / len(ranking_losses))
    steps = sorted(losses_by_step)
    return np.array(steps, float), np.array(
        [sum(losses_by_step[s]) / len(losses_by_step[s]) for s in steps], float
    )


def binned(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most POINTS means of neighbouring steps, and of their values."""
    # Short curves keep their steps; longer ones get at least four steps a point, against the noise of batches.
    parts = min(POINTS, max(len(steps) // 4, min(len(steps), FEW_STEPS)))
    chunks = np.array_split(np.arange(len(steps)), parts)
    return np.array([steps[c].mean() for c in chunks]), np.array([values[c].mean() for c in chunks])


def step_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw test performance over pre-training steps, from snapshots, zero-shot (PROP, figure 1b)."""
    view = ScoreFigure.of(published, name, config, scores)
    panels = [(pair, curves) for pair in scores.pairs() if (curves := _snapshot_curves(view, pair))]
    if not panels:
        reason = "no model that is run zero-shot keeps snapshots (models.<name>.training.snapshots)"
        return empty_figure(f"{view.title}, zero-shot", reason)
    drawn = [model for _, curves in panels for model in curves]
    undrawn = [m for models in view.figure.models.values() for m in models if m not in drawn]
    missing = f" Without snapshots here: {', '.join(undrawn)}." if undrawn else ""
    remark = "Zero-shot, not fine-tuned as in the paper. " + training_remark(config, drawn) + missing
    pairs = [pair for pair, _ in panels]
    return view.panels(
        panels, lambda axis, panel: _draw_snapshots(axis, view, *panel), remark, pairs, ", zero-shot"
    )


def _snapshot_curves(view: ScoreFigure, pair: Pair) -> dict[str, dict[int, RunName]]:
    """Model → step → run with a zero-shot score, the last one the end of its training; models with snapshots only."""
    config, scores, measure = view.config, view.scores, view.measure(pair[0])
    runs_by_model: dict[str, dict[int, RunName]] = {}
    for run in scores.names():
        name, _, step = run.model.partition("@")
        if (
            step
            and (run.dataset, run.candidates, run.regime) == (*pair, "zero-shot")
            and scores.get(run, measure)
        ):
            runs_by_model.setdefault(name, {})[int(step)] = run
    for name, runs in runs_by_model.items():
        # Where snapshots are chosen among, the last step has a run of its own.
        model, finished = config.models.get(name), RunName(*pair, name, "zero-shot")
        last = config.training_of(name).steps if model and not model.select_on else None
        if last is not None and scores.get(finished, measure) is not None:
            runs.setdefault(last, finished)
    return dict(sorted(runs_by_model.items(), key=lambda item: list(config.models).index(item[0])))


def _draw_snapshots(axis: Any, view: ScoreFigure, pair: Pair, curves: dict[str, dict[int, RunName]]) -> None:
    measure, figure_data = view.measure(pair[0]), view.figure
    strategies = {model: strategy for strategy, models in figure_data.models.items() for model in models}
    # The figure's own models first and in its order, so that they look as in figure 1a.
    order = [*(model for model in strategies if model in curves), *(m for m in curves if m not in strategies)]
    for position, model in enumerate(order):
        named = keyed_label(view.config, model)
        label = _strategy_label(strategies[model], model) if model in strategies else named
        view.line(axis, sorted(curves[model].items()), measure, position, label)
    control = control_model(view.config, view.config.models)
    if control is not None:
        view.level(axis, RunName(*pair, control, "zero-shot"), measure, "fresh score head", ":")
    axis.set_xlim(left=0)
    view.finish(axis, pair, measure, "pre-training steps")


# Fine-tuning with few queries (PROP, figure 2; ARES, figure 3), and with few and many (PHP, figure 4).


FEW_SHOT = re.compile(r"few-shot-([0-9]+)")
# From so many training queries on, fine-tuning counts as large-scale.
LARGE_SCALE = 1_000
# Distance in ticks between two curves' points at one number of queries: their intervals stand side by side.
SPREAD = 0.05
SCALES = ("trained on few queries", "trained on many")
LEVEL_DASHES = ((0, (5, 3)), (0, (1, 2)), (0, (5, 2, 1, 2)))
QUERIES = "training queries"


def few_shot_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw performance over the number of training queries; dashed: full fine-tuning and BM25 (PROP, figure 2)."""
    view = ScoreFigure.of(published, name, config, scores)
    model = next((m for m in view.models("solid") if m in config.models), None)
    pairs = [pair for pair in scores.pairs() if model and _few_shot(scores, pair, model)]
    if model is None or not pairs:
        return view.absent(f"no experiment fine-tunes {view.models('solid')[-1]} in a few-shot regime")
    remark = f"{_remark(view, pairs, [model])} {training_remark(config, [model])}"
    return view.panels(pairs, lambda axis, pair: _draw_few_shot(axis, view, pair, model), remark, pairs)


def steps_remark(config: Config, queries: int) -> str:
    """Return what zero queries are, the batches, and how few steps the fewest training queries make up."""
    options = config.finetuning
    sizes = list(dict.fromkeys(options.few_shot_batch_sizes))
    steps = list(dict.fromkeys(math.ceil(queries / size) for size in sizes))
    passes = "1 pass" if options.epochs == 1 else f"at most {options.epochs} passes"
    return (
        f"Zero queries: zero-shot. Batches of {listed(sizes, 'or')}, {passes}: {queries} training queries with one "
        f"relevant document each are {listed(steps, 'or')} step{'' if steps == [1] else 's'} a pass."
    )


def _few_shot(scores: Scores, pair: Pair, model: str) -> dict[int, RunName]:
    """Number of training queries → run of a model."""
    runs = [n for n in scores.names() if (n.dataset, n.candidates, n.model) == (*pair, model)]
    return dict(sorted((int(match[1]), n) for n in runs if (match := FEW_SHOT.fullmatch(n.regime))))


def _remark(view: ScoreFigure, pairs: list[Pair], models: list[str]) -> str:
    smallest = min(n for pair in pairs for model in models for n in _few_shot(view.scores, pair, model))
    return f"{steps_remark(view.config, smallest)} {view.reading(pairs)}"


def _draw_few_shot(axis: Any, view: ScoreFigure, pair: Pair, model: str) -> None:
    measure = view.measure(pair[0])
    runs = {0: RunName(*pair, model, "zero-shot"), **_few_shot(view.scores, pair, model)}
    view.line(axis, runs.items(), measure, 0, model_label(view.config, model))
    for position, other in enumerate(view.models("dashed")):
        if other in FIRST_STAGES:
            run, label = _first_stage_level(view, pair, other)
        else:
            run = RunName(*pair, other, "full")
            label = f"{keyed_label(view.config, other)}, {regime_label('full')} on all queries"
        view.level(axis, run, measure, label, LEVEL_DASHES[position % 3], COLOURS[1 + position])
    axis.set_xticks(list(runs))
    view.finish(axis, pair, measure, QUERIES)


def _first_stage_level(view: ScoreFigure, pair: Pair, level: str) -> tuple[RunName, str]:
    """Return the run of a level line and its label: where given candidates are re-ranked, the first stage that ranks
    them, else their order, as a first stage of ours searches the whole collection."""
    given = stage_over(view.config, level, pair[1]) or pair[1]
    name = given if pair[1] in view.published.candidates else level
    run = view.scores.first_stage(pair[0], name) or RunName(pair[0], name, name, "first-stage")
    return run, first_stage_labels(view.config)[name]


def query_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw several models over the number of training queries, few and many in panels of their own (PHP, figure 4)."""
    view = ScoreFigure.of(published, name, config, scores)
    curves = view.models("curves")
    pairs = [pair for pair in scores.pairs() if any(_few_shot(scores, pair, model) for model in curves)]
    panels = [(pair, is_large) for pair in pairs for is_large in (False, True)]
    return _compared(view, pairs, panels, lambda axis, panel: _draw_scale(axis, view, *panel), columns=2)


def compared_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw several models over the number of training queries, a panel a data set; first stages as levels (ARES, 3)."""
    view = ScoreFigure.of(published, name, config, scores)
    pairs = [pair for pair in scores.pairs() if _few_shot(scores, pair, view.models("curves")[0])]
    return _compared(view, pairs, pairs, lambda axis, pair: _draw_compared(axis, view, pair))


def _compared(view: ScoreFigure, pairs: list[Pair], panels: list[Any], draw: Any, **size: Any) -> Any:
    """A figure of several models; its remark names the paper's curves that are missing."""
    curves = view.models("curves")
    if not pairs:
        return view.absent(f"no experiment fine-tunes {curves[0]} in a few-shot regime")
    drawn = [model for model in curves if any(_few_shot(view.scores, pair, model) for pair in pairs)]
    # The paper has no curve of a stand-in to miss.
    missing = [model for model in curves if model not in (*drawn, *view.models("stand_ins"))]
    remark = f"{_remark(view, pairs, drawn)} {training_remark(view.config, drawn)}"
    remark += f" Not run: {', '.join(missing)}." if missing else ""
    return view.panels(panels, draw, remark, pairs, **size)


def _draw_compared(axis: Any, view: ScoreFigure, pair: Pair) -> None:
    measure = view.measure(pair[0])
    curves = {model: _few_shot(view.scores, pair, model) for model in view.models("curves")}
    _draw_curves(axis, view, pair, {m: _from_zero(view, pair, m, runs) for m, runs in curves.items() if runs})
    for position, level in enumerate(view.models("levels")):
        run, label = _first_stage_level(view, pair, level)
        view.level(axis, run, measure, label, LEVEL_DASHES[position % 3])
    view.finish(axis, pair, measure, QUERIES)


def _draw_scale(axis: Any, view: ScoreFigure, pair: Pair, large: bool) -> None:
    """Draw the curves of one data set over few queries, with zero-shot as zero, or over many; evenly spaced."""
    curves = {}
    for model in view.models("curves"):
        few = _few_shot(view.scores, pair, model)
        runs = {number: run for number, run in few.items() if (number >= LARGE_SCALE) == large}
        curves[model] = runs if large else _from_zero(view, pair, model, runs)
    if any(curves.values()):
        _draw_curves(axis, view, pair, curves)
        view.finish(axis, pair, view.measure(pair[0]), QUERIES, SCALES[large])
    else:
        view.set_title(axis, pair, SCALES[large])
        numbers = f"{LARGE_SCALE:,} queries or more" if large else f"fewer than {LARGE_SCALE:,} queries"
        write_not_run(axis, f"no experiment fine-tunes with {numbers} (few-shot-<n>)")


def _from_zero(view: ScoreFigure, pair: Pair, model: str, runs: dict[int, RunName]) -> dict[int, RunName]:
    """The runs after that with 0 queries, where there are any and the model was run zero-shot too."""
    zero_shot = RunName(*pair, model, "zero-shot")
    return {0: zero_shot, **runs} if runs and view.scores.get(zero_shot, view.measure(pair[0])) else runs


def _draw_curves(axis: Any, view: ScoreFigure, pair: Pair, curves: dict[str, dict[int, RunName]]) -> None:
    """Draw each model over its numbers of training queries, evenly spaced, the curves a little apart."""
    ticks = sorted({number for runs in curves.values() for number in runs})
    for colour, (model, runs) in enumerate(curves.items()):
        aside = SPREAD * (colour - (len(curves) - 1) / 2)
        if runs:
            points = [(ticks.index(number) + aside, run) for number, run in runs.items()]
            label = short_label(view.config, model)
            view.line(axis, points, view.measure(pair[0]), colour, label, bars=True)
    axis.set_xticks(range(len(ticks)), [f"{number:,}" for number in ticks])
