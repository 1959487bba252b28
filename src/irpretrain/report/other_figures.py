"""Figures of other things than scores: what was sampled, axioms (ARES, figure 2, and the diagnosis), and the sweeps of
first stages' parameters."""

import json
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from irpretrain.atomic import read_csv
from irpretrain.config import Config
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.other_tables import PublishedAxioms
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import (
    Diagnosis,
    PredictorGroup,
    PredictorScores,
    in_order,
    predictor_groups,
)
from irpretrain.report.axiom_tables import (
    NO_DIAGNOSES,
    NO_PREDICTORS,
    TITLE,
    diagnosed_axioms,
    diagnosis_label,
    pairs_of,
)
from irpretrain.report.drawing import (
    COLOURS,
    draw_panels,
    empty_figure,
    heading,
    legend_below,
    line_style,
    save,
)
from irpretrain.report.lineage import Record
from irpretrain.report.naming import index_labels

# What was sampled: sizes of the word sets against the Poisson, and words inside and outside the document.


@dataclass
class SampleCounts:
    """Counts of the shards of one collection and objective, added up."""

    sizes: Counter[int] = field(default_factory=Counter)
    expected: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    words_drawn: int = 0
    words_outside: int = 0
    ties: int = 0
    documents: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def pairs(self) -> int:
        """Pairs drawn."""
        return self.sizes.total()

    def add(self, counts: dict[str, Any]) -> None:
        """Add one shard's counts, as `objectives.prop.rop` reports them."""
        for size, of_size in counts.get("set_sizes", {}).items():
            self.sizes[int(size)] += int(of_size["pairs"])
            self.expected[int(size)] += float(of_size["expected"])
        self.words_drawn += int(counts.get("words_drawn", 0))
        self.words_outside += int(counts.get("words_outside_document", 0))
        self.ties += int(counts.get("ties", 0))
        self.documents += int(counts.get("documents", 0))
        self.skipped.update(counts.get("skipped", {}))


def sample_counts(records: Iterable[Record]) -> dict[str, SampleCounts]:
    """Return "<collection> / <objective>" → counts, from the sidecars of the groups' shards.

    Args:
        records: of `results/groups/<collection>/<objective>/<corpus>-<shard>.parquet.meta.json`, sorted; those of
            other stages, which hold no sampled words, are passed over.
    """
    counts_by_name: defaultdict[str, SampleCounts] = defaultdict(SampleCounts)
    for record in records:
        if "words_drawn" in record.counts:
            counts_by_name[" / ".join(Path(record.path).parts[-3:-1])].add(record.counts)
    return dict(sorted(counts_by_name.items()))


def set_size_figure(
    published: Published, _name: str, _config: Config, counts: Mapping[str, SampleCounts]
) -> Any:
    """Draw the observed sizes as bars and the expected ones as points."""
    title = f"{published.name}: sizes of the sampled word sets against the Poisson without zero"
    drawn = [(name, samples) for name, samples in counts.items() if samples.pairs]
    if not drawn:
        return empty_figure(title, "no word sets were sampled in this run")
    return draw_panels(title, drawn, lambda axis, panel: _draw_sizes(axis, *panel))


def _draw_sizes(axis: Any, name: str, samples: SampleCounts) -> None:
    # Sizes that neither occur nor are expected once would only stretch the axis.
    sizes = [s for s in sorted(samples.sizes) if samples.sizes[s] or samples.expected[s] >= 1]
    axis.bar(sizes, [samples.sizes[s] for s in sizes], color=COLOURS[5], label="observed")
    expected = {"color": COLOURS[1], "marker": "D", "linestyle": "none", "label": "expected"}
    axis.plot(sizes, [samples.expected[s] for s in sizes], **expected)
    axis.set_xticks(sizes if len(sizes) <= 12 else sizes[::2])
    axis.set_xlabel("words in a set")
    axis.set_ylabel("pairs")
    axis.set_title(f"{name}, {samples.pairs:,} pairs", fontsize=10)
    axis.grid(axis="x", visible=False)
    legend_below(axis)


