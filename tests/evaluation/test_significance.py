"""Tests and intervals against SciPy, against full enumeration, and against their own promises."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from irpretrain.evaluation.significance import (
    bootstrap_interval,
    holm,
    paired_t_test,
    randomisation_test,
    student_interval,
    wilson_interval,
    wins_ties_losses,
)
from irpretrain.report.cells import p_text
from irpretrain.report.scores import Baseline, Results, RunName, TableTest, compare, interval

values = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40)


@given(values)
def test_t_test_is_scipy_s(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    assume(np.std(first - second) > 1e-6)
    found, expected = paired_t_test(first, second), scipy.stats.ttest_rel(first, second)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
    assert found.difference == pytest.approx(float(np.mean(first - second)), abs=1e-15)
    back = paired_t_test(second, first)
    assert (back.statistic, back.p_value) == pytest.approx((-found.statistic, found.p_value))


def test_t_test_where_the_formula_divides_by_zero() -> None:
    assert paired_t_test([0.1, 0.2], [0.1, 0.2]) == (0.0, 0.0, 1.0)
    assert paired_t_test([1.0, 2.0], [0.5, 1.5]) == (0.5, math.inf, 0.0)
    assert paired_t_test([0.5, 1.5], [1.0, 2.0]) == (-0.5, -math.inf, 0.0)
    for first, second in (([0.7], [0.2]), ([0.2], [0.2]), ([], [])):
        outcome = paired_t_test(first, second)
        assert outcome.difference == pytest.approx(sum(first) - sum(second))
        assert math.isnan(outcome.statistic)
        assert math.isnan(outcome.p_value)


def test_one_query_is_compared_without_a_p_value() -> None:
    baseline = Baseline("*", "BM25", RunName("squad", "bm25", "bm25", "first-stage"))
    alone, tested = (
        compare(
            *(Results((1,), names, np.full((1, len(names)), value)) for value in (0.7, 0.2)),
            baseline, "x", TableTest(), 1,
        )
        for names in (("q1",), ("q1", "q2"))
    )  # fmt: skip
    assert (math.isnan(alone.p), alone.significant, alone.holds) == (True, False, False)
    assert p_text(alone.p) == "one query, so no p"
    assert (tested.p, tested.holds) == (0.0, True)


def test_the_rounding_of_means_over_seeds_is_no_difference() -> None:
    """0.05 in three seeds has the mean 0.05000000000000001, on every query."""
    one, three = np.full(10, 0.05), np.full((3, 10), 0.05).mean(axis=0)
    assert (three != one).all()
    assert paired_t_test(three, one) == (0.0, 0.0, 1.0)
    assert randomisation_test(three, one, 100, 1).p_value == 1.0
    assert wins_ties_losses(three, one) == (0, 10, 0)


def enumerate_signs(differences: list[float]) -> float:
    found = abs(sum(differences))
    patterns = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns]
    return sum(value >= found - 1e-12 for value in sums) / len(patterns)


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.1, 0.2, 0.3, 1.0]), max_size=9))
def test_few_queries_are_enumerated(differences: list[float]) -> None:
    found = randomisation_test(differences, [0.0] * len(differences), 1000, seed=1)
    if not differences:
        assert math.isnan(found.p_value)
        return
    assert found.p_value == pytest.approx(enumerate_signs(differences))
    assert found.difference == pytest.approx(np.mean(differences))
    signs = np.sign(differences).tolist()
    assert wins_ties_losses(differences, [0.0] * len(differences)) == tuple(map(signs.count, (1, 0, -1)))


def test_randomisation_never_says_zero_and_keeps_its_stream() -> None:
    first, second = np.linspace(0.5, 0.9, 40), np.linspace(0.1, 0.2, 40)
    found = randomisation_test(first, second, 999, seed=1, name="a")
    assert found.p_value == 1 / 1000
    noisy = np.random.default_rng(1).normal(size=40)
    draws = {
        name: randomisation_test(noisy, noisy * 0, 999, seed, name).p_value
        for seed, name in [(1, "a"), (2, "b")]
    }
    assert draws["a"] == randomisation_test(noisy, noisy * 0, 999, 1, "a").p_value
    assert draws["a"] != draws["b"]
    assert randomisation_test([0.3, 0.4], [0.3, 0.4], 999, 1).p_value == 1.0


@pytest.mark.parametrize(
    ("wins", "losses", "draws", "near"), [(13, 5, 2**18, 1e-9), (140, 110, 20_000, 0.01)]
)
def test_counted_and_drawn_patterns_give_the_sign_test_s_p(
    wins: int, losses: int, draws: int, near: float
) -> None:
    """Of differences of one size the test is the sign test; so many draws are more than a block."""
    p_value = randomisation_test([1] * wins + [0] * losses, [0] * wins + [1] * losses, draws).p_value
    assert p_value == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue, abs=near)


def test_holm_by_hand_and_its_promises() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_none_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p_value, found in zip(p_values, adjusted, strict=True):
        assert p_value <= found <= min(1.0, p_value * len(p_values)) + 1e-12
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)
    # Step-down as it is usually told: reject from the smallest up until one fails.
    for level in (0.01, 0.05, 0.5):
        rejected = 0
        for place, i in enumerate(order):
            if p_values[i] * (len(order) - place) > level:
                break
            rejected += 1
        assert sum(found <= level for found in adjusted) == rejected


def test_bootstrap_is_deterministic_and_needs_two_queries() -> None:
    sample = np.random.default_rng(4).random(30)
    first = bootstrap_interval(sample, 500, 0.95, 1, "x")
    assert first == bootstrap_interval(sample, 500, 0.95, 1, "x")
    assert first not in [
        bootstrap_interval(sample, 500, 0.95, 2, "x"),
        bootstrap_interval(sample, 500, 0.95, 1, "y"),
    ]
    wide, narrow = (bootstrap_interval(sample, 500, level, 1) for level in (0.99, 0.5))
    assert wide.high - wide.low > narrow.high - narrow.low
    one = bootstrap_interval([0.25], 500, 0.95, 1)
    assert one.mean == 0.25
    assert math.isnan(one.low)


def test_a_bootstrap_over_queries_and_seeds() -> None:
    """Against plain loops; seeds that agree add nothing, queries that agree leave the seeds' own spread."""
    rng = np.random.default_rng(1)
    sample = rng.random((3, 30))
    found = bootstrap_interval(sample, 4000, 0.9, 1, "x")
    plain = [
        np.mean([sample[s, q] for s in rng.integers(0, 3, 3) for q in queries])
        for queries in (rng.integers(0, 30, 30) for _ in range(4000))
    ]
    assert found.mean == pytest.approx(sample.mean())
    assert (found.low, found.high) == pytest.approx(np.quantile(plain, [0.05, 0.95]), abs=0.01)
    one = bootstrap_interval(sample[0], 500, 0.95, 1, "x")
    assert bootstrap_interval(sample[:1], 500, 0.95, 1, "x") == one
    assert bootstrap_interval(np.repeat(sample[:1], 3, 0), 500, 0.95, 1, "x") == pytest.approx(one)
    seeds = np.repeat([[0.0], [3.0], [6.0]], 5, axis=1)
    spread = bootstrap_interval(seeds, 5000, 0.98, 1, "x")
    assert spread == (3.0, 0.0, 6.0), "one in 27 draws a seed three times"


