"""Fine-tuning with few queries (PROP, figure 2; ARES, figure 3), and with few and many (PHP, figure 4)."""

import math
import re
from typing import Any

from irpretrain.config import Config
from irpretrain.config.usage import stage_over
from irpretrain.papers.published import Published
from irpretrain.report.canvas import COLOURS, say_not_run
from irpretrain.report.drawing import ScoreFigure, short_label, training_remark
from irpretrain.report.naming import FIRST_STAGES, first_stage_labels, listed, model_label, regime_label
from irpretrain.report.scores import Pair, RunName, Scores

FEW_SHOT = re.compile(r"few-shot-([0-9]+)")
LARGE_SCALE = 1_000
"""From so many training queries on, fine-tuning counts as large-scale."""
SPREAD = 0.05
"""Distance in ticks between two curves' points at one number of queries: their intervals stand side by side."""
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


def _few_shot(scores: Scores, pair: Pair, model: str) -> list[int]:
    runs = [n for n in scores.names() if (n.dataset, n.candidates, n.model) == (*pair, model)]
    return sorted(int(match[1]) for n in runs if (match := FEW_SHOT.fullmatch(n.regime)))


def _runs(pair: Pair, model: str, queries: list[int]) -> list[RunName]:
    """The runs of a model by number of training queries; zero-shot has none."""
    return [RunName(*pair, model, f"few-shot-{n}" if n else "zero-shot") for n in queries]


def _remark(view: ScoreFigure, pairs: list[Pair], models: list[str]) -> str:
    smallest = min(n for pair in pairs for model in models for n in _few_shot(view.scores, pair, model))
    return f"{steps_remark(view.config, smallest)} {view.reading(pairs)}"


def _draw_few_shot(axis: Any, view: ScoreFigure, pair: Pair, model: str) -> None:
    measure = view.measure(pair[0])
    queries = [0, *_few_shot(view.scores, pair, model)]
    points = zip(queries, _runs(pair, model, queries), strict=True)
    view.line(axis, points, measure, 0, model_label(view.config, model))
    for place, other in enumerate(view.models("dashed")):
        if other in FIRST_STAGES:
            run, label = _first_stage_level(view, pair, other)
        else:
            run = RunName(*pair, other, "full")
            label = f"{view.config.models[other].label} ({other}), {regime_label('full')} on all queries"
        view.level(axis, run, measure, label, LEVEL_DASHES[place % 3], COLOURS[1 + place])
    axis.set_xticks(queries)
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
    queries = {model: _few_shot(view.scores, pair, model) for model in view.models("curves")}
    _draw_curves(axis, view, pair, {m: _from_zero(view, pair, m, n) for m, n in queries.items() if n})
    for place, level in enumerate(view.models("levels")):
        run, label = _first_stage_level(view, pair, level)
        view.level(axis, run, measure, label, LEVEL_DASHES[place % 3])
    view.finish(axis, pair, measure, QUERIES)


def _draw_scale(axis: Any, view: ScoreFigure, pair: Pair, large: bool) -> None:
    """Draw the curves of one data set over few queries, with zero-shot as zero, or over many; evenly spaced."""
    curves = {}
    for model in view.models("curves"):
        queries = [n for n in _few_shot(view.scores, pair, model) if (n >= LARGE_SCALE) == large]
        curves[model] = queries if large else _from_zero(view, pair, model, queries)
    if any(curves.values()):
        _draw_curves(axis, view, pair, curves)
        view.finish(axis, pair, view.measure(pair[0]), QUERIES, SCALES[large])
    else:
        view.set_title(axis, pair, SCALES[large])
        numbers = f"{LARGE_SCALE:,} queries or more" if large else f"fewer than {LARGE_SCALE:,} queries"
        say_not_run(axis, f"no experiment fine-tunes with {numbers} (few-shot-<n>)")


def _from_zero(view: ScoreFigure, pair: Pair, model: str, queries: list[int]) -> list[int]:
    """Numbers of training queries, after 0 where there are any and the model was run zero-shot too."""
    zero_shot = view.scores.get(RunName(*pair, model, "zero-shot"), view.measure(pair[0]))
    return [0, *queries] if queries and zero_shot else queries


def _draw_curves(axis: Any, view: ScoreFigure, pair: Pair, curves: dict[str, list[int]]) -> None:
    """Draw each model over its numbers of training queries, evenly spaced, the curves a little apart."""
    ticks = sorted({number for queries in curves.values() for number in queries})
    for colour, (model, queries) in enumerate(curves.items()):
        aside = SPREAD * (colour - (len(curves) - 1) / 2)
        places = [ticks.index(number) + aside for number in queries]
        if queries:
            points = zip(places, _runs(pair, model, queries), strict=True)
            label = short_label(view.config, model)
            view.line(axis, points, view.measure(pair[0]), colour, label, bars=True)
    axis.set_xticks(range(len(ticks)), [f"{number:,}" for number in ticks])