def words_figure(
    published: Published, _name: str, _config: Config, counts: Mapping[str, SampleCounts]
) -> Any:
    """Draw the shares of drawn words that do and do not occur in their document."""
    title = f"{published.name}: sampled words inside and outside their document"
    drawn = {name: samples for name, samples in counts.items() if samples.words_drawn}
    if not drawn:
        return empty_figure(title, "no word sets were sampled in this run")
    return draw_panels(title, [drawn], _draw_words, height=1.6 + 0.6 * len(drawn))


def _draw_words(axis: Any, drawn: dict[str, SampleCounts]) -> None:
    names = list(drawn)[::-1]
    outside = [100 * drawn[n].words_outside / drawn[n].words_drawn for n in names]
    inside = [100 - share for share in outside]
    axis.barh(names, inside, color=COLOURS[0], label="inside")
    hatched = {"color": COLOURS[4], "hatch": "//", "edgecolor": "white", "label": "outside"}
    axis.barh(names, outside, left=inside, **hatched)
    box = {"fc": "white", "ec": "none", "pad": 2}
    for position, (name, share) in enumerate(zip(names, outside, strict=True)):
        text = f"{share:.1f} % of {drawn[name].words_drawn:,} outside"
        axis.text(50, position, text, ha="center", va="center", fontsize=10, bbox=box)
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of drawn words")
    axis.grid(axis="y", visible=False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.28), ncols=2)


# Figures of axioms: how much each counts in the preference predictor, a panel a setting (ARES, figure 2); and which
# of them re-rankers follow, as dots with intervals: a row an axiom, a colour a model; beyond the papers.


# Inches, for nine bars.
PANEL_HEIGHT = 3.0
# Inches: of a row without models, of each model in it, of two entries of the legend, and of title and remark.
ROW, MODEL, LEGEND_LINE, MARGIN = 0.22, 0.085, 0.24, 1.9
# Most letters of a model's label in one line of the legend.
LABEL = 42


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
    missing = _missing(groups, settings)
    remark = (
        "Bars: gain of all splits on an axiom, divided by that of the axiom with the largest. Colours: the groups "
        f"{', '.join(dict.fromkeys(axioms.groups.values()))}."
    ) + (f" Not run: {'; '.join(missing)}." if missing else "")
    return draw_panels(
        title,
        panels,
        lambda axis, panel: _draw_importance(axis, axioms, panel[0], panel[0].members[panel[1]]),
        remark,
        height=PANEL_HEIGHT,
        columns=2,
    )


def _missing(groups: Sequence[PredictorGroup], settings: Sequence[str]) -> list[str]:
    """Return "SQuAD 1.1 train, settings II, III" for each group that lacks some."""
    lacking = [
        (group.label, [setting for setting in settings if setting not in group.members]) for group in groups
    ]
    return [
        f"{label}, setting{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
        for label, absent in lacking
        if absent
    ]


def _draw_importance(
    axis: Any, axioms: PublishedAxioms, group: PredictorGroup, scores: PredictorScores
) -> None:
    names = in_order(axioms, [*axioms.groups, *(a for a in scores.axioms if a not in axioms.groups)])
    colours = {kind: COLOURS[position] for position, kind in enumerate(dict.fromkeys(axioms.groups.values()))}
    largest = max(scores.importance.values(), default=0.0) or 1.0
    for position, axiom in enumerate(names):
        if axiom in scores.axioms:
            value = scores.importance.get(axiom, 0.0) / largest
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


