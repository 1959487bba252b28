"""Tests and intervals over results of several seeds.

Tests pair queries; with several seeds a query's value is its mean over the seeds. The interval is a bootstrap over
queries for one seed. For several it is Student's t over the seeds' means, because it then speaks about repeating the
training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from irpretrain.config.papers import PublishedTable
from irpretrain.config.printed import Direction
from irpretrain.errors import IRPretrainError
from irpretrain.evaluation.significance import (
    CONFIDENCE,
    PERMUTATIONS,
    RESAMPLES,
    Outcomes,
    bootstrap_interval,
    paired_t_test,
    randomisation_test,
    student_interval,
    wins_ties_losses,
)
from irpretrain.report.scores import Results


@dataclass(frozen=True)
class TableTest:
    """How one table is tested: as the paper tests it, where it is a paper's."""

    kind: Literal["t-test", "randomisation"] = "t-test"
    level: float = 0.05

    @classmethod
    def of(cls, table: PublishedTable) -> Self:
        return cls(table.tested_by, table.level)


@dataclass(frozen=True)
class Comparison:
    """Ours against a baseline of ours, paired over queries.

    Attributes:
        mark: printed beside our value when it is significantly better, or worse, as `direction` says.
        difference: our mean minus the baseline's.
        p: two-tailed p-value.
        significant: whether p is at most the level.
        outcomes: on how many queries ours is better, equal and worse; None for what is not paired over queries.
    """

    over: str
    mark: str
    difference: float
    p: float
    significant: bool
    direction: Direction = "better"
    outcomes: Outcomes | None = None

    @property
    def holds(self) -> bool:
        """Whether what the mark says is true here: the difference is significant and has the mark's direction."""
        return self.significant and (
            self.difference > 0 if self.direction == "better" else self.difference < 0
        )


@dataclass(frozen=True)
class Pairing:
    """A comparison to be made: ours against a baseline; `name` names its stream of random draws."""

    ours: Results
    baseline: Results
    over: str
    mark: str
    name: str
    direction: Direction = "better"


def compare(pairings: list[Pairing], testing: TableTest, seed: int) -> list[Comparison]:
    """Return the comparison of each pairing.

    One query has no p-value by the t-test: it is NaN, and nothing is significant.
    """
    p_values = [_p_value(pairing, testing, seed) for pairing in pairings]
    return [
        Comparison(
            pairing.over,
            pairing.mark,
            pairing.ours.mean - pairing.baseline.mean,
            p,
            p <= testing.level,
            pairing.direction,
            wins_ties_losses(pairing.ours.per_query, pairing.baseline.per_query),
        )
        for pairing, p in zip(pairings, p_values, strict=True)
    ]


def interval(results: Results, seed: int, name: str) -> tuple[float, float]:
    """Return the bounds of the mean's confidence interval; NaN where nothing supports one (a single query).

    Args:
        name: names the stream of random draws, so that a cell's interval depends on nothing else.
    """
    if len(results.seeds) == 1:
        bounds = bootstrap_interval(results.values, RESAMPLES, CONFIDENCE, seed, name)
    else:
        bounds = student_interval([float(mean) for mean in results.per_seed], CONFIDENCE)
    return bounds.low, bounds.high


def _p_value(pairing: Pairing, testing: TableTest, seed: int) -> float:
    if pairing.ours.queries != pairing.baseline.queries:
        raise IRPretrainError(
            f"{pairing.name}: the two runs were evaluated on different queries, so no paired test is possible.\n"
            "  Delete results/per_query.parquet and run the workflow again."
        )
    ours, baseline = pairing.ours.per_query, pairing.baseline.per_query
    if testing.kind == "t-test":
        return paired_t_test(ours, baseline).p_value
    return randomisation_test(ours, baseline, PERMUTATIONS, seed, pairing.name).p_value
