"""A collection's temperature of pseudo-queries, chosen by the ranks that they give their documents (ARES, section 4.1).

The paper prints in which shares pseudo-queries rank their document where, and no temperature. Here pseudo-queries of a
sample of the documents are drawn at several temperatures and ranked in the whole collection as RANK does it, and the
temperature is taken whose shares are closest to the printed ones. docs/methods/ares.md has more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.atomic import write_text
from irpretrain.axioms.rank_intervals import LAST_RANKS, count_in_intervals, interval_ends
from irpretrain.axioms.rank_sample import RankSample
from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.errors import InputError
from irpretrain.objectives.ares.pseudo_queries import PseudoQuerySampler
from irpretrain.progress import say

SAMPLE_DOCUMENTS = 1000
"""Documents whose pseudo-queries are ranked."""
QUERIES_PER_DOCUMENT = 4
"""Pseudo-queries of each of them."""
LOWEST, HIGHEST = 1e-4, 1.0
"""Temperatures between which is searched."""
PRECISION = 0.01
"""Smallest step of the search, as a share of the temperature."""
FIRST_STEP = 1.25
"""Ratio of the temperatures that are looked at first, around the best one that bisection met."""
DIGITS = 6
"""Of shares and distances in the file: all that any number of queries up to a million can tell."""


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


def search_temperature(measure: Callable[[float], Trial], beyond: float) -> list[Trial]:
    """Return what was found at each temperature that was tried, by temperature; `best` says which one to take.

    The share of queries that rank their document beyond the last interval rises with the temperature. So bisection
    finds where that share is the paper's, however narrow the window is in which the shares depend on the temperature.
    From the best temperature met on the way, steps of falling size then look for the smallest distance between all
    shares. Temperatures have three significant digits, so that they can be copied into a configuration.

    Args:
        measure: what is found at a temperature; called once for each.
        beyond: the paper's share beyond the last interval.
    """
    tried: dict[float, Trial] = {}

    def look(temperature: float) -> Trial:
        rounded = float(f"{temperature:.3g}")
        inside = min(max(rounded, LOWEST), HIGHEST)
        if inside not in tried:
            tried[inside] = measure(inside)
        return tried[inside]

    low, high = LOWEST, HIGHEST
    if look(low).shares[-1] < beyond < look(high).shares[-1]:
        while high > (1 + PRECISION) * low:
            middle = look(math.sqrt(low * high))
            if middle.temperature in (low, high):
                break
            if middle.shares[-1] < beyond:
                low = middle.temperature
            else:
                high = middle.temperature
    step = FIRST_STEP
    while step - 1 > PRECISION:
        centre = best(tried.values()).temperature
        look(centre / step)
        look(centre * step)
        step = math.sqrt(step)
    return [tried[temperature] for temperature in sorted(tried)]


def best(trials: Iterable[Trial]) -> Trial:
    """Return the trial of the smallest distance; of equal ones, that of the lowest temperature."""
    return min(trials, key=lambda trial: (trial.distance, trial.temperature))


def calibration_sampler(
    statistics: str | Path, options: PseudoQueriesConfig, seed: int
) -> PseudoQuerySampler:
    """Return what draws the first pseudo-queries of those that the workflow draws with this seed."""
    changed = {"temperature": HIGHEST, "per_document": QUERIES_PER_DOCUMENT}
    return PseudoQuerySampler(statistics, options.model_copy(update=changed), seed)


def calibrate_temperature(
    sampler: PseudoQuerySampler,
    sample: RankSample,
    options: PseudoQueriesConfig,
    shares: Mapping[str, float],
    output: str | Path,
) -> dict[str, Any]:
    """Choose the temperature of a collection's pseudo-queries.

    Args:
        sampler: what `calibration_sampler` returned.
        sample: SAMPLE_DOCUMENTS of the collection's documents, which say how pseudo-queries rank.
        options: how pseudo-queries are drawn. The temperature is not used.
        shares: the paper's share (0 to 1) of each interval of ranks, by its name: "1-2", "3-5", …, ">50".
        output: a JSON file: temperature, its distance, whether it is a bound of the search, support, documents and
            queries of the sample, the paper's shares, and for each temperature tried its shares and distance.

    Returns:
        Documents, queries, temperatures tried, and what was chosen.

    Raises:
        InputError: the collection has no words, or none of the documents drawn has one.
        IntegrityError: the inputs are damaged, or not of the same collection and options.
    """
    comparison = _Comparison(sample, sampler, shares)
    trials = search_temperature(comparison.measure, [*shares.values()][-1])
    best_trial = best(trials)
    at_bound = best_trial.temperature in (LOWEST, HIGHEST)
    _tell(f"chosen: {comparison.line(best_trial)}{', a bound of the search' if at_bound else ''}")
    result = {
        "temperature": best_trial.temperature,
        "distance": best_trial.distance,
        "at_bound": at_bound,
        "support": options.support,
        "documents": len(sample.numbers),
        "queries": comparison.queries,
    }
    tried = [
        {"temperature": trial.temperature, "distance": trial.distance, "shares": comparison.named(trial)}
        for trial in trials
    ]
    content = {**result, "paper": dict(shares), "tried": tried}
    write_text(output, json.dumps(content, indent=1) + "\n")
    return {**result, "temperatures": len(trials)}


class _Comparison:
    """Compares a sample's ranks with the paper's."""

    def __init__(self, sample: RankSample, sampler: PseudoQuerySampler, shares: Mapping[str, float]) -> None:
        self._sample, self._sampler = sample, sampler
        self._names, self._paper = list(shares), list(shares.values())
        self._lasts = interval_ends(self._names)
        if self._lasts[-1] > LAST_RANKS[-1]:
            raise ValueError(f"ranks beyond {LAST_RANKS[-1]} are not told apart")
        self.queries = 0

    def measure(self, temperature: float) -> Trial:
        self._sampler.set_temperature(temperature)
        ranks = self._sample.ranks(self._sampler)
        self.queries = len(ranks)
        if not self.queries:
            raise InputError(
                "pseudo_queries",
                f"none of the {len(self._sample.numbers):,} documents drawn, such as "
                f"{self._sample.document_ids[0].as_py()}, has a word that pseudo-queries are made of",
                remedy="Lower minimum_count, or give temperature a number.",
            )
        trial = self._compared(temperature, count_in_intervals(ranks, self._lasts))
        _tell(self.line(trial))
        return trial

    def _compared(self, temperature: float, counts: np.ndarray) -> Trial:
        shares = [count / self.queries for count in counts.tolist()]
        distance = sum(abs(ours - theirs) for ours, theirs in zip(shares, self._paper, strict=True)) / 2
        return Trial(temperature, tuple(round(share, DIGITS) for share in shares), round(distance, DIGITS))

    def named(self, trial: Trial) -> dict[str, float]:
        return dict(zip(self._names, trial.shares, strict=True))

    def line(self, trial: Trial) -> str:
        """What a user reads of a trial: shares in per cent, the distance in points."""
        shares = ", ".join(f"{name}: {100 * share:.1f} %" for name, share in self.named(trial).items())
        return f"T = {trial.temperature:g}: ranks {shares}; distance {100 * trial.distance:.2f}"


def _tell(line: str) -> None:
    say(f"[calibrate temperature] {line}")
