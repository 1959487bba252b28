"""Significance tests over queries, corrections, and intervals; the AUC of preferences.

The tests take per-query values of two systems on the same queries, in the same order; ValueError for values that are no
finite numbers, and for other arguments that make no sense. Formulas and sources are in
docs/methods/evaluation.md.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irpretrain.foundation.randomness import generator

# Confidence of intervals, resamples of the queries behind them, and draws of a randomisation test. The papers print no
# intervals and no number of draws: with these, a p-value of 0.05 has a standard error of 0.0007.
CONFIDENCE, RESAMPLES, PERMUTATIONS = 0.95, 2_000, 100_000

# Random numbers held in memory at a time.
DRAWS_AT_ONCE = 4_000_000

# Relative difference below which two values of a query, or two sums of differences, count as equal.
ROUNDING = 1e-12


class Significance(NamedTuple):
    """A test's outcome: the mean of first - second, the test's statistic, and the two-tailed p-value."""

    difference: float
    statistic: float
    p_value: float


class Interval(NamedTuple):
    """A mean, or an AUC, and the bounds of its confidence interval; the bounds are NaN where nothing supports one."""

    mean: float
    low: float
    high: float


# Decimals of a bound, and of one that they would print as 0 though it is not.
DECIMALS, MOST_DECIMALS = 3, 12


def bounds_text(low: float, high: float, sign: str = "") -> str:
    """Return an interval as text, [-0.005, 0.078]; nothing where there is none.

    A bound next to 0 has as many decimals as it needs, so that a reader sees whether the interval holds 0. `sign` "+"
    marks positive bounds too.
    """
    return "" if math.isnan(low) else f"[{_bound_text(low, sign)}, {_bound_text(high, sign)}]"


def _bound_text(bound: float, sign: str) -> str:
    texts = (f"{bound:{sign}z.{decimals}f}" for decimals in range(DECIMALS, MOST_DECIMALS + 1))
    return next((text for text in texts if float(text)), f"{0:{sign}.{DECIMALS}f}")


class Outcomes(NamedTuple):
    """On how many queries the first system is better, equal, or worse."""

    wins: int
    ties: int
    losses: int


def paired_t_test(first: ArrayLike, second: ArrayLike) -> Significance:
    """Student's paired two-tailed t-test.

    t = mean(d) / (s(d) / sqrt(n)) for the differences d of n queries, with n - 1 degrees of freedom. Equal
    systems give no evidence: p = 1. Differences that are all the same and not zero give p = 0, the limit.
    Fewer than two queries have no deviation: statistic and p are NaN.

    Examples:
        >>> outcome = paired_t_test([0.9, 0.7, 0.8, 0.6], [0.5, 0.6, 0.8, 0.3])
        >>> round(outcome.difference, 3), round(outcome.p_value, 3)
        (0.2, 0.116)
    """
    from scipy.special import stdtr

    differences = _differences(first, second)
    count, mean = len(differences), _mean(differences)
    if count < 2:
        return Significance(mean, math.nan, math.nan)
    if not np.any(differences):
        return Significance(mean, 0.0, 1.0)
    deviation = float(np.std(differences, ddof=1))
    if deviation == 0:
        return Significance(mean, math.copysign(math.inf, mean), 0.0)
    statistic = mean / (deviation / math.sqrt(count))
    return Significance(mean, statistic, float(2 * stdtr(count - 1, -abs(statistic))))


def randomisation_test(
    first: ArrayLike, second: ArrayLike, permutations: int = PERMUTATIONS, seed: int = 1, name: str = ""
) -> Significance:
    """Fisher's two-tailed randomisation test on the mean difference.

    If the systems were the same, each query's difference could as well have the other sign. With few queries
    all 2^n sign patterns are counted and p is exact: the share of patterns whose mean is at least as far from
    0 as the one found. Else `permutations` patterns are drawn and p = (extreme + 1) / (drawn + 1), which
    counts the pattern found and never is 0.

    Args:
        first: values of one system [queries].
        second: values of the other [queries].
        permutations: patterns to draw; all are counted where there are no more than that.
        name: name of the comparison; each has its own stream of draws.

    Returns:
        The mean difference, also as the statistic, and p: 1 for one query, whose two signs are equally far from 0,
        and NaN for none.

    Examples:
        >>> first, second = [0.9, 0.7, 0.8, 0.6], [0.5, 0.6, 0.8, 0.3]
        >>> randomisation_test(first, second).p_value
        0.25
    """
    _require(permutations >= 1, "permutations: one or more are needed", permutations)
    differences = _differences(first, second)
    mean = _mean(differences)
    if not len(differences):
        return Significance(mean, mean, math.nan)
    # A query on which both are equal contributes nothing whatever its sign.
    nonzero_differences = differences[differences != 0]
    if (count := len(nonzero_differences)) == 0:
        return Significance(mean, mean, 1.0)
    bound = abs(float(nonzero_differences.sum())) - ROUNDING * float(np.abs(nonzero_differences).sum())
    if count < 63 and 2**count <= permutations:
        patterns = np.arange(2**count)
        blocks = np.array_split(patterns, -(-patterns.size * count // DRAWS_AT_ONCE))
        flips_of_blocks = ((block[:, None] >> np.arange(count)) & 1 for block in blocks)
        extreme = sum(_extreme(flips, nonzero_differences, bound) for flips in flips_of_blocks)
        return Significance(mean, mean, extreme / patterns.size)
    draws = generator(seed, "randomisation-test", name)
    extreme = 0
    for size in _blocks(permutations, count):
        flips = draws.integers(0, 2, (size, count), np.int8)
        extreme += _extreme(flips, nonzero_differences, bound)
    return Significance(mean, mean, (extreme + 1) / (permutations + 1))


def _extreme(flips: NDArray[np.integer], differences: NDArray[np.float64], bound: float) -> int:
    sums = differences.sum() - 2 * (flips.astype(np.float64) @ differences)
    return int(np.count_nonzero(np.abs(sums) >= bound))


def holm(p_values: ArrayLike | Iterable[float]) -> list[float]:
    """Return p-values adjusted by Holm and Bonferroni's step-down procedure, in the order given.

    With m sorted p-values, the i-th (from 1) becomes the largest (m - j + 1) p_j of all j up to i, at most 1.
    An adjusted p below the level is significant with the family-wise error kept at that level.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    values = _finite_array(p_values, "p-values")
    _require(values.ndim == 1, "p-values: a list of numbers is needed", p_values)
    if values.size and not 0 <= values.min() <= values.max() <= 1:
        raise ValueError("p-values must lie between 0 and 1")
    order, adjusted = np.argsort(values, kind="stable"), np.empty_like(values)
    stepwise_values = np.arange(len(values), 0, -1) * values[order]
    adjusted[order] = np.minimum(1, np.maximum.accumulate(stepwise_values))
    return [float(value) for value in adjusted]


