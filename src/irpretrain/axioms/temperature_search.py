"""The temperature at which pseudo-queries rank their documents most like the paper's: a search in one number.

The share of queries that rank their document beyond the last interval rises with the temperature: more and more of
their words are not the document's. So bisection finds where that share is the paper's, however narrow the window is
in which the shares depend on the temperature at all. From the best temperature met on the way, steps of falling size
then look for the smallest distance between all shares. Temperatures have three significant digits, so that they can
be copied into a configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irpretrain.config.axioms import CalibrationConfig

FIRST_STEP = 1.25
"""Ratio of the temperatures that are looked at first, around the best one that bisection met."""


@dataclass(frozen=True)
class Trial:
    """What was found at one temperature.

    Attributes:
        temperature: T of equation 6.
        shares: of the queries in each interval of ranks, the last one beyond all others.
        distance: total variation distance to the paper's shares, from 0 to 1.
    """

    temperature: float
    shares: tuple[float, ...]
    distance: float


def search_temperature(
    measure: Callable[[float], Trial], beyond: float, options: CalibrationConfig
) -> list[Trial]:
    """Return what was found at each temperature that was tried, by temperature; `best` says which one to take.

    Args:
        measure: what is found at a temperature; called once for each.
        beyond: the paper's share beyond the last interval.
        options: bounds and precision.
    """
    tried: dict[float, Trial] = {}

    def look(temperature: float) -> Trial:
        rounded = float(f"{temperature:.3g}")
        inside = min(max(rounded, options.lowest), options.highest)
        if inside not in tried:
            tried[inside] = measure(inside)
        return tried[inside]

    low, high = options.lowest, options.highest
    if look(low).shares[-1] < beyond < look(high).shares[-1]:
        while high > (1 + options.precision) * low:
            middle = look(math.sqrt(low * high))
            if middle.temperature in (low, high):
                break
            if middle.shares[-1] < beyond:
                low = middle.temperature
            else:
                high = middle.temperature
    step = FIRST_STEP
    while step - 1 > options.precision:
        centre = best(tried.values()).temperature
        look(centre / step)
        look(centre * step)
        step = math.sqrt(step)
    return [tried[temperature] for temperature in sorted(tried)]


def best(trials: Iterable[Trial]) -> Trial:
    """Return the trial of the smallest distance; of equal ones, that of the lowest temperature."""
    return min(trials, key=lambda trial: (trial.distance, trial.temperature))
