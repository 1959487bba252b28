"""Cells before their statistics: what is measured and compared, and how plans become values of ours."""

from __future__ import annotations

from dataclasses import dataclass

from irpretrain.config import Config
from irpretrain.report.cells import Comparison, Ours
from irpretrain.report.comparisons import Pairing, TableTest, compare, interval
from irpretrain.report.published import Direction
from irpretrain.report.scores import RunName, Scores

DIGITS = 12
"""Decimals that are kept of means and bounds."""


@dataclass(frozen=True)
class Baseline:
    """A run that a cell is compared with, and the mark that says how it came out."""

    mark: str
    over: str
    run: RunName
    direction: Direction = "better"


@dataclass(frozen=True)
class Plan:
    """A cell before the statistics: what is measured, what it is compared with, and why it is empty if so."""

    row: str
    dataset: str
    candidates: str
    measure: str
    regime: str
    run: RunName | None
    reason: str
    baselines: tuple[Baseline, ...]


class Statistics:
    """Turns plans into `Ours`; p-values are corrected over the plans of one table."""

    def __init__(self, config: Config, scores: Scores, testing: TableTest) -> None:
        self.config, self.scores, self.testing = config, scores, testing
        self._pairings: dict[tuple[RunName, str, Baseline], Pairing] = {}
        self._comparisons: dict[tuple[RunName, str, Baseline], Comparison] = {}

    def note(self, plan: Plan) -> None:
        """Remember the comparisons of a plan."""
        if plan.run is None:
            return
        ours = self.scores.get(plan.run, plan.measure)
        for baseline in plan.baselines:
            other = self.scores.get(baseline.run, plan.measure)
            if ours is not None and other is not None and baseline.run != plan.run:
                name = (
                    f"{identifier(plan.run, plan.measure)} against {identifier(baseline.run, plan.measure)}"
                )
                self._pairings[plan.run, plan.measure, baseline] = Pairing(
                    ours, other, baseline.over, baseline.mark, name, baseline.direction
                )

    def test(self) -> None:
        """Make all comparisons at once."""
        made = compare(list(self._pairings.values()), self.testing, self.config.seed)
        self._comparisons = dict(zip(self._pairings, made, strict=True))

    def ours(self, plan: Plan) -> Ours | None:
        """Return our value of a plan, or None where there is none."""
        results = self.scores.get(plan.run, plan.measure) if plan.run else None
        if plan.run is None or results is None:
            return None
        name = identifier(plan.run, plan.measure)
        low, high = interval(results, self.config.evaluation, self.config.seed, name)
        keys = [(plan.run, plan.measure, baseline) for baseline in plan.baselines]
        made = tuple(self._comparisons[key] for key in keys if key in self._comparisons)
        # What differs in the last bits only must not print differently.
        mean, low, high = (round(value, DIGITS) for value in (results.mean, low, high))
        return Ours(plan.run, plan.measure, mean, low, high, results.seeds, len(results.queries), made)


def identifier(run: RunName, measure: str) -> str:
    """Return the name of a value's streams of random draws."""
    return "/".join((run.dataset, run.candidates, run.model, run.regime, measure))
