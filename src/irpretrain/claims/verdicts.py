"""When a claim holds: an estimate of the difference, the smallest effect of interest, and what follows.

With the 95 % interval of the difference in the claim's direction, and the smallest effect of interest d:

- supported: the interval lies above 0
- contradicted: it lies below 0
- too small: it holds 0, but not d
- undecided: anything else, whatever was trained with one seed alone, and sides with equal values throughout

Of a claim that one side reaches a share of the other, the difference is to that share, and d is 0.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUPPORTED, CONTRADICTED, TOO_SMALL, UNDECIDED = "supported", "contradicted", "too small", "undecided"
NOT_RUN, NOT_TESTABLE = "not run", "not testable here"
TESTED = (SUPPORTED, CONTRADICTED, TOO_SMALL, UNDECIDED)
VERDICTS = (*TESTED, NOT_RUN, NOT_TESTABLE)
MEANINGS = {
    SUPPORTED: "the 95 % interval of the difference lies above 0",
    CONTRADICTED: "it lies below 0",
    TOO_SMALL: "it holds 0, but not the smallest effect of interest",
    UNDECIDED: "it holds both; or one seed was run; or all values are equal; or no lead could become smaller",
    NOT_RUN: "it can be tested here; the row names a configuration that does",
    NOT_TESTABLE: "it needs something that this project does not have",
}
CONFIDENCE = 0.95


class EffectEstimate(NamedTuple):
    """A difference in the claim's direction.

    Attributes:
        difference: its mean.
        low, high: its 95 % interval; not numbers where nothing supports one.
        p: two-tailed p-value.
        error: its standard error.
        freedom: degrees of freedom of the interval; infinite for a normal one.
    """

    difference: float
    low: float
    high: float
    p: float
    error: float
    freedom: float


class Ruling(NamedTuple):
    """A verdict, and why in one clause."""

    verdict: str
    reason: str


def paired(better: ArrayLike, worse: ArrayLike, articles: Sequence[str] | None = None) -> EffectEstimate:
    """Return the paired difference, with the interval and test of Student's t for other queries and other seeds.

    Differences are taken as mean + effect of the query + effect of the seed + rest, both effects random. The variance
    of the mean is then (M_q + max(M_s - M_r, 0)) / (seeds · queries) with the mean squares of queries, seeds and rest,
    and its degrees of freedom are Satterthwaite's (Biometrics Bulletin 2(6), 1946). With one seed, or seeds that differ
    no more than the rest explains, this is the paired t-test over queries.

    Intervals of three seeds or more hold the truth in 92 to 96 % if seeds are normal, but small p-values are too small:
    the degrees of freedom are estimated from the same few seeds. The page on evaluation has what that does to Holm's
    correction.

    Queries of one article are not independent: the mean squares of queries and rest are those of the articles' sums
    (Cameron, Gelbach and Miller, JBES 29(2), 2011), with one degree of freedom per article.

    Args:
        better, worse: values of the two sides [seeds, queries]; one seed beside several counts for each of them.
        articles: of each query; None: every query has its own.
    """
    from scipy.special import stdtr, stdtrit

    first, second = np.broadcast_arrays(np.atleast_2d(better), np.atleast_2d(worse))
    differences = np.asarray(first - second, np.float64)
    mean, queries = float(differences.mean()), differences.shape[1]
    clusters = np.arange(queries) if articles is None else np.unique(articles, return_inverse=True)[1]
    if len(np.unique(clusters)) < 2:
        return EffectEstimate(mean, math.nan, math.nan, math.nan, math.nan, 0)
    variance, freedom = _variance_of_mean(differences, clusters)
    error = math.sqrt(variance)
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(mean) / error)) if error else float(mean == 0)
    return EffectEstimate(mean, mean - reach, mean + reach, p, error, freedom)


def _variance_of_mean(differences: NDArray[np.float64], clusters: NDArray[np.integer]) -> tuple[float, float]:
    """Variance of the mean of differences [seeds, queries] over both, and its degrees of freedom."""
    seeds, queries = differences.shape
    mean, of_queries, of_seeds = differences.mean(), differences.mean(axis=0), differences.mean(axis=1)
    by_query, query_freedom = seeds * _mean_square(of_queries - mean, clusters), int(clusters.max())
    if seeds == 1:
        return by_query / queries, query_freedom
    by_seed = queries * float(np.var(of_seeds, ddof=1))
    rest = differences - of_queries - of_seeds[:, None] + mean
    unexplained = sum(_mean_square(of_seed, clusters) for of_seed in rest) / (seeds - 1)
    if by_seed <= unexplained:
        return by_query / (seeds * queries), query_freedom
    total = by_query + by_seed - unexplained
    parts = by_query**2 / query_freedom + by_seed**2 / (seeds - 1)
    parts += unexplained**2 / ((seeds - 1) * query_freedom)
    return total / (seeds * queries), total**2 / parts


def _mean_square(residuals: NDArray[np.float64], clusters: NDArray[np.integer]) -> float:
    """Mean square of residuals that may depend on each other within a cluster; the usual one if all are alone."""
    sums = np.bincount(clusters, residuals)
    return float(np.sum(sums**2)) * len(sums) / (len(sums) - 1) / len(residuals)


def unpaired(better: tuple[float, float, float], worse: tuple[float, float, float]) -> EffectEstimate:
    """Return the difference of two values that come with 95 % intervals, (mean, low, high), as if independent.

    Standard errors are those of normal intervals of the same widths. What two sides share, such as documents, makes the
    true interval narrower.
    """
    from scipy.special import ndtr, ndtri

    z = float(ndtri((1 + CONFIDENCE) / 2))
    error = math.hypot(better[2] - better[1], worse[2] - worse[1]) / (2 * z)
    difference = better[0] - worse[0]
    p = float(2 * ndtr(-abs(difference) / error)) if error else float(difference == 0)
    return EffectEstimate(difference, difference - z * error, difference + z * error, p, error, math.inf)


def power(estimate: EffectEstimate, effect: float) -> float:
    """Return how probable an interval above 0 is if the true difference is `effect`: the power of the two-tailed test
    at 0.05 with this standard error, in the claim's direction. NaN without a standard error, or where it is 0."""
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if not estimate.error > 0:
        return math.nan
    shift, upper = effect / estimate.error, (1 + CONFIDENCE) / 2
    if math.isinf(estimate.freedom):
        return float(ndtr(shift - ndtri(upper)))
    return float(1 - nctdtr(estimate.freedom, shift, stdtrit(estimate.freedom, upper)))


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
        return Ruling(TOO_SMALL, f"an effect of {effect:g} is excluded")
    return Ruling(
        UNDECIDED, f"the interval holds 0 and {effect:g}" if effect else "the interval holds the share"
    )
