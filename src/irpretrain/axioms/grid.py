"""Rounding to a grid, so that values which are equal on paper are equal in the table.

An axiom compares two numbers exactly. The same summands in another order differ in their last bit, and then rounding
would decide. Multiples of 2⁻³² add up without rounding below 2²¹, so any order gives the same sum.
"""

import math

from irpretrain.compiled import compiled

STEPS = 2.0**32
"""Steps of the grid in 1: one step is 2.3·10⁻¹⁰."""


@compiled
def on_grid(value: float) -> float:
    """Return the multiple of 2⁻³² that is next to a finite `value`."""
    return math.floor(value * STEPS + 0.5) / STEPS