def diagnosis_dots(published: Published, _name: str, config: Config, diagnoses: Sequence[Diagnosis]) -> Any:
    """Draw the share of pairs on which each model decides as each axiom does; dashed: chance."""
    axioms = published.axioms
    if axioms is None or not diagnoses:
        return empty_figure(TITLE, NO_DIAGNOSES[0].lower() + NO_DIAGNOSES[1:].rstrip("."))
    most = max(len(diagnosis.models) for diagnosis in diagnoses)
    rows = max(len(diagnosed_axioms(axioms, diagnosis)) for diagnosis in diagnoses)
    height = MARGIN + rows * (ROW + MODEL * most) + LEGEND_LINE * -(-most // 2)
    remark = (
        "Of the pairs of pseudo-queries on which an axiom prefers one, the share on which the model's score "
        "prefers it too. In brackets: these pairs. Intervals: 95%, Wilson's. Dashed: chance."
    )
    return draw_panels(
        TITLE,
        diagnoses,
        lambda axis, diagnosis: _draw_diagnosis(axis, axioms, config, diagnosis),
        remark,
        height=height,
        columns=1,
    )


def _draw_diagnosis(axis: Any, axioms: PublishedAxioms, config: Config, diagnosis: Diagnosis) -> None:
    axis.set_title(diagnosis_label(config, diagnosis), fontsize=10)
    names, models = diagnosed_axioms(axioms, diagnosis), diagnosis.models
    for row in range(0, len(names), 2):
        axis.axhspan(row - 0.5, row + 0.5, color="#f3f5f8", zorder=0)
    axis.axvline(0.5, color="#444444", linestyle="--", linewidth=1)
    for number, (model, label) in enumerate(models.items()):
        aside = 0.8 * ((number + 0.5) / len(models) - 0.5)
        by_row = [(row, diagnosis.get(model, axiom)) for row, axiom in enumerate(names)]
        points = [
            (row + aside, agreement) for row, agreement in by_row if agreement is not None and agreement.pairs
        ]
        style = line_style(number)
        positions = [position for position, _ in points]
        axis.hlines(
            positions,
            [agreement.low for _, agreement in points],
            [agreement.high for _, agreement in points],
            color=style["color"],
        )
        shares = [agreement.share for _, agreement in points]
        text = textwrap.fill(label, LABEL)
        axis.plot(shares, positions, markersize=5, linestyle="none", label=text, **style)
    pairs = pairs_of(diagnosis)
    axis.set_yticks(range(len(names)), [f"{axiom} ({pairs[axiom]:,})" for axiom in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(-0.015, 1.015)  # a mark at either end is seen whole
    axis.set_xlabel("share of pairs decided as the axiom does")
    axis.grid(axis="y", visible=False)
    legend_below(axis, columns=2, size=9)


# The sweep of a first stage's parameters as a figure: a heat map of two parameters, a line of one.


NAMES = {"k1": "k₁", "b": "b", "mu": "μ", "smoothing": "λ"}


def draw_sweep(
    tuning: str | Path, grid: str | Path, label: str, dataset: str, output: str | Path
) -> dict[str, Any]:
    """Draw what `irpretrain.retrieval.tuning.tune` wrote.

    Args:
        tuning, grid: its files.
        label: the first stage's name in tables.
        dataset: name of the data set whose queries chose.
        output: the SVG; a PNG is written beside it.
    """
    tuned = json.loads(Path(tuning).read_text(encoding="utf-8"))
    rows = [{name: float(value) for name, value in row.items()} for row in read_csv(grid)]
    parameters, measure = tuned["parameters"], tuned["measure"]
    chosen = ", ".join(f"{NAMES[name]} = {value:g}" for name, value in parameters.items())
    remark = (
        f"{tuned['queries']} training queries of {dataset}. Chosen: {chosen}, {measure} {tuned['value']:.4f}."
    )
    if tuned["at_edge"]:
        edges = " and ".join(NAMES[name] for name in tuned["at_edge"])
        remark += f" {edges} at the edge of the grid: something better may lie beyond it."
    draw = partial(_heat_map if len(parameters) == 2 else _line, measure=measure, chosen=parameters)
    title = f"{label}: {measure} over the grid of parameters"
    figure = draw_panels(title, [rows], draw, remark, height=4.6)
    save(figure, Path(output).parent, Path(output).stem)
    return {"points": len(rows)}


def _heat_map(axis: Any, rows: list[dict[str, float]], measure: str, chosen: dict[str, float]) -> None:
    down, across = chosen
    values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in chosen}
    at = {(row[down], row[across]): row[measure] for row in rows}
    image = axis.imshow(
        [[at[first, second] for second in values[across]] for first in values[down]],
        cmap="cividis",
        aspect="auto",
        origin="lower",
    )
    axis.grid(visible=False)
    axis.set_xticks(range(len(values[across])), [f"{value:g}" for value in values[across]])
    axis.set_yticks(range(len(values[down])), [f"{value:g}" for value in values[down]])
    axis.set_xlabel(NAMES[across])
    axis.set_ylabel(NAMES[down])
    low, high = min(at.values()), max(at.values())
    for (first, second), value in at.items():
        dark = value < (low + high) / 2
        best = first == chosen[down] and second == chosen[across]
        axis.text(
            values[across].index(second),
            values[down].index(first),
            f"{value:.3f}".lstrip("0"),
            ha="center",
            va="center",
            fontsize=8,
            fontweight="bold" if best else "normal",
            color="white" if dark else "black",
            bbox={"fill": False, "edgecolor": COLOURS[1], "linewidth": 2} if best else None,
        )
    axis.figure.colorbar(image, ax=axis, label=measure)


def _line(axis: Any, rows: list[dict[str, float]], measure: str, chosen: dict[str, float]) -> None:
    [name] = chosen
    axis.plot([row[name] for row in rows], [row[measure] for row in rows], marker="o", color=COLOURS[0])
    best = next(row for row in rows if row[name] == chosen[name])
    axis.plot([best[name]], [best[measure]], marker="o", markersize=12, fillstyle="none", color=COLOURS[1])
    if name == "mu":
        axis.set_xscale("log")
        axis.minorticks_off()
        axis.set_xticks([row[name] for row in rows], [f"{row[name]:,g}" for row in rows])
    axis.set_xlabel(NAMES[name])
    axis.set_ylabel(measure)


# How much of a passage's weight its heaviest terms have, as curves over their ranks (DeepCT, figure 1).


NO_DISTRIBUTIONS = "the configuration names no collection under weight_distributions"
REMARK = (
    "Mean over passages of a term's weight divided by the sum of its passage's weights. Terms are those of the index: "
    "stop words are gone, stems added up. A passage with fewer terms counts 0 at the ranks beyond them; passages "
    "without any are left out."
)
# Inches: height of a panel without its legend, and of a line of that.
PANEL, WEIGHT_LEGEND_LINE = 3.6, 0.24


class WeightingShares(BaseModel):
    """Mean shares of a weighting by rank, and what they are means over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    weighting: str
    passages: int = Field(ge=0)
    passages_without_terms: int = Field(ge=0)
    shares: list[float | None] = Field(min_length=1)


def read_distribution(path: str | Path) -> list[WeightingShares]:
    """Read what `irpretrain.retrieval.weight_distribution` wrote; raise InputError where it is not that."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return [WeightingShares.model_validate(row) for row in content["weightings"]]
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        fault = f"these shares of weights cannot be used: {' '.join(str(error).split())}"
        raise InputError(path, fault, remedy=MAKE_AGAIN) from None


def weight_curves(
    published: Published, name: str, config: Config, distributions: Sequence[str | Path]
) -> Any:
    """Draw a panel for each collection.

    Args:
        distributions: `results/weight_distributions/<name>.json`.
    """
    title = heading(published, published.figures[name])
    if not distributions:
        return empty_figure(title, NO_DISTRIBUTIONS)
    panels = {
        config.weight_distributions[path.stem].label: read_distribution(path)
        for path in map(Path, distributions)
    }
    labels = index_labels(config)
    return draw_panels(
        title,
        list(panels.items()),
        lambda axis, panel: _draw(axis, panel[0], panel[1], labels),
        REMARK,
        height=PANEL + WEIGHT_LEGEND_LINE * max(len(shares) for shares in panels.values()),
        columns=2,
    )


def _draw(axis: Any, label: str, weightings: Sequence[WeightingShares], labels: Mapping[str, str]) -> None:
    ranks = range(1, max(len(weighting.shares) for weighting in weightings) + 1)
    for number, weighting in enumerate(weightings):
        points = [
            (rank, 100 * share)
            for rank, share in zip(ranks, weighting.shares, strict=False)
            if share is not None
        ]
        axis.plot(
            [rank for rank, _ in points],
            [share for _, share in points],
            label=_legend(weighting, labels.get(weighting.weighting, weighting.weighting)),
            **line_style(number),
        )
    axis.set_xticks(ranks)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("rank of the term by its weight")
    axis.set_ylabel("% of the passage's weight")
    axis.set_title(f"{label}, {weightings[0].passages:,} passages", fontsize=11)
    legend_below(axis)


def _legend(weighting: WeightingShares, label: str) -> str:
    if weighting.shares[0] is None:
        return f"{label}: no passage has a term"
    without = (
        f", {weighting.passages_without_terms:,} passages without terms"
        if weighting.passages_without_terms
        else ""
    )
    return f"{label}: {100 * weighting.shares[0]:.1f} % on the heaviest{without}"
