"""The search for a temperature, over made-up shares whose best temperature is known."""

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irpretrain.axioms.calibration import HIGHEST, LOWEST, PRECISION, Trial, closest_trial, search_temperature

BEYOND = 0.4


class Made:
    """Shares that change over a window of temperatures from none beyond to all beyond; counts how often it is asked."""

    def __init__(self, middle: float, width: float, shift: float = 1.0) -> None:
        self.middle, self.width, self.least = middle, width, middle * shift
        self.requested: list[float] = []

    def __call__(self, temperature: float) -> Trial:
        self.requested.append(temperature)
        position = math.log(temperature / self.middle) / self.width
        beyond = 0.5 + math.atan(position + math.tan(math.pi * (BEYOND - 0.5))) / math.pi
        distance = math.tanh(abs(math.log(temperature / self.least)) / self.width)
        return Trial(temperature, distance, (1 - beyond, beyond))


def found(measure: Callable[[float], Trial]) -> float:
    return closest_trial(search_temperature(measure, BEYOND)).temperature


@given(
    middle=st.floats(2e-4, 0.5),
    width=st.sampled_from([0.001, 0.03, 0.3, 2.0]),
)
@example(middle=0.0093, width=0.03)
def test_the_best_temperature_is_found_however_narrow_the_window(middle: float, width: float) -> None:
    """Three digits are as good as half a per cent, and the search ends there."""
    made = Made(middle, width)
    assert found(made) == pytest.approx(middle, rel=2 * PRECISION + 0.006)
    assert len(made.requested) < 25


@pytest.mark.parametrize("shift", [0.75, 0.9, 1.1, 1.3])
def test_the_smallest_distance_may_lie_beside_the_right_share_beyond(shift: float) -> None:
    assert found(Made(0.03, 0.3, shift)) == pytest.approx(0.03 * shift, rel=0.02)


@pytest.mark.parametrize(
    ("middle", "wanted"), [(1e-5, LOWEST), (LOWEST, LOWEST), (HIGHEST, HIGHEST), (10.0, HIGHEST)]
)
def test_a_best_temperature_outside_the_bounds_gives_the_bound(middle: float, wanted: float) -> None:
    assert found(Made(middle, 0.3)) == wanted


@given(
    shares=st.lists(st.floats(0, 1), min_size=50, max_size=50),
    distances=st.lists(st.floats(0, 1), min_size=50, max_size=50),
)
def test_noise_cannot_keep_it_from_ending(shares: list[float], distances: list[float]) -> None:
    requested: list[float] = []

    def measure(temperature: float) -> Trial:
        position = len(requested)
        requested.append(temperature)
        return Trial(temperature, distances[position], (1 - shares[position], shares[position]))

    trials = search_temperature(measure, BEYOND)
    assert sorted(requested) == [trial.temperature for trial in trials]
    assert len(set(requested)) == len(requested) < 25
    assert all(LOWEST <= temperature <= HIGHEST for temperature in requested)
    assert all(float(f"{temperature:.3g}") == temperature for temperature in requested)
    assert closest_trial(trials).distance == min(distances[: len(requested)])


def test_of_equal_distances_the_lower_temperature_is_taken() -> None:
    trials = [Trial(0.2, 0.5, (1.0,)), Trial(0.1, 0.5, (1.0,)), Trial(0.05, 0.6, (1.0,))]
    assert closest_trial(trials).temperature == 0.1
