"""What the figures of scores share: headings, remarks, lines with intervals, level lines."""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from xml.sax.saxutils import unescape

from irpretrain.atomic import atomic_file
from irpretrain.config import Config
from irpretrain.config.usage import with_starts
from irpretrain.evaluation.significance import CONFIDENCE
from irpretrain.papers.published import Published, PublishedFigure
from irpretrain.report.comparisons import interval
from irpretrain.report.naming import FIRST_STAGES, dataset_label, encoder_labels, is_control
from irpretrain.report.remarks import candidates_text, measures_text, number_of_queries, weight_notes
from irpretrain.report.scores import Pair, RunName, Scores, identifier

# How figures look and how they are saved: one style, colour-blind safe, the same bytes every time.


# Okabe and Ito's palette, told apart under every common colour-vision deficiency.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Inches that a line of remarks takes, and the lines for which a figure has room.
REMARK_LINE, REMARK_LINES = 0.16, 2
NO_DATA = "No data: "
# Inches from the axis to a legend below it: room for tick labels and the axis label.
LEGEND_OFFSET = 0.5

STYLE: Any = {
    "svg.hashsalt": "irpretrain",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.parse_math": False,  # labels are the user's words: a dollar in one is a dollar
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9dee5",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def line_style(number: int) -> dict[str, Any]:
    """Return colour and marker of a line or series. Colours come again after seven; the marker then is another."""
    position = number % len(COLOURS)
    return {"color": COLOURS[position], "marker": MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]}


def draw_panels(
    title: str,
    panels: Sequence[Any],
    draw: Callable[[Any, Any], None],
    remark: str = "",
    height: float = 4.8,
    columns: int = 3,
) -> Any:
    """Return a matplotlib figure with a panel for each of `panels`, which `draw(axis, panel)` fills.

    Args:
        remark: what must be known to read the figure, in smaller letters under it.
        height: of a row of panels, in inches.
        columns: the most panels side by side.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(len(panels), columns)
    rows = -(-len(panels) // columns)
    with rc_context(STYLE):
        width = 7.2 if columns == 1 else 4.4 * columns
        figure = Figure(figsize=(width, height * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = [figure.add_subplot(rows, columns, position + 1) for position in range(len(panels))]
        for axis, panel in zip(axes, panels, strict=True):
            draw(axis, panel)
        _set_title(figure, title, remark)
    return figure


def _set_title(figure: Any, title: str, remark: str) -> None:
    letters = int(figure.get_figwidth() * 10)
    figure.suptitle(textwrap.fill(title, letters), fontsize=13, x=0.01, ha="left")
    if remark:
        lines = textwrap.wrap(remark, int(letters * 1.35))
        # What is drawn keeps its height, however much there is to say.
        figure.set_figheight(figure.get_figheight() + REMARK_LINE * max(0, len(lines) - REMARK_LINES))
        figure.supxlabel("\n".join(lines), fontsize=9, x=0.01, ha="left", color="#444444")


def legend_below(axis: Any, columns: int = 1, size: int = 10) -> None:
    """Put the legend under the axis, where it covers no data; `size` in points."""
    from matplotlib.transforms import ScaledTranslation

    below_label = axis.transAxes + ScaledTranslation(0, -LEGEND_OFFSET, axis.figure.dpi_scale_trans)
    axis.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below_label, fontsize=size, ncols=columns
    )


def empty_figure(title: str, reason: str) -> Any:
    """Return a figure that says why there is nothing to draw."""

    def write(axis: Any, text: str) -> None:
        axis.axis("off")
        axis.text(0.5, 0.5, text, ha="center", va="center", color="#444444")

    figure = draw_panels(title, [textwrap.fill(f"{NO_DATA}{reason}", 70)], write, height=2.6)
    figure.set_gid(NO_DATA + reason)
    return figure


def reason_of_emptiness(path: Path) -> str:
    """Return why there is nothing in a figure that was saved; nothing where there is something."""
    match = re.search(rf"<g id=(['\"]){NO_DATA}(.*?)\1>", path.read_text(encoding="utf-8"))
    return unescape(match[2], {"&quot;": '"'}) if match else ""


def write_not_run(axis: Any, reason: str) -> None:
    """Write into an empty panel why nothing is drawn in it."""
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])
    text = textwrap.fill(f"Not run: {reason}", 34, break_on_hyphens=False)
    axis.text(0.5, 0.5, text, ha="center", va="center", color="#444444", transform=axis.transAxes)


def save(figure: Any, directory: str | Path, name: str) -> None:
    """Write `<directory>/<name>.svg` and `.png` without dates or version names."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        for format_, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            with atomic_file(Path(directory) / f"{name}.{format_}") as temporary:
                figure.savefig(temporary, format=format_, dpi=140, metadata=metadata)


def heading(published: Published, figure: PublishedFigure) -> str:
    """Return the title of a figure: paper, number, what it shows."""
    return f"{published.name}, figure {figure.number}: {figure.title}"


def short_label(config: Config, model: str) -> str:
    """Return a model's name for a legend: its label, and its key where that says more, "PROP (prop-wikipedia)"."""
    if model in FIRST_STAGES or model not in config.models:
        return FIRST_STAGES.get(model, model)
    if is_control(config, model):
        return f"{config.models[model].label}, fresh score head"
    return keyed_label(config, model)


def keyed_label(config: Config, model: str) -> str:
    """Return a model's label, and its key where that says more."""
    label = config.models[model].label
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
        texts = (candidates_text(self.config, dataset, candidates) for dataset, candidates in distinct)
        reranked = " and ".join(dict.fromkeys(texts))
        confidence = f"{CONFIDENCE:.0%}"
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
            (position, results.mean, *bounds)
            for position, run in points
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
