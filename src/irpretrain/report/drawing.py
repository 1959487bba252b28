"""What the figures of all papers share: headings, remarks, lines with intervals, level lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from irpretrain.config import Config
from irpretrain.config.usage import with_starts
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import COLOURS, MARKERS
from irpretrain.report.comparisons import interval
from irpretrain.report.naming import FIRST_STAGES, encoder_label, is_control
from irpretrain.report.remarks import candidates_text, measures_text, number_of_queries, weight_notes
from irpretrain.report.scores import RunName, Scores, identifier


def heading(published: Published, figure: PublishedFigure) -> str:
    """Return the title of a figure: paper, number, what it shows."""
    return f"{published.name}, figure {figure.number}: {figure.title}"


def measure_of(scores: Scores, dataset: str, figure: PublishedFigure) -> str:
    """Return the measure of the paper's figure on a data set; else the same at another cut-off, else the first that is
    known."""
    wanted, known = figure.measures.get(dataset, figure.measure), scores.measures(dataset)
    kin = [measure for measure in known if measure.partition("@")[0] == wanted.partition("@")[0]]
    return wanted if wanted in known else (kin or known)[0]


def short_label(config: Config, model: str) -> str:
    """Return a model's name for a legend: its label, and its key where that says more, "PROP (prop-wikipedia)".

    The control's key, "untrained", would be wrong in a panel of fine-tuned models.
    """
    if model in FIRST_STAGES or model not in config.models:
        return FIRST_STAGES.get(model, model)
    label = config.models[model].label
    if is_control(config, model):
        return f"{label}, fresh score head"
    return label if label.casefold() == model.casefold() else f"{label} ({model})"


def reading_remark(
    config: Config, scores: Scores, pairs: Iterable[tuple[str, str]], figure: PublishedFigure
) -> str:
    """Return how to read scores without the tables: the measure, the intervals, and what is re-ranked."""
    distinct = list(dict.fromkeys(pairs))
    measures = measures_text(measure_of(scores, dataset, figure) for dataset, _ in distinct)
    reranked = " and ".join(dict.fromkeys(candidates_text(config, candidates) for _, candidates in distinct))
    return f"{measures} Intervals: {config.evaluation.confidence:.0%}. {reranked[:1].upper()}{reranked[1:]}."


def training_remark(config: Config, models: Sequence[str]) -> str:
    """Return what some models were pre-trained on, their encoder, and what HARP has in place of attention."""
    collections = {name: config.models[name].collection for name in models if name in config.models}
    corpora = dict.fromkeys(c for key in collections.values() if key for c in config.collections[key])
    names = with_starts(config, [model for model in models if model in config.models])
    objectives = [config.objectives[task.objective] for name in names for task in config.models[name].tasks]
    trained = f"Pre-trained on {' + '.join(corpora)}; encoder {encoder_label(config)}."
    return " ".join((trained, *weight_notes(objectives)))


def queries_text(scores: Scores, dataset: str) -> str:
    """Return "200 test queries"."""
    return f"{number_of_queries(scores, dataset):,} test queries"


def draw_with_interval(
    axis: Any,
    config: Config,
    scores: Scores,
    runs: Sequence[RunName],
    places: Sequence[float],
    measure: str,
    colour: int,
    label: str,
    bars: bool = False,
) -> None:
    """Draw a line through the means of `runs` at `places`, with their confidence intervals as a band, or as bars."""
    found = [scores.get(run, measure) for run in runs]
    known = [
        (place, results, run) for place, results, run in zip(places, found, runs, strict=True) if results
    ]
    bounds = [
        interval(
            results,
            config.evaluation,
            config.seed,
            identifier(run, measure),
        )
        for _, results, run in known
    ]
    x = [place for place, _, _ in known]
    means = [results.mean for _, results, _ in known]
    style = {"color": COLOURS[colour % len(COLOURS)]}
    axis.plot(x, means, marker=MARKERS[colour % len(MARKERS)], label=label, **style)
    low, high = [bound for bound, _ in bounds], [bound for _, bound in bounds]
    if bars:
        axis.vlines(x, low, high, linewidth=1, **style)
    else:
        axis.fill_between(x, low, high, alpha=0.15, linewidth=0, **style)


def draw_level(
    axis: Any, scores: Scores, run: RunName, measure: str, label: str, dashes: Any, colour: str = "#444444"
) -> bool:
    """Draw the mean of a run as a horizontal line; return whether there is such a run."""
    results = scores.get(run, measure)
    if results is not None:
        axis.axhline(results.mean, color=colour, linestyle=dashes, linewidth=1.4, label=label)
    return results is not None
