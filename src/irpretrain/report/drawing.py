"""What the figures of scores share: headings, remarks, lines with intervals, level lines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from irpretrain.config import Config
from irpretrain.config.usage import with_starts
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.canvas import draw_panels, empty_figure, legend_below, line_style
from irpretrain.report.comparisons import interval
from irpretrain.report.naming import FIRST_STAGES, dataset_label, encoder_labels, is_control
from irpretrain.report.remarks import candidates_text, measures_text, number_of_queries, weight_notes
from irpretrain.report.scores import Pair, RunName, Scores, identifier


def heading(published: Published, figure: PublishedFigure) -> str:
    """Return the title of a figure: paper, number, what it shows."""
    return f"{published.name}, figure {figure.number}: {figure.title}"


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


def training_remark(config: Config, models: Sequence[str]) -> str:
    """Return what some models were pre-trained on, their encoder, and what HARP has in place of attention."""
    collections = {name: config.models[name].collection for name in models if name in config.models}
    corpora = dict.fromkeys(c for key in collections.values() if key for c in config.collections[key])
    names = with_starts(config, [model for model in models if model in config.models])
    objectives = [config.objectives[task.objective] for name in names for task in config.models[name].tasks]
    trained = f"Pre-trained on {' + '.join(corpora)}; encoder {encoder_labels(config, names)}."
    return " ".join((trained, *weight_notes(objectives)))


@dataclass(frozen=True)
class ScoreFigure:
    """A paper's figure of scores: what the paper's has, and our runs."""

    published: Published
    figure: PublishedFigure
    config: Config
    scores: Scores

    @classmethod
    def of(cls, published: Published, name: str, config: Config, scores: Scores) -> Self:
        """Return a figure by its name."""
        return cls(published, published.figures[name], config, scores)

    @property
    def title(self) -> str:
        """Paper, number, what it shows."""
        return heading(self.published, self.figure)

    def models(self, kind: str) -> list[str]:
        """Models that are drawn in one way; none where the figure has no such."""
        return self.figure.models.get(kind, [])

    def measure(self, dataset: str) -> str:
        """Return the measure of the paper's figure on a data set; else the same at another cut-off, else the first that
        is known."""
        theirs, computed = (
            self.figure.measures.get(dataset, self.figure.measure),
            self.scores.measures(dataset),
        )
        kin = [measure for measure in computed if measure.partition("@")[0] == theirs.partition("@")[0]]
        return theirs if theirs in computed else (kin or computed)[0]

    def reading(self, pairs: Iterable[Pair]) -> str:
        """Return how to read scores without the tables: the measure, the intervals, and what is re-ranked."""
        distinct = list(dict.fromkeys(pairs))
        measures = measures_text(self.measure(dataset) for dataset, _ in distinct)
        texts = (candidates_text(self.config, candidates) for _, candidates in distinct)
        reranked = " and ".join(dict.fromkeys(texts))
        confidence = f"{self.config.evaluation.confidence:.0%}"
        return f"{measures} Intervals: {confidence}. {reranked[:1].upper()}{reranked[1:]}."

    def absent(self, reason: str) -> Any:
        """Return a figure that says why there is nothing to draw, and which overlays run it."""
        return empty_figure(self.title, f"{reason}{self.figure.where}")

    def panels(
        self,
        panels: Sequence[Any],
        draw: Callable[[Any, Any], None],
        remark: str,
        pairs: Iterable[Pair],
        suffix: str = "",
        **size: Any,
    ) -> Any:
        """Return a figure with a panel for each of `panels`; its title names the data sets of `pairs`."""
        labels = " and ".join(dict.fromkeys(dataset_label(self.config, *pair) for pair in pairs))
        return draw_panels(f"{self.title}{suffix}, on {labels}", panels, draw, remark, **size)

    def finish(self, axis: Any, pair: Pair, measure: str, xlabel: str = "", detail: str = "") -> None:
        """Set a panel's labels, title and legend."""
        if xlabel:
            axis.set_xlabel(xlabel)
        axis.set_ylabel(measure)
        self.set_title(axis, pair, detail)
        legend_below(axis)

    def set_title(self, axis: Any, pair: Pair, detail: str = "") -> None:
        """Set a panel's title: the data set, `detail`, the number of queries."""
        queries = f"{number_of_queries(self.scores, pair[0]):,} test queries"
        parts = (dataset_label(self.config, *pair), detail, queries)
        axis.set_title(", ".join(part for part in parts if part), fontsize=10)

    def interval(self, run: RunName, measure: str) -> tuple[float, float] | None:
        """Return the bounds of a run's mean; None where it was not run."""
        results = self.scores.get(run, measure)
        if results is None:
            return None
        return interval(results, self.config.evaluation, self.config.seed, identifier(run, measure))

    def line(
        self,
        axis: Any,
        points: Iterable[tuple[float, RunName]],
        measure: str,
        number: int,
        label: str,
        bars: bool = False,
    ) -> None:
        """Draw a line through the means of runs at their places, with their intervals as a band, or as bars."""
        drawn = [
            (place, results.mean, *bounds)
            for place, run in points
            if (results := self.scores.get(run, measure)) and (bounds := self.interval(run, measure))
        ]
        x, means, low, high = ([point[part] for point in drawn] for part in range(4))
        style = line_style(number)
        axis.plot(x, means, label=label, **style)
        if bars:
            axis.vlines(x, low, high, linewidth=1, color=style["color"])
        else:
            axis.fill_between(x, low, high, alpha=0.15, linewidth=0, color=style["color"])

    def level(
        self, axis: Any, run: RunName, measure: str, label: str, dashes: Any, colour: str = "#444444"
    ) -> None:
        """Draw the mean of a run as a horizontal line, where there is such a run."""
        results = self.scores.get(run, measure)
        if results is not None:
            axis.axhline(results.mean, color=colour, linestyle=dashes, linewidth=1.4, label=label)
