"""All figures of a paper, as SVG and PNG: of scores, axioms and term weights."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

from irpretrain.config import Config
from irpretrain.config.finetuning import shots_of
from irpretrain.config.labels import regime_label
from irpretrain.config.papers import FIRST_STAGE, Drawing, Published, PublishedFigure, load_published
from irpretrain.config.printed import PublishedAxioms
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.report.axiom_results import (
    NO_PREDICTORS,
    PredictorGroup,
    PredictorScores,
    predictor_groups,
)
from irpretrain.report.drawing import (
    COLOURS,
    ScoreFigure,
    ScorePanel,
    draw_panels,
    empty_figure,
    heading,
    legend_below,
    line_style,
    save,
    short_label,
    training_remark,
)
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Pair, RunName, Scores


def make_figures(
    paper: str | Path,
    config: Config,
    files: ResultFiles,
    metrics: Sequence[str | Path],
    output_directory: str | Path,
) -> dict[str, Any]:
    """Draw every figure of a paper as `<paper>_<figure>.svg` and `.png`; return how many."""
    scores, axioms = files.read(), files.read_axioms()
    drawings: dict[Drawing, tuple[Callable[[Published, str, Config, Any], Any], Any]] = {
        "loss-curves": (loss_curves, metrics),
        "step-curves": (step_curves, scores),
        "few-shot-curves": (few_shot_curves, scores),
        "series": (series_figure, scores),
        "with-and-without": (with_and_without, scores),
        "importance": (importance_bars, axioms.predictors),
        "weight-curves": (weight_curves, files.distributions),
    }
    published = load_published(paper)
    for name, published_figure in published.figures.items():
        draw_figure, results = drawings[published_figure.drawn]
        save(draw_figure(published, name, config, results), output_directory, f"{published.paper}_{name}")
    return {"figures": len(published.figures)}


# Learning curves: the ranking loss, and scores of snapshots (PROP, figure 1). Keys of a figure's models say how they
# sample.


# A loss curve is drawn with at most so many points; each is the mean of the steps around it.
MAX_POINTS = 100
# A curve of no more steps is drawn step by step.
MAX_UNBINNED_STEPS = 10
STEPS_LABEL = "pre-training steps"


def loss_curves(published: Published, name: str, config: Config, metrics: Sequence[str | Path]) -> Any:
    """Draw the ranking loss over the steps, one line per sampling strategy (PROP, figure 1a)."""
    figure = published.figures[name]
    title, trained_models = heading(published, figure), {Path(path).parent.name for path in metrics}
    curves, drawn_models = {}, []
    for strategy, models in figure.models.items():
        model = next((model for model in models if model in trained_models), "")
        steps, losses = _mean_losses([path for path in metrics if Path(path).parent.name == model])
        if len(steps):
            curves[f"{strategy} ({model})"] = binned(steps, losses)
            drawn_models.append(model)
    if not curves:
        model_names = " or ".join(models[0] for models in figure.models.values())
        return empty_figure(title, f"no experiment pre-trains {model_names} with a ranking loss")
    remark = training_remark(config, drawn_models)
    if undrawn := [models[0] for models in figure.models.values() if not set(models) & set(drawn_models)]:
        remark += f" Not drawn: {', '.join(undrawn)}."
    loss_names = {
        config.training_of(model).of_task(task).loss
        for model in drawn_models
        for task in config.models[model].tasks
    }
    loss_label = f"ROP loss ({', '.join(sorted(loss_names))})"
    return draw_panels(title, [curves], lambda axis, lines: _draw_losses(axis, lines, loss_label), remark)


def _draw_losses(axis: Any, curves: Mapping[str, tuple[np.ndarray, np.ndarray]], loss_label: str) -> None:
    for index, (label, (steps, losses)) in enumerate(curves.items()):
        step = max(1, len(steps) // 10)
        axis.plot(steps, losses, markevery=step, label=label, markersize=5, **line_style(index))
    axis.set_xlabel(STEPS_LABEL)
    axis.set_ylabel(loss_label)
    axis.set_ylim(bottom=0)
    legend_below(axis)


def _mean_losses(paths: Iterable[str | Path]) -> tuple[np.ndarray, np.ndarray]:
    losses_by_step: dict[int, list[float]] = {}
    for path in paths:
        with refusing(path, "these are not metrics of a training", MAKE_AGAIN):
            for record in map(json.loads, Path(path).read_text(encoding="utf-8").splitlines()):
                losses = [task["ranking_loss"] for task in record["tasks"].values()]
                ranking_losses = [loss for loss in losses if loss is not None]
                if ranking_losses:
                    mean = sum(ranking_losses) / len(ranking_losses)
                    losses_by_step.setdefault(record["step"], []).append(mean)
    means = {step: sum(losses) / len(losses) for step, losses in sorted(losses_by_step.items())}
    return np.array(list(means), float), np.array(list(means.values()), float)


def binned(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `MAX_POINTS` means of neighbouring steps, and of their values."""
    # Short curves keep their steps; longer ones get at least four steps a point, against the noise of batches.
    chunk_count = min(MAX_POINTS, max(len(steps) // 4, min(len(steps), MAX_UNBINNED_STEPS)))
    chunks = np.array_split(np.arange(len(steps)), chunk_count)
    return np.array([steps[c].mean() for c in chunks]), np.array([values[c].mean() for c in chunks])


def step_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw test performance over pre-training steps, from snapshots, zero-shot (PROP, figure 1b)."""
    chart = ScoreFigure(published, published.figures[name], config, scores)
    labels = {
        model: f"{strategy} ({model})" for strategy, models in chart.figure.models.items() for model in models
    }
    control, panels = config.control_model(config.models), []
    for pair in scores.pairs():
        curves = _snapshot_curves(chart, pair)
        # The figure's own models first, so that they look as in figure 1a.
        models = (model for model in (*labels, *curves) if model in curves)
        lines = {labels.get(model, short_label(config, model)): curves[model] for model in models}
        levels = chart.levels(pair, "zero-shot", [control] if control else [])
        if curves:
            panels.append(ScorePanel(pair, lines, levels, STEPS_LABEL, is_to_scale=True))
    reason = "no model that is run zero-shot keeps snapshots (models.<name>.training.snapshots)"
    return chart.draw(
        panels, reason, "Zero-shot, not fine-tuned as in the paper.", ", zero-shot", expected_models=labels
    )


def _snapshot_curves(chart: ScoreFigure, pair: Pair) -> dict[str, dict[int, RunName]]:
    """Model → step → run with a zero-shot score, the last one the end of its training; models with snapshots only."""
    config, runs_by_model = chart.config, dict[str, dict[int, RunName]]()
    for run in filter(chart.was_run, chart.scores.reranked(pair)):
        name, _, step = run.model.partition("@")
        if step and run.regime == "zero-shot":
            runs_by_model.setdefault(name, {})[int(step)] = run
    for name, runs in runs_by_model.items():
        # Where snapshots are chosen among, the last step has a run of its own.
        model, final_run = config.models.get(name), RunName(*pair, name, "zero-shot")
        last_step = config.training_of(name).steps if model and not model.select_on else None
        if last_step is not None and chart.was_run(final_run):
            runs.setdefault(last_step, final_run)
    return {
        name: dict(sorted(runs_by_model[name].items())) for name in config.models if name in runs_by_model
    }


# Fine-tuning with few and with many queries (PROP, figure 2; ARES, figure 3; PHP, figure 4).


def few_shot_curves(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw models over the number of training queries, zero-shot as zero; levels: first stages, and models fine-tuned
    on all queries."""
    chart = ScoreFigure(published, published.figures[name], config, scores)
    curves, panels = chart.models("curves"), []
    for pair in scores.pairs():
        lines = {
            short_label(config, model): points
            for model in curves
            if (points := _few_shot(chart, pair, model))
        }
        if not lines:
            continue
        levels = {
            label if run.regime == FIRST_STAGE else f"{label}, fine-tuned on all queries": run
            for label, run in chart.levels(pair, "full", chart.models("levels")).items()
        }
        panels.append(ScorePanel(pair, lines, levels, "training queries"))
    named_model = next((model for model in curves if model in config.models), curves[0])
    # The paper has no curve of a stand-in to miss.
    expected = [model for model in curves if model not in chart.models("stand_ins")]
    empty_reason = f"no experiment fine-tunes {named_model} in a few-shot regime"
    return chart.draw(panels, empty_reason, "Zero queries: zero-shot.", expected_models=expected)


def _few_shot(chart: ScoreFigure, pair: Pair, model: str) -> dict[int, RunName]:
    """Number of training queries → run; with the zero-shot run, where there is one, if there are others."""
    runs = [run for run in chart.scores.reranked(pair) if run.model == model]
    few_shot_runs = dict(sorted((shots, run) for run in runs if (shots := shots_of(run.regime))))
    zero_shot = RunName(*pair, model, "zero-shot")
    return {0: zero_shot, **few_shot_runs} if few_shot_runs and chart.was_run(zero_shot) else few_shot_runs


# Series of models that differ in one number (Wikiformer, figure 4; PHP, figure 5). They are found by name:
# `<series>-<number>`, such as wikiformer-srr-1000 (pairs), php-negatives-24 or php-anchors-50 (percent). Where pairs
# are counted, the snapshots `<series>@<step>` belong to it, at the pairs seen until then. A model that is called like
# the series itself stands at its own number.


# What the numbers of a series count, as the label of the axis.
AXIS_LABELS = {
    "pairs": "pre-training pairs (steps times groups in a step)",
    "negatives": "negatives for each positive",
    "anchor-percent": "masked anchor words (%)",
}
# Points that make a series.
MIN_POINTS = 2


def series_figure(published: Published, name: str, config: Config, scores: Scores) -> Any:
    chart = ScoreFigure(published, published.figures[name], config, scores)
    figure, series, panels = chart.figure, chart.models("series"), []
    # What the models are but for their number: the label of the one that is called like the series.
    label = next((config.models[model].label for model in series if model in config.models), series[0])
    for pair in scores.pairs():
        for regime in figure.regimes:
            points = series_points(figure, config, scores, pair, regime)
            if len(points) >= MIN_POINTS:
                lines = {f"{label}, {regime_label(regime)}": points}
                levels = chart.levels(pair, regime, chart.models("levels"))
                axis_label = AXIS_LABELS[figure.counts]
                panels.append(ScorePanel(pair, lines, levels, axis_label, regime_label(regime)))
    regimes = " or ".join(regime_label(regime) for regime in figure.regimes)
    snapshots = f", or {series[0]} with snapshots," if figure.counts == "pairs" else ""
    return chart.draw(
        panels, f"no experiment runs {MIN_POINTS} or more models {series[0]}-<number>{snapshots} {regimes}"
    )


def series_points(
    figure: PublishedFigure, config: Config, scores: Scores, pair: Pair, regime: str
) -> dict[int, RunName]:
    """Return number → run of a series, ascending; where several runs have a number, the model named after it."""
    run_of_number: dict[int, RunName] = {}
    runs = [run for run in scores.reranked(pair) if run.regime == regime]
    for series in figure.models["series"]:
        for run in runs:
            if match := re.fullmatch(rf"{series}-([0-9]+)", run.model):
                run_of_number.setdefault(int(match[1]), run)
        for run in runs:
            number = _number_of_model(config, run.model, figure.counts)
            if run.model.partition("@")[0] == series and number is not None:
                run_of_number.setdefault(number, run)
    return dict(sorted(run_of_number.items()))


def _number_of_model(config: Config, model: str, counts: str) -> int | None:
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
        negative_counts = {getattr(option, "negatives", None) for option in options}
        return negative_counts.pop() if len(negative_counts) == 1 else None
    ratios = {training.of_task(task).masking.anchor_ratio for task in config.models[name].tasks}
    ratio = ratios.pop() if len(ratios) == 1 else None
    return None if ratio is None else round(100 * ratio)


# Models with and without masked language modelling, side by side (PHP, figure 6).


# What is added to a model's name.
SUFFIXES = {"with MLM": "", "without MLM": "-without-mlm"}


def with_and_without(published: Published, name: str, config: Config, scores: Scores) -> Any:
    """Draw the scores of some models with and without masked language modelling, and of others as level lines."""
    chart = ScoreFigure(published, published.figures[name], config, scores)
    models, panels = chart.models("curves"), []
    # Names of models that the configuration lacks are broken, so that neighbours keep apart.
    labels = {
        model: config.models[model].label if model in config.models else model.replace("-", "-\n", 1)
        for model in models
    }
    for pair in scores.pairs():
        for regime in chart.figure.regimes:
            lines = {
                line_label: {labels[model]: RunName(*pair, f"{model}{suffix}", regime) for model in models}
                for line_label, suffix in SUFFIXES.items()
            }
            if any(map(chart.was_run, lines["without MLM"].values())):
                levels = chart.levels(pair, regime, chart.models("levels"))
                panels.append(ScorePanel(pair, lines, levels, detail=regime_label(regime)))
    return chart.draw(panels, f"no experiment runs a model such as {models[0]}{SUFFIXES['without MLM']}")


# How much each axiom counts in the preference predictor, a panel a setting (ARES, figure 2).


# Inches, for nine bars.
IMPORTANCE_PANEL_HEIGHT = 3.0


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
        row_height=IMPORTANCE_PANEL_HEIGHT,
        max_columns=2,
    )


def _draw_importance(
    axis: Any, axioms: PublishedAxioms, group: PredictorGroup, scores: PredictorScores
) -> None:
    names = list(dict.fromkeys([*axioms.groups, *scores.axioms]))
    colours = dict(zip(dict.fromkeys(axioms.groups.values()), COLOURS, strict=False))
    largest_importance = max(scores.importance.values(), default=0.0) or 1.0
    for position, axiom in enumerate(names):
        if axiom in scores.axioms:
            value = scores.importance.get(axiom, 0.0) / largest_importance
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
WEIGHT_REMARK = (
    "Mean over passages of a term's weight divided by the sum of its passage's weights. Terms are those of the index: "
    "stop words are gone, stems added up. A passage with fewer terms counts 0 at the ranks beyond them; passages "
    "without any are left out."
)
# Inches: height of a panel without its legend, and of a line of that.
WEIGHT_PANEL_HEIGHT, WEIGHT_LEGEND_LINE = 3.6, 0.24


class WeightingShares(BaseModel, frozen=True):
    """Mean shares of a weighting by rank, and what they are means over."""

    weighting: str
    passages: int = Field(ge=0)
    passages_without_terms: int = Field(ge=0)
    shares: list[float | None] = Field(min_length=1)

    @property
    def passages_with_terms(self) -> int:
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
    labels = config.index_labels
    return draw_panels(
        title,
        list(panels.items()),
        lambda axis, panel: _draw_weight_curves(axis, panel[0], panel[1], labels),
        WEIGHT_REMARK,
        row_height=WEIGHT_PANEL_HEIGHT + WEIGHT_LEGEND_LINE * max(len(shares) for shares in panels.values()),
        max_columns=2,
    )


def _draw_weight_curves(
    axis: Any, label: str, weightings: Sequence[WeightingShares], labels: Mapping[str, str]
) -> None:
    ranks = range(1, max(len(weighting.shares) for weighting in weightings) + 1)
    for index, weighting in enumerate(weightings):
        label_text = _legend_text(weighting, labels.get(weighting.weighting, weighting.weighting))
        shares = {rank: 100 * share for rank, share in enumerate(weighting.shares, 1) if share is not None}
        axis.plot(list(shares), list(shares.values()), label=label_text, **line_style(index))
    axis.set_xticks(ranks)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("rank of the term by its weight")
    axis.set_ylabel("% of the passage's weight")
    axis.set_title(f"{label}, {count_of(weightings[0].passages, 'passage')}", fontsize=11)
    legend_below(axis)


def _legend_text(weighting: WeightingShares, label: str) -> str:
    if weighting.shares[0] is None:
        return f"{label}: no passage has a term"
    text = f"{label}: {100 * weighting.shares[0]:.1f} % on the heaviest"
    count = weighting.passages_without_terms
    return f"{text}, {count_of(count, 'passage')} without terms" if count else text
