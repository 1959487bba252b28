"""Curves of loss and test performance over pre-training steps (PROP, figure 1)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config import Config
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import draw_panels, empty_figure, legend_below, line_style
from irpretrain.report.drawing import ScoreFigure, heading, training_remark
from irpretrain.report.naming import control_model
from irpretrain.report.scores import Pair, RunName, Scores

POINTS = 100
"""A loss curve is drawn with at most so many points; each is the mean of the steps around it."""
FEW_STEPS = 10
"""A curve of no more steps is drawn step by step."""
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
    for place, (strategy, (model, steps, losses)) in enumerate(curves.items()):
        x, y = binned(steps, losses)
        label, every = _strategy_label(strategy, model), max(1, len(x) // 10)
        axis.plot(x, y, markevery=every, label=label, markersize=5, **line_style(place))
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


def _snapshot_curves(view: ScoreFigure, pair: Pair) -> dict[str, list[int]]:
    """Model → steps with a zero-shot score, the last one the end of its training; models with snapshots only."""
    config, scores, measure = view.config, view.scores, view.measure(pair[0])
    steps_by_model: dict[str, list[int]] = {}
    for run in scores.names():
        name, _, step = run.model.partition("@")
        if (
            step
            and (run.dataset, run.candidates, run.regime) == (*pair, "zero-shot")
            and scores.get(run, measure)
        ):
            steps_by_model.setdefault(name, []).append(int(step))
    curves = {}
    for name, steps in steps_by_model.items():
        # Where snapshots are chosen among, the last step has a run of its own.
        found_model = config.models.get(name)
        last = config.training_of(name).steps if found_model and not found_model.select_on else None
        finished = last is not None and scores.get(RunName(*pair, name, "zero-shot"), measure) is not None
        curves[name] = sorted(steps) + ([last] if finished and last is not None and last not in steps else [])
    return dict(sorted(curves.items(), key=lambda item: list(config.models).index(item[0])))


def _draw_snapshots(axis: Any, view: ScoreFigure, pair: Pair, curves: dict[str, list[int]]) -> None:
    measure, figure_data = view.measure(pair[0]), view.figure
    strategies = {model: strategy for strategy, models in figure_data.models.items() for model in models}
    # The figure's own models first and in its order, so that they look as in figure 1a.
    order = [*(model for model in strategies if model in curves), *(m for m in curves if m not in strategies)]
    for place, model in enumerate(order):
        steps = curves[model]
        points = [(step, _snapshot_run(view.scores, pair, model, step)) for step in steps]
        named = f"{view.config.models[model].label} ({model})"
        label = _strategy_label(strategies[model], model) if model in strategies else named
        view.line(axis, points, measure, place, label)
    control = control_model(view.config, view.config.models)
    if control is not None:
        view.level(axis, RunName(*pair, control, "zero-shot"), measure, "fresh score head", ":")
    axis.set_xlim(left=0)
    view.finish(axis, pair, measure, "pre-training steps")


def _snapshot_run(scores: Scores, pair: Pair, model: str, step: int) -> RunName:
    snapshot = RunName(*pair, f"{model}@{step}", "zero-shot")
    return snapshot if snapshot in scores.names() else RunName(*pair, model, "zero-shot")