def holm_where_known(p_values: Iterable[float]) -> list[float]:
    """Return p-values adjusted by `holm` over those that there are; a NaN, as of one query's t-test, stays."""
    all_p_values = list(p_values)
    adjusted = iter(holm([p for p in all_p_values if not math.isnan(p)]))
    return [p if math.isnan(p) else next(adjusted) for p in all_p_values]


def bootstrap_interval(
    values: ArrayLike,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 1,
    name: str = "",
) -> Interval:
    """Percentile bootstrap of the mean over queries, or over seeds and queries.

    Args:
        values: [queries], or [seeds, queries]; differences of two systems for an interval of the difference.
        resamples: samples of as many queries, drawn with replacement, and of as many seeds, drawn apart from them.
        confidence: such as 0.95.
        name: name of the interval; each has its own stream of draws.

    Examples:
        >>> mean, low, high = bootstrap_interval([0.9, 0.7, 0.8, 0.6])
        >>> round(mean, 3), 0.6 < low < mean < high < 0.9
        (0.75, True)
    """
    _require(resamples >= 1, "resamples: one or more are needed", resamples)
    _require(0 < confidence < 1, "confidence: a number between 0 and 1 is needed", confidence)
    sample = np.atleast_2d(_finite_array(values))
    _require(sample.ndim == 2, "values: [queries] or [seeds, queries] are needed", values)
    _require(sample.size, "values: one or more are needed", values)
    seeds, queries = sample.shape
    mean = _mean(sample.mean(axis=0))
    if queries < 2:
        return Interval(mean, math.nan, math.nan)
    draws, seed_draws = generator(seed, "bootstrap", name), generator(seed, "bootstrap seeds", name)
    means = []
    for size in _blocks(resamples, queries):
        rows = sample[seed_draws.integers(0, seeds, (size, seeds))].mean(axis=1) if seeds > 1 else sample
        drawn_queries = draws.integers(0, queries, (size, queries))
        rows = np.broadcast_to(rows, drawn_queries.shape)
        means.append(np.take_along_axis(rows, drawn_queries, axis=1).mean(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(mean, float(low), float(high))


def student_interval(values: ArrayLike) -> Interval:
    """Mean of independent values (seeds, or differences of queries) and Student's 95 % interval,
    mean ± t(n - 1) s / sqrt(n); one value has no interval."""
    from scipy.special import stdtrit

    sample = _finite_array(values)
    _require(sample.ndim == 1, "values: a list of numbers is needed", values)
    if len(sample) < 2:
        return Interval(_mean(sample), math.nan, math.nan)
    quantile = float(stdtrit(len(sample) - 1, (1 + CONFIDENCE) / 2))
    half_width = quantile * float(np.std(sample, ddof=1)) / math.sqrt(len(sample))
    return Interval(_mean(sample), _mean(sample) - half_width, _mean(sample) + half_width)


def wilson_interval(successes: float, trials: int) -> Interval:
    """Share of successes and Wilson's 95 % score interval (Wilson, JASA 1927); not numbers without trials.

    Args:
        successes: how many; halves may stand for ties.
    """
    from scipy.special import ndtri

    if trials == 0:
        return Interval(math.nan, math.nan, math.nan)
    _require(0 <= successes <= trials, f"successes: a number from 0 to {trials} is needed", successes)
    share, z = successes / trials, float(ndtri((1 + CONFIDENCE) / 2))
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    centre, scale = share + z * z / (2 * trials), 1 + z * z / trials
    return Interval(share, max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


def wins_ties_losses(first: ArrayLike, second: ArrayLike) -> Outcomes:
    """Count the queries on which the first system is better, equal and worse."""
    differences = _differences(first, second)
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Outcomes(wins, len(differences) - wins - losses, losses)


def _differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    first_values, second_values = _finite_array(first), _finite_array(second)
    if first_values.ndim != 1 or first_values.shape != second_values.shape:
        raise ValueError(
            f"paired values must have equal shapes [queries]; found {first_values.shape} and {second_values.shape}"
        )
    differences = first_values - second_values
    # The mean of equal values over seeds may be off by its last bit, in every query the same way.
    magnitudes = np.maximum(np.abs(first_values), np.abs(second_values))
    differences[np.abs(differences) <= ROUNDING * magnitudes] = 0.0
    return differences


def _finite_array(values: ArrayLike | Iterable[float], name: str = "values") -> NDArray[np.float64]:
    numbers = np.array(list(values) if isinstance(values, Iterator) else values, float)
    if len(not_finite := np.argwhere(~np.isfinite(numbers))):
        place = ", ".join(map(str, not_finite[0]))
        raise ValueError(f"{name}: number {place} (from 0) is {numbers[tuple(not_finite[0])]}")
    return numbers


def _require(is_met: object, requirement: str, value: object) -> None:
    if not is_met:
        raise ValueError(f"{requirement}, not {value!r}")


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _blocks(draws: int, width: int) -> list[int]:
    size = max(1, DRAWS_AT_ONCE // width)
    return [min(size, draws - start) for start in range(0, draws, size)]


# Area under the ROC curve of pairwise preferences, and its interval by resampling documents.


def area(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the AUC: P(score of a positive > score of a negative) + ½ P(equal), over all pairs."""
    levels, positive = _levels(scores, labels)
    return _area(levels, positive, np.ones(len(levels)))


def area_with_interval(
    scores: ArrayLike, labels: ArrayLike, documents: ArrayLike, resamples: int, rng: np.random.Generator
) -> Interval:
    """Return the AUC with a percentile bootstrap interval of 95 %; NaN for one class alone."""
    levels, positive = _levels(scores, labels)
    _, position = np.unique(np.asarray(documents), return_inverse=True)
    count = int(position.max(initial=0)) + 1
    value = _area(levels, positive, np.ones(len(levels)))
    areas = np.empty(resamples)
    # Cases of one document are not independent: a resample draws documents with replacement, and takes all cases of
    # each. Resamples of one class are left out.
    for resample in range(resamples):
        document_weights = np.bincount(rng.integers(0, count, count), minlength=count)
        areas[resample] = _area(levels, positive, document_weights[position].astype(np.float64))
    areas = areas[~np.isnan(areas)]
    if not len(areas):
        return Interval(value, float("nan"), float("nan"))
    low, high = np.quantile(areas, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(value, float(low), float(high))


def _levels(scores: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    _, levels = np.unique(np.asarray(scores, np.float64), return_inverse=True)
    return levels, np.asarray(labels, bool)


def _area(levels: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    size = int(levels.max(initial=0)) + 1
    positive_weights = np.bincount(levels[positive], weights[positive], size)
    negative_weights = np.bincount(levels[~positive], weights[~positive], size)
    pairs = positive_weights.sum() * negative_weights.sum()
    if pairs == 0:
        return float("nan")
    negatives_below = np.cumsum(negative_weights) - negative_weights
    return float((positive_weights * (negatives_below + negative_weights / 2)).sum() / pairs)
