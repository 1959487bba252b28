"""When a claim holds: an estimate of the difference, the smallest effect of interest, and what follows.

With the 95 % interval of the difference in the claim's direction, and the smallest effect of interest d:

- supported: the interval lies above 0, and the difference has this sign in every seed
- contradicted: not supported, and the interval's upper end is below d, so that an effect of that size is excluded
- undecided: anything else

Of a claim that one side reaches a share of the other, the difference is to that share, and d is 0.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from irpretrain.evaluation.significance import paired_t_test, student_interval

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_RUN, NOT_TESTABLE = "not run", "not testable here"
VERDICTS = (SUPPORTED, CONTRADICTED, UNDECIDED, NOT_RUN, NOT_TESTABLE)
MEANINGS = {
    SUPPORTED: "the 95 % interval of the difference lies above 0, and every seed has this sign",
    CONTRADICTED: "the interval excludes even the smallest effect of interest",
    UNDECIDED: "the interval holds both 0 and that effect, a seed has the other sign, or there is no lead that could "
    "become smaller",
    NOT_RUN: "it can be tested here; the row names a configuration that does",
    NOT_TESTABLE: "it needs what this project does not have",
}
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A difference in the claim's direction.

    Attributes:
        difference: its mean.
        low, high: its 95 % interval; not numbers where nothing supports one.
        p: two-tailed p-value.
        error: its standard error.
        freedom: degrees of freedom of the interval; infinite for a normal one.
        of_seeds: the difference in each seed.
    """

    difference: float
    low: float
    high: float
    p: float
    error: float
    freedom: float
    of_seeds: tuple[float, ...] = ()


class Ruling(NamedTuple):
    """A verdict, and why in one clause."""

    verdict: str
    reason: str


def paired(better: ArrayLike, worse: ArrayLike) -> Estimate:
    """Return the paired difference over queries, each averaged over seeds: Student's interval and t-test.

    Args:
        better, worse: values of the two sides [seeds, queries]; one seed beside several counts for each of them.
    """
    first, second = np.broadcast_arrays(np.atleast_2d(better), np.atleast_2d(worse))
    test = paired_t_test(first.mean(axis=0), second.mean(axis=0))
    differences = (first - second).mean(axis=0)
    count = len(differences)
    interval = student_interval(differences, CONFIDENCE)
    error = float(np.std(differences, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    of_seeds = tuple(float(mean) for mean in (first - second).mean(axis=1))
    p = test.p_value if count > 1 else math.nan
    return Estimate(test.difference, interval.low, interval.high, p, error, count - 1, of_seeds)


def unpaired(better: tuple[float, float, float], worse: tuple[float, float, float]) -> Estimate:
    """Return the difference of two values that come with 95 % intervals, (mean, low, high), as if independent.

    Standard errors are those of normal intervals of the same widths. What two sides share, such as documents, makes the
    true interval narrower.
    """
    from scipy.special import ndtr, ndtri

    z = float(ndtri((1 + CONFIDENCE) / 2))
    error = math.hypot(better[2] - better[1], worse[2] - worse[1]) / (2 * z)
    difference = better[0] - worse[0]
    p = float(2 * ndtr(-abs(difference) / error)) if error else float(difference == 0)
    return Estimate(difference, difference - z * error, difference + z * error, p, error, math.inf)


def power(estimate: Estimate, effect: float) -> float:
    """Return how probable an interval above 0 is if the true difference is `effect`: the power of the two-tailed test
    at 0.05 with this standard error, in the claim's direction. Not a number without a standard error."""
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if math.isnan(estimate.error) or estimate.error == 0:
        return math.nan if math.isnan(estimate.error) else float(effect > 0)
    shift, upper = effect / estimate.error, (1 + CONFIDENCE) / 2
    if math.isinf(estimate.freedom):
        return float(ndtr(shift - ndtri(upper)))
    return float(1 - nctdtr(estimate.freedom, shift, stdtrit(estimate.freedom, upper)))


def decide(estimate: Estimate, effect: float, lead: Estimate | None = None) -> Ruling:
    """Return the verdict on a claim that was tested.

    Args:
        estimate: the difference.
        effect: the smallest one of interest, 0 for a share.
        lead: of a claim that a lead becomes smaller, the lead that is claimed to be the larger one.
    """
    if math.isnan(estimate.low):
        return Ruling(UNDECIDED, "one value has no interval")
    if lead is not None and not lead.low > 0:
        return Ruling(UNDECIDED, "there is no lead that could become smaller")
    against = sum(difference <= 0 for difference in estimate.of_seeds)
    if estimate.low > 0 and not against:
        return Ruling(SUPPORTED, "the interval lies above 0")
    if estimate.high < 0:
        return Ruling(CONTRADICTED, "the interval lies below 0")
    if estimate.high < effect:
        return Ruling(CONTRADICTED, f"an effect of {effect:g} is excluded")
    if estimate.low > 0:
        return Ruling(UNDECIDED, f"{against} of {len(estimate.of_seeds)} seeds have the other sign")
    return Ruling(
        UNDECIDED, f"the interval holds 0 and {effect:g}" if effect else "the interval holds the share"
    )
