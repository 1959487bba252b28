"""When a claim holds: an estimate of the difference, the smallest effect of interest, and what follows.

With the 95 % interval of the difference in the claim's direction, and the smallest effect of interest d:

- supported: the interval lies above 0
- contradicted: it lies below 0
- ruled out: it holds 0, but not d
- undecided: anything else, whatever was trained with one seed alone, and sides with equal values throughout

Of a claim that one side reaches a share of the other, the difference is to that share, and d is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irpretrain.evaluation.significance import CONFIDENCE

SUPPORTED, CONTRADICTED, RULED_OUT, UNDECIDED = "supported", "contradicted", "ruled out", "undecided"
NOT_RUN, NOT_TESTABLE = "not run", "not testable here"
TESTED = (SUPPORTED, CONTRADICTED, RULED_OUT, UNDECIDED)
VERDICTS = (*TESTED, NOT_RUN, NOT_TESTABLE)
MEANINGS = {
    SUPPORTED: "the 95 % interval of the difference lies above 0",
    CONTRADICTED: "it lies below 0",
    RULED_OUT: "it holds 0 and ends below the smallest effect of interest, whatever the sign of the difference",
    UNDECIDED: "any of four: the interval holds both 0 and the smallest effect; one seed was run; all values are "
    "equal; there is no lead that could become smaller",
    NOT_RUN: "it can be tested here; the row names a configuration that does",
    NOT_TESTABLE: "it needs something that this project does not have",
}
# Smaller p-values are 0.
SMALLEST_P = 1e-100


class EffectEstimate(NamedTuple):
    """A difference in the claim's direction, its 95 % interval and two-tailed p-value; NaN without support."""

    difference: float
    low: float
    high: float
    p: float
    # Variances of the mean that add up, each with its degrees of freedom; infinite for a known one.
    variances: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, difference: float, *variances: tuple[float, float]) -> EffectEstimate:
        """Return the estimate whose interval has half the width √(Σ t² · variance), each one's t by its freedom."""
        half_width = _half_width(variances, 1 - CONFIDENCE)
        low, high = difference - half_width, difference + half_width
        return cls(difference, low, high, _p(abs(difference), variances), variances)

    @property
    def error(self) -> float:
        """Standard error; not a number where nothing supports one."""
        return math.sqrt(sum(variance for variance, _ in self.variances)) if self.variances else math.nan


class Ruling(NamedTuple):
    """A verdict, and why in one clause."""

    verdict: str
    reason: str


def paired(better: ArrayLike, worse: ArrayLike, articles: Sequence[str] | None = None) -> EffectEstimate:
    """Return the paired difference, with the interval and test of Student's t for other queries and other seeds.

    Differences are taken as mean + effect of the query + effect of the seed + rest, both effects random. The variance
    of the mean over queries and that over seeds add up, each with its own quantile of t (Howe, JASA 69(347), 1974).
    The rest counts in both, so intervals are wide rather than narrow. With one seed this is the paired t-test over
    queries.

    Queries of one article are not independent: their mean square is that of the articles' sums
    (Cameron, Gelbach and Miller, JBES 29(2), 2011), with one degree of freedom per article.

    Args:
        better, worse: values of the two sides [seeds, queries]; one seed beside several counts for each of them.
        articles: of each query; None: every query has its own.
    """
    better_scores, worse_scores = np.broadcast_arrays(np.atleast_2d(better), np.atleast_2d(worse))
    differences = np.asarray(better_scores - worse_scores, np.float64)
    mean, (seeds, queries) = float(differences.mean()), differences.shape
    clusters = np.arange(queries) if articles is None else np.unique(articles, return_inverse=True)[1]
    if len(np.unique(clusters)) < 2:
        return EffectEstimate(mean, math.nan, math.nan, math.nan, ())
    query_variance = mean_square(differences.mean(axis=0) - mean, clusters) / queries
    variances = [(query_variance, int(clusters.max()))]
    if seeds > 1:
        variances.append((float(np.var(differences.mean(axis=1), ddof=1)) / seeds, seeds - 1))
    return EffectEstimate.of(mean, *variances)


