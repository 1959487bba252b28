"""What was sampled: sizes of the word sets against the Poisson, and words inside and outside the document."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irpretrain.report.canvas import COLOURS, draw_panels, empty_figure, legend_below
from irpretrain.report.lineage import Record


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


def set_size_figure(counts: dict[str, SampleCounts], paper: str) -> Any:
    """Draw the observed sizes as bars and the expected ones as points."""
    title = f"{paper}: sizes of the sampled word sets against the Poisson without zero"
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


def words_figure(counts: dict[str, SampleCounts], paper: str) -> Any:
    """Draw the shares of drawn words that do and do not occur in their document."""
    title = f"{paper}: sampled words inside and outside their document"
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
    for place, (name, share) in enumerate(zip(names, outside, strict=True)):
        text = f"{share:.1f} % of {drawn[name].words_drawn:,} outside"
        axis.text(50, place, text, ha="center", va="center", fontsize=10, bbox=box)
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of drawn words")
    axis.grid(axis="y", visible=False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.28), ncols=2)
