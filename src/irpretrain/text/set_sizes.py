"""Sizes of word sets: a Poisson law without zeros and large values, which are drawn again.

PROP (section 3.1) prints λ^x e^-λ / x for x = 1, 2, …; the factorial is missing there. The standard Poisson law is
meant, restricted to 1 … most, which is what rejection of other values gives.
"""

import math

import numpy as np

# PROP (section 4.4.2) and ARES (section 5.1) draw sizes with λ = 3. No paper gives a largest size: 21 words and more
# have a probability of 1e-11.
MEAN_SIZE, MAX_SIZE = 3.0, 20


def set_size_probabilities(mean: float = MEAN_SIZE, max_size: int = MAX_SIZE) -> np.ndarray:
    """Return P(size) for the sizes 1 … `max_size` (float64[max_size]) of a Poisson law with the given mean."""
    sizes = range(1, max_size + 1)
    log_weights = np.array([size * math.log(mean) - math.lgamma(size + 1) for size in sizes])
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def cumulative(probabilities: np.ndarray) -> np.ndarray:
    """Return running sums whose last entry is exactly 1, for draws by inversion."""
    sums = np.cumsum(probabilities)
    return sums / sums[-1]