def mean_square(residuals: NDArray[np.float64], clusters: NDArray[np.integer]) -> float:
    """Mean square of residuals that may depend on each other within a cluster; the usual one if all are alone."""
    sums = np.bincount(clusters, residuals)
    return float(np.sum(sums**2)) * len(sums) / (len(sums) - 1) / len(residuals)


def unpaired(better: tuple[float, float, float], worse: tuple[float, float, float]) -> EffectEstimate:
    """Return the difference of two values that come with 95 % intervals, (mean, low, high), as if independent.

    Standard errors are those of normal intervals of the same widths. What two sides share, such as documents, makes the
    true interval narrower.
    """
    error = math.hypot(standard_error(*better[1:]), standard_error(*worse[1:]))
    return EffectEstimate.of(better[0] - worse[0], (error**2, math.inf))


def standard_error(low: float, high: float) -> float:
    """Return the standard error of a normal 95 % interval."""
    from scipy.special import ndtri

    return (high - low) / (2 * float(ndtri((1 + CONFIDENCE) / 2)))


def _half_width(variances: Iterable[tuple[float, float]], tail: float) -> float:
    from scipy.special import stdtrit

    return math.sqrt(
        sum(variance * float(stdtrit(freedom, tail / 2)) ** 2 for variance, freedom in variances)
    )


def _p(distance: float, variances: Sequence[tuple[float, float]]) -> float:
    """The tail outside the interval that reaches just as far as `distance`."""
    from scipy.optimize import brentq

    if not distance or _half_width(variances, SMALLEST_P) <= distance:
        return float(not distance)

    def excess(power: float) -> float:
        return _half_width(variances, 10**power) - distance

    return float(10 ** brentq(excess, math.log10(SMALLEST_P), 0, xtol=1e-13))


def power(estimate: EffectEstimate, effect: float) -> float:
    """Return how probable an interval above 0 is if the true difference is `effect`, in the claim's direction, and the
    variances are those of the estimate. NaN without a standard error, or where it is 0."""
    from scipy.special import gammaincinv, ndtr, stdtrit

    if not estimate.error > 0:
        return math.nan
    # The interval's width varies with the estimated variances: their quantiles in equal steps.
    steps = (np.arange(200) + 0.5) / 200
    squares = np.zeros(1)
    for variance, freedom in estimate.variances:
        ratios = np.ones(1) if math.isinf(freedom) else gammaincinv(freedom / 2, steps) * 2 / freedom
        quantile = float(stdtrit(freedom, (1 - CONFIDENCE) / 2))
        squares = np.add.outer(squares, quantile**2 * variance * ratios).ravel()
    return float(ndtr((effect - np.sqrt(squares)) / estimate.error).mean())


def decide(estimate: EffectEstimate, effect: float, seeds: int, lead: EffectEstimate | None = None) -> Ruling:
    """Return the verdict on a claim that was tested.

    Args:
        estimate: the difference.
        effect: the smallest one of interest, 0 for a share.
        seeds: of training, that both sides have; 0 where nothing was trained with a seed of its own.
        lead: of a claim that a lead becomes smaller, the lead that is claimed to be the larger one.
    """
    if seeds == 1:
        return Ruling(UNDECIDED, "one seed of training; another may say otherwise")
    if math.isnan(estimate.low):
        return Ruling(UNDECIDED, "one value has no interval")
    if lead is not None and not lead.low > 0:
        return Ruling(UNDECIDED, "there is no lead that could become smaller")
    if estimate.difference == estimate.error == 0:
        # Such as two gains of the axiom by whose gain all are divided: no other seed could show a difference.
        return Ruling(UNDECIDED, "both sides have equal values throughout")
    if estimate.low > 0:
        return Ruling(SUPPORTED, "the interval lies above 0")
    if estimate.high < 0:
        return Ruling(CONTRADICTED, "the interval lies below 0")
    if estimate.high < effect:
        return Ruling(RULED_OUT, f"an effect of {effect:g} is excluded")
    return Ruling(
        UNDECIDED, f"the interval holds 0 and {effect:g}" if effect else "the interval holds the share"
    )
