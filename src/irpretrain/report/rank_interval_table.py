"""How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection."""

import math
from collections.abc import Sequence

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms, PublishedInterval
from irpretrain.papers.base import PublishedValue
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import AxiomResults, CalibratedTemperature, RankIntervals
from irpretrain.report.cells import Column, Ours
from irpretrain.report.plans import CellPlan, PlannedPanel, PlannedRow, TablePlan

MEASURE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


class RankIntervalTable:
    """The shares of pseudo-queries by interval, printed and ours, for both readings of the printed intervals.

    Printed shares are compared with ours on the paper's own documents alone. Where the temperature of a collection was
    calibrated, a note says how.
    """

    def __init__(
        self, published: Published, axioms: PublishedAxioms, config: Config, results: AxiomResults
    ) -> None:
        self.published, self.config, self.collections = published, config, results.rank_intervals
        self.printed = axioms.rank_intervals
        self.of_paper = next(
            (collection for collection in self.collections if self._is_the_papers(collection)), None
        )
        self.others = [collection for collection in self.collections if collection is not self.of_paper]
        self.temperatures = {collection.name: collection for collection in results.temperatures}

    def plan(self) -> TablePlan:
        readings = [reading for reading in (self.printed.intervals, self.printed.other_reading) if reading]
        return TablePlan.of_paper(
            self.published, self.printed, list(map(self._panel, readings)), self._notes()
        )

    def _corpora(self, collection: RankIntervals) -> list[str]:
        return self.config.collections.get(collection.name, [])

    def _is_the_papers(self, collection: RankIntervals) -> bool:
        corpora = self._corpora(collection)
        return bool(corpora) and set(corpora) <= set(self.printed.corpora)

    def _panel(self, intervals: Sequence[PublishedInterval]) -> PlannedPanel:
        columns = [Column(f"{self.printed.label} (the paper's)", MEASURE)]
        columns += [Column(collection.name, MEASURE) for collection in self.others]
        rows = [
            PlannedRow(
                _ranks(interval),
                f"{_ranks(interval)} (printed {interval.printed})",
                "",
                (
                    self._cell(interval, self.of_paper, interval.share),
                    *(self._cell(interval, collection) for collection in self.others),
                ),
            )
            for interval in intervals
        ]
        title = f"Printed intervals read as {', '.join(map(_ranks, intervals))}"
        return PlannedPanel(title, tuple(columns), tuple(rows), "Rank")

    def _cell(
        self,
        interval: PublishedInterval,
        collection: RankIntervals | None,
        printed: PublishedValue | None = None,
    ) -> CellPlan:
        name = collection.name if collection else self.printed.label
        if collection is None:
            reason = self.printed.absent if self.collections else NO_COLLECTIONS
        else:
            reason = f"RANK is known up to {collection.depth} alone (axioms.rank_depth)"
        return CellPlan(
            _ranks(interval),
            name,
            "",
            MEASURE,
            "",
            reason=reason,
            measured=_ours(interval, collection) if collection else None,
            printed=printed,
            alone="the paper has other documents",
        )

    def _notes(self) -> list[str]:
        return [
            f"Published: {self.printed.protocol}; here they are shares.",
            "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
            f"Verdicts: a printed share is compared with ours on the paper's documents alone, and reproduced within "
            f"{self.published.verdict.tolerance:g}.",
            *(self._described(collection) for collection in self.collections),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _described(self, collection: RankIntervals) -> str:
        documents = " + ".join(self._corpora(collection)) or "its documents"
        counted = f"{collection.name}: {collection.queries:,} pseudo-queries of {documents}."
        chosen = self.temperatures.get(collection.name)
        return counted if chosen is None else f"{counted} {self._chosen(collection, chosen)}"

    def _chosen(self, collection: RankIntervals, chosen: CalibratedTemperature) -> str:
        """How the temperature was chosen, and the distance of all pseudo-queries, whose shares the table has."""
        differences = [
            abs(
                interval.share.value
                - sum(collection.intervals[rank] for rank in interval.ranks) / collection.queries
            )
            for interval in self.printed.intervals
        ]
        bound = ", the best being a bound of the search" if chosen.at_bound else ""
        return (
            f"Temperature {chosen.temperature:g} was chosen among {len(chosen.tried)} by the total variation distance "
            f"to the printed shares, {chosen.distance:.3f} over {chosen.queries:,} pseudo-queries of "
            f"{chosen.documents:,} documents{bound}; over all it is {sum(differences) / 2:.3f}."
        )


def _ours(interval: PublishedInterval, collection: RankIntervals) -> Ours | None:
    """Our share of an interval; None where ranks are not known so far."""
    if not set(interval.ranks) <= set(collection.intervals):
        return None
    number = collection.queries
    share = sum(collection.intervals[rank] for rank in interval.ranks) / number
    name, value = (collection.name, "BM25"), (share, math.nan, math.nan)
    return Ours.of_file(name, MEASURE, value, number, "pseudo-queries", collection.path)


def _ranks(interval: PublishedInterval) -> str:
    """Return "1–2", "3–5", "beyond 50"."""
    name = interval.name
    return f"beyond {name[1:]}" if name.startswith(">") else name.replace("-", "–")