def test_seeds_are_drawn_apart_from_queries() -> None:
    """Query i is easy by as much as seed i is weak: with the same draws for both every mean would be 0."""
    values = np.arange(5.0) - np.arange(5.0)[:, None]
    mean, low, high = bootstrap_interval(values, 500, 0.95, 1, "x")
    assert mean == 0
    assert low < -1
    assert high > 1


def test_student_interval_is_student_s() -> None:
    sample = [0.41, 0.44, 0.40]
    found = student_interval(sample)
    low, high = scipy.stats.t.interval(0.95, 2, np.mean(sample), scipy.stats.sem(sample))
    assert found == pytest.approx((np.mean(sample), low, high))
    assert math.isnan(student_interval([0.4]).high)


def test_intervals_are_over_seeds_where_there_are_several() -> None:
    values = np.array([[0.0, 1.0, 0.5], [0.5, 1.0, 0.3]])
    results = Results((1, 2), ("q1", "q2", "q3"), values)
    found = student_interval([0.5, 0.6])
    assert interval(results, 3, "cell") == pytest.approx((found.low, found.high))
    one = Results((1,), results.query_ids, values[:1])
    alone = bootstrap_interval(values[0], 2_000, 0.95, 3, "cell")
    assert interval(one, 3, "cell") == (alone.low, alone.high)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_are_no_numbers_are_refused(value: float) -> None:
    bad, good = [0.5, value, 0.2], [0.1, 0.2, 0.3]
    calls: list[Callable[[], object]] = [
        lambda: paired_t_test(good, bad),
        lambda: randomisation_test(bad, good, 100, 1),
        lambda: wins_ties_losses(bad, good),
        lambda: bootstrap_interval(bad, 100, 0.95, 1),
        lambda: student_interval(bad),
        lambda: holm([0.1, value]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"number 1 \(from 0\) is (nan|inf)"):
            call()
    assert holm(iter([0.01, 0.5])) == holm([0.01, 0.5])


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (paired_t_test, ([1, 2], [1]), "equal shapes"),
        (randomisation_test, ([1, 2], [2, 4], 0), "permutations: one or more are needed, not 0"),
        (bootstrap_interval, ([1, 2], 0), "resamples: one or more are needed, not 0"),
        (bootstrap_interval, ([1, 2], 10, 95), "confidence: a number between 0 and 1 is needed, not 95"),
        (bootstrap_interval, ([],), r"values: one or more are needed, not \[\]"),
        (bootstrap_interval, ([[[1, 2]]],), r"values: \[queries\] or \[seeds, queries\]"),
        (student_interval, ([[1, 2], [3, 4]],), "values: a list of numbers is needed"),
        (wilson_interval, (5, 3), "successes: a number from 0 to 3 is needed, not 5"),
        (holm, (0.5,), "p-values: a list of numbers is needed, not 0.5"),
        (holm, ([0.5, 1.5],), "between 0 and 1"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    function: Callable[..., object], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (3, 10), (10, 10), (250, 400)])
def test_wilson_s_interval_is_scipy_s(successes: int, trials: int) -> None:
    found = wilson_interval(successes, trials)
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(0.95, "wilson")
    assert found == pytest.approx((successes / trials, expected.low, expected.high), abs=1e-12)
