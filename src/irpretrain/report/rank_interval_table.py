"""How high pseudo-queries rank the document that they were drawn from (ARES, section 4.1), for every collection."""

from __future__ import annotations

import math
from collections.abc import Sequence

from irpretrain.config import Config
from irpretrain.report.axiom_results import CalibratedTemperature, RankIntervals
from irpretrain.report.cells import Cell, Column, Ours, Panel, Row, Table, Verdict
from irpretrain.report.published import Published, PublishedValue
from irpretrain.report.published_axioms import PublishedAxioms, PublishedInterval
from irpretrain.report.scores import RunName
from irpretrain.report.verdicts import not_run, nothing_published, number_verdict

MEASURE = "share"
NO_COLLECTIONS = (
    "this configuration samples no pseudo-queries for a preference predictor (section predictors)"
)


def build_rank_interval_table(
    published: Published,
    axioms: PublishedAxioms,
    config: Config,
    collections: Sequence[RankIntervals],
    temperatures: Sequence[CalibratedTemperature] = (),
) -> Table:
    """Return the share of pseudo-queries in each interval, printed and ours, for both readings of the printed ones.

    Printed shares are compared with ours on the paper's own documents alone. Where the temperature of a collection was
    calibrated, a note says how.
    """
    return _RankIntervalTable(published, axioms, config, collections, temperatures).build()


class _RankIntervalTable:
    def __init__(
        self,
        published: Published,
        axioms: PublishedAxioms,
        config: Config,
        found: Sequence[RankIntervals],
        temperatures: Sequence[CalibratedTemperature],
    ) -> None:
        self.published, self.config, self.found = published, config, found
        self.printed = axioms.rank_intervals
        self.of_paper = next((one for one in found if self._is_the_papers(one)), None)
        self.absent = self.printed.absent if found else NO_COLLECTIONS
        self.temperatures = {one.name: one for one in temperatures}

    def build(self) -> Table:
        panels = [self._panel(self.printed.intervals)]
        if self.printed.other_reading:
            panels.append(self._panel(self.printed.other_reading))
        return Table(
            f"{self.published.paper}_rank_intervals",
            self.published.paper,
            f"Section {self.printed.section}: {self.printed.title}",
            tuple(panels),
            tuple(self._notes()),
            f"{self.published.citation} {self.published.place(self.printed.page, self.printed.section)}.",
            self.published.name,
        )

    def _corpora(self, found: RankIntervals) -> list[str]:
        return self.config.collections.get(found.name, [])

    def _is_the_papers(self, found: RankIntervals) -> bool:
        corpora = self._corpora(found)
        return bool(corpora) and set(corpora) <= set(self.printed.corpora)

    def _panel(self, intervals: Sequence[PublishedInterval]) -> Panel:
        others = [found for found in self.found if found is not self.of_paper]
        columns = [Column(f"{self.printed.label} (the paper's)", MEASURE)]
        columns += [Column(found.name, MEASURE) for found in others]
        rows = [
            Row(
                _ranks(interval),
                f"{_ranks(interval)} (printed {interval.printed})",
                "",
                (self._theirs(interval), *(self._here(interval, found) for found in others)),
            )
            for interval in intervals
        ]
        title = f"Printed intervals read as {', '.join(map(_ranks, intervals))}"
        return Panel(title, tuple(columns), tuple(rows), "Rank")

    def _theirs(self, interval: PublishedInterval) -> Cell:
        value = _share(interval.percent)
        if self.of_paper is None:
            return self._cell(interval, self.printed.label, value, None, not_run(self.absent))
        if not _is_known(interval, self.of_paper):
            return self._cell(interval, self.of_paper.name, value, None, not_run(_unknown(self.of_paper)))
        ours = self._ours(interval, self.of_paper)
        verdict = number_verdict(value, ours, self.published.verdict.tolerance)
        return self._cell(interval, self.of_paper.name, value, ours, verdict)

    def _here(self, interval: PublishedInterval, found: RankIntervals) -> Cell:
        if not _is_known(interval, found):
            return self._cell(interval, found.name, None, None, not_run(_unknown(found)))
        other = nothing_published("the paper has other documents")
        return self._cell(interval, found.name, None, self._ours(interval, found), other)

    def _ours(self, interval: PublishedInterval, found: RankIntervals) -> Ours:
        counted = sum(found.intervals[rank] for rank in interval.ranks)
        return Ours(
            RunName(found.name, "", "BM25", ""),
            MEASURE,
            counted / found.queries,
            math.nan,
            math.nan,
            (),
            found.queries,
            (),
            "pseudo-queries",
            found.path,
        )

    def _cell(
        self,
        interval: PublishedInterval,
        collection: str,
        value: PublishedValue | None,
        ours: Ours | None,
        verdict: Verdict,
    ) -> Cell:
        return Cell(_ranks(interval), collection, MEASURE, "", value, ours, (verdict,))

    def _notes(self) -> list[str]:
        return [
            f"Published: {self.printed.protocol}; here they are shares.",
            "Ours: share of all pseudo-queries of the collection. All are counted, so there is no interval.",
            f"Verdicts: a printed share is compared with ours on the paper's documents alone, and reproduced within "
            f"{self.published.verdict.tolerance:g}.",
            *(self._described(found) for found in self.found),
            *self.printed.remarks,
            *self.config.report.notes,
        ]

    def _described(self, found: RankIntervals) -> str:
        documents = " + ".join(self._corpora(found)) or "its documents"
        counted = f"{found.name}: {found.queries:,} pseudo-queries of {documents}."
        chosen = self.temperatures.get(found.name)
        return counted if chosen is None else f"{counted} {self._chosen(found, chosen)}"

    def _chosen(self, found: RankIntervals, chosen: CalibratedTemperature) -> str:
        """How the temperature was chosen, and the distance of all pseudo-queries, whose shares the table has."""
        differences = [
            abs(_share(one.percent).value - sum(found.intervals[rank] for rank in one.ranks) / found.queries)
            for one in self.printed.intervals
        ]
        bound = ", the best being a bound of the search" if chosen.at_bound else ""
        return (
            f"Temperature {chosen.temperature:g} was chosen among {len(chosen.tried)} by the total variation distance "
            f"to the printed shares, {chosen.distance:.3f} over {chosen.queries:,} pseudo-queries of "
            f"{chosen.documents:,} documents{bound}; over all it is {sum(differences) / 2:.3f}."
        )


def _is_known(interval: PublishedInterval, found: RankIntervals) -> bool:
    return set(interval.ranks) <= set(found.intervals)


def _unknown(found: RankIntervals) -> str:
    return f"RANK is known up to {found.depth} alone (axioms.rank_depth)"


def _ranks(interval: PublishedInterval) -> str:
    """Return "1–2", "3–5", "beyond 50"."""
    first, last = interval.ranks[0], interval.ranks[-1]
    if first.startswith(">"):
        return f"beyond {first[1:]}"
    low, high = first.partition("-")[0], last.rpartition("-")[2]
    return low if low == high else f"{low}–{high}"


def _share(percent: str) -> PublishedValue:
    """A printed percentage as a share, with all its digits."""
    digits = len(percent.partition(".")[2]) + 2
    value = round(float(percent) / 100, digits)
    return PublishedValue(value=value, marks="", printed=f"{value:.{digits}f}")
