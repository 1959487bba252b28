"""How figures look and how they are saved, one style, colour-blind safe, the same bytes every time; and figures of
scores, which are described by their panels: lines through runs, and single runs as level lines."""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import unescape

from irpretrain.config import Config
from irpretrain.config.labels import BUILT_IN_LABELS
from irpretrain.config.papers import Published, PublishedFigure
from irpretrain.evaluation.significance import CONFIDENCE
from irpretrain.foundation.atomic import atomic_file
from irpretrain.report.remarks import candidates_text, measures_text, number_of_queries, weight_notes
from irpretrain.report.scores import Pair, RunName, Scores, draw_stream, interval

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


def line_style(index: int) -> dict[str, Any]:
    """Return colour and marker of a line or series. Colours come again after seven; the marker then is another."""
    position = index % len(COLOURS)
    return {"color": COLOURS[position], "marker": MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]}


def draw_panels(
    title: str,
    panels: Sequence[Any],
    draw: Callable[[Any, Any], None],
    remark: str = "",
    row_height: float = 4.8,
    max_columns: int = 3,
) -> Any:
    """Return a matplotlib figure with a panel for each of `panels`, which `draw(axis, panel)` fills, in rows of
    `row_height` inches; the remark stands at the bottom of the figure in smaller letters."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    column_count = min(len(panels), max_columns)
    row_count = -(-len(panels) // column_count)
    with rc_context(STYLE):
        width = 7.2 if column_count == 1 else 4.4 * column_count
        figure = Figure(figsize=(width, row_height * row_count), layout="constrained")
        FigureCanvasAgg(figure)
        axes = [figure.add_subplot(row_count, column_count, position + 1) for position in range(len(panels))]
        for axis, panel in zip(axes, panels, strict=True):
            draw(axis, panel)
        _set_title(figure, title, remark)
    return figure


def _set_title(figure: Any, title: str, remark: str) -> None:
    characters_per_line = int(figure.get_figwidth() * 10)
    figure.suptitle(textwrap.fill(title, characters_per_line), fontsize=13, x=0.01, ha="left")
    if remark:
        lines = textwrap.wrap(remark, int(characters_per_line * 1.35), break_on_hyphens=False)
        # What is drawn keeps its height, however much there is to say.
        figure.set_figheight(figure.get_figheight() + REMARK_LINE * max(0, len(lines) - REMARK_LINES))
        figure.supxlabel("\n".join(lines), fontsize=9, x=0.01, ha="left", color="#444444")


def legend_below(axis: Any) -> None:
    """Put the legend under the axis, where it covers no data."""
    from matplotlib.transforms import ScaledTranslation

    below_label = axis.transAxes + ScaledTranslation(0, -LEGEND_OFFSET, axis.figure.dpi_scale_trans)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below_label, fontsize=10)


def empty_figure(title: str, reason: str) -> Any:
    def write(axis: Any, text: str) -> None:
        axis.axis("off")
        axis.text(0.5, 0.5, text, ha="center", va="center", color="#444444")

    figure = draw_panels(title, [textwrap.fill(f"{NO_DATA}{reason}", 70)], write, row_height=2.6)
    figure.set_gid(NO_DATA + reason)
    return figure


def reason_of_emptiness(svg: str) -> str:
    """Return why there is nothing in a figure that was saved; nothing where there is something."""
    match = re.search(rf"<g id=(['\"]){NO_DATA}(.*?)\1>", svg)
    return unescape(match[2], {"&quot;": '"'}) if match else ""


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


# Figures of scores.


# Distance in ticks between two lines' points at one tick: their intervals stand side by side.
LINE_OFFSET = 0.05
LEVEL_DASHES = (":", (0, (5, 3)), (0, (5, 2, 1, 2)), (0, (1, 2)))


class ScorePanel(NamedTuple):
    """A panel of runs on one data set."""

    pair: Pair
    # Label → runs by the number on the axis, or by the name of a model, which no line joins.
    lines: Mapping[str, Mapping[Any, RunName]]
    levels: Mapping[str, RunName]  # label → run of a horizontal line
    xlabel: str = ""
    detail: str = ""
    is_to_scale: bool = False  # whether points stand at their numbers; else they are evenly spaced

    @property
    def runs(self) -> list[RunName]:
        return [run for points in (*self.lines.values(), self.levels) for run in points.values()]


@dataclass(frozen=True)
class ScoreFigure:
    """A paper's figure of scores, and our runs."""

    published: Published
    figure: PublishedFigure
    config: Config
    scores: Scores

    def models(self, role: str) -> list[str]:
        return self.figure.models.get(role, [])

    def measure(self, dataset: str) -> str:
        """Return the measure of the paper's figure on a data set; else the same at another cut-off, else the first that
        is known."""
        printed = self.figure.measures.get(dataset, self.figure.measure)
        computed = self.scores.measures(dataset)
        kind = printed.partition("@")[0]
        same_kind = [measure for measure in computed if measure.partition("@")[0] == kind]
        return printed if printed in computed else (same_kind or computed)[0]

    def was_run(self, run: RunName) -> bool:
        return self.scores.get(run, self.measure(run.dataset)) is not None

    def draw(
        self,
        panels: Sequence[ScorePanel],
        empty_reason: str,
        remark: str = "",
        suffix: str = "",
        expected_models: Iterable[str] = (),
    ) -> Any:
        """Return the figure, or an empty one that says why there are no panels (`empty_reason`).

        Of the `expected_models` of the paper's figure the missing are named.
        """
        title = f"{heading(self.published, self.figure)}{suffix}"
        if not panels:
            return empty_figure(title, f"{empty_reason}{self.figure.overlays_hint}")
        labels = dict.fromkeys(self.config.dataset_label(*panel.pair) for panel in panels)
        runs = filter(self.was_run, (run for panel in panels for run in panel.runs))
        models = dict.fromkeys(run.model.partition("@")[0] for run in runs)
        remarks = [remark, self._reading_note(panels), training_remark(self.config, list(models))]
        if undrawn_models := [model for model in expected_models if model not in models]:
            remarks.append(f"Not drawn: {', '.join(undrawn_models)}.")
        remark = " ".join(filter(None, remarks))
        return draw_panels(f"{title}, on {' and '.join(labels)}", panels, self._draw, remark)

    def _reading_note(self, panels: Sequence[ScorePanel]) -> str:
        """How to read scores without the tables: the measure, the intervals, what is re-ranked and what is searched."""
        pairs = list(dict.fromkeys(panel.pair for panel in panels))
        measures = measures_text(self.measure(dataset) for dataset, _ in pairs)
        reranked = " and ".join(dict.fromkeys(candidates_text(self.config, *pair) for pair in pairs))
        search_notes = dict.fromkeys(
            f" {BUILT_IN_LABELS[run.model]} searches the whole collection."
            for panel in panels
            for run in panel.levels.values()
            if run.model in BUILT_IN_LABELS and run.model != panel.pair[1]
        )
        intervals = f"Intervals: {CONFIDENCE:.0%}."
        return f"{measures} {intervals} {reranked[:1].upper()}{reranked[1:]}.{''.join(search_notes)}"

    def _draw(self, axis: Any, panel: ScorePanel) -> None:
        measure = self.measure(panel.pair[0])
        ticks = list(dict.fromkeys(x for points in panel.lines.values() for x in points))
        has_named_ticks = any(isinstance(tick, str) for tick in ticks)
        ticks = ticks if has_named_ticks else sorted(ticks)
        for index, (label, points) in enumerate(panel.lines.items()):
            offset = LINE_OFFSET * (index - (len(panel.lines) - 1) / 2)
            points_with_interval = [
                (
                    x if panel.is_to_scale else ticks.index(x) + offset,
                    results.mean,
                    *interval(results, self.config.seed, draw_stream(run, measure)),
                )
                for x, run in points.items()
                if (results := self.scores.get(run, measure)) is not None
            ]
            x, means, low, high = ([point[column] for point in points_with_interval] for column in range(4))
            style = line_style(index)
            axis.plot(x, means, label=label, linestyle="none" if has_named_ticks else "-", **style)
            if panel.is_to_scale:
                axis.fill_between(x, low, high, alpha=0.15, linewidth=0, color=style["color"])
            else:
                axis.vlines(x, low, high, linewidth=1, color=style["color"])
        for index, (label, run) in enumerate(panel.levels.items()):
            if (results := self.scores.get(run, measure)) is not None:
                dashes = LEVEL_DASHES[index % len(LEVEL_DASHES)]
                axis.axhline(results.mean, color="#444444", linestyle=dashes, linewidth=1.4, label=label)
        if panel.is_to_scale:
            axis.set_xlim(left=0)
        else:
            axis.set_xticks(range(len(ticks)), [tick if has_named_ticks else f"{tick:,}" for tick in ticks])
        axis.set_xlabel(panel.xlabel)
        axis.set_ylabel(measure)
        queries_text = f"{number_of_queries(self.scores, panel.pair[0]):,} test queries"
        title_parts = (self.config.dataset_label(*panel.pair), panel.detail, queries_text)
        axis.set_title(", ".join(filter(None, title_parts)), fontsize=10)
        legend_below(axis)

    def levels(self, pair: Pair, regime: str, models: Iterable[str]) -> dict[str, RunName]:
        """Return label → run of level lines, of those that were run.

        Where given candidates are re-ranked, a first stage is the one that ranks them, else their order: a first stage
        of ours searches the whole collection.
        """
        levels = {}
        for model in models:
            label, run = short_label(self.config, model), RunName(*pair, model, regime)
            if model in BUILT_IN_LABELS:
                default_stage = pair[1] if pair[1] in self.published.candidates else model
                stage = self.config.ranking_stage(model, pair[1]) or default_stage
                label = self.config.stage_labels[stage]
                run = self.scores.first_stage(pair[0], stage) or run
            if self.was_run(run):
                levels[label] = run
        return levels


def short_label(config: Config, model: str) -> str:
    """Return a model's name for a legend: its label, and its key where that says more, "PROP (prop-wikipedia)"."""
    if model in BUILT_IN_LABELS or model not in config.models:
        return BUILT_IN_LABELS.get(model, model)
    label = config.models[model].label
    if config.is_control(model):
        return f"{label}, fresh score head"
    return label if label.casefold() == model.casefold() else f"{label} ({model})"


def training_remark(config: Config, models: Sequence[str]) -> str:
    """Return what some models were pre-trained on, their encoder, and what HARP has in place of attention."""
    names = config.with_starts([model for model in models if model in config.models])
    collections = (config.models[name].collection for name in names)
    corpora = dict.fromkeys(
        corpus for collection in collections if collection for corpus in config.collections[collection]
    )
    objectives = [config.objectives[task.objective] for name in names for task in config.models[name].tasks]
    encoders_text = config.encoder_labels(names)
    if not corpora:
        return f"Encoder {encoders_text}, not pre-trained further."
    return " ".join(
        (f"Pre-trained on {' + '.join(corpora)}; encoder {encoders_text}.", *weight_notes(objectives))
    )
