"""The temperature of pseudo-queries, chosen by the ranks that they give their documents (ARES, section 4.1).

The paper prints in which shares pseudo-queries rank their document where, and no temperature. Here pseudo-queries
of a sample of the documents are drawn at several temperatures and ranked in the whole collection as RANK does it,
and the temperature is taken whose shares are closest to the printed ones. docs/methods/ares.md has more.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from irpretrain.axioms.batch import open_terms
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler
from irpretrain.axioms.rank_engine import document_ranks
from irpretrain.axioms.rank_intervals import LAST_RANKS, count_in_intervals, interval_ends
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.randomness import generator
from irpretrain.text.word_store import WordDocuments

# Name of the random stream that draws the documents: (seed, "rank-sample").
STAGE = "rank-sample"


class RankSample:
    """Random documents, ranked in the postings of the whole collection.

    Attributes:
        document_numbers: int64, the documents' numbers in the postings, ascending. They depend on the seed and the
            collection, not on its shards; a larger sample contains a smaller one.
        document_ids: their identifiers.
        statistics, seed: as given.
    """

    def __init__(
        self,
        word_stores: Sequence[str | Path],  # the word stores of all shards
        statistics: str | Path,  # merged WORD_COUNTS of the collection, which the stores' numbers refer to
        postings: str | Path,  # the collection's postings, made with the stop list and stemming of `options`
        options: AxiomsConfig,
        document_count: int,  # how many are drawn at most
        seed: int,
        threads: int = 1,  # of RANK; no rank depends on them
    ) -> None:
        """Draw the documents, from those that have a term, and read their words.

        Raises:
            InputError: no document has a term, or the stores lack a document.
            IntegrityError: the inputs are damaged, or not of the same collection and options.
        """
        self.statistics, self.seed, self._threads = statistics, seed, threads
        self._terms, self._postings = open_terms(statistics, postings, options)
        documents_with_terms = np.flatnonzero(self._postings.lists.lengths)
        if not len(documents_with_terms):
            raise InputError(
                postings,
                f"none of the {count_of(len(self._postings), 'document')} has a word outside the stop list, so "
                "none has a rank",
                remedy="Give the collection more text, or pseudo_queries.temperature a number.",
            )
        random_order = generator(seed, STAGE).permutation(documents_with_terms)
        self.document_numbers = np.sort(random_order[:document_count])
        self.document_ids: pa.ChunkedArray = self._postings.document_ids.take(pa.array(self.document_numbers))
        stores = WordDocuments.open(word_stores, len(self._terms.word_numbers))
        self._words, self._offsets = stores.gather(stores.rows(self.document_ids))

    def ranks(self, sampler: PseudoQuerySampler) -> np.ndarray:
        """Return the ranks (int32), from 1, of the documents for each of their queries, document after document.

        0: beyond the last interval's end, or the document holds no term of the query. Documents without a word of the
        sampler's vocabulary have none.
        """
        queries = sampler.draw(self._words, self._offsets, self.document_ids)
        terms = self._terms.terms(sampler.rows[queries.words])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(queries.sizes)])
        documents = self.document_numbers[queries.document_of_query]
        return document_ranks(self._postings, documents, terms, offsets, LAST_RANKS[-1], self._threads)


# Documents whose pseudo-queries are ranked.
SAMPLE_DOCUMENTS = 1000

# Pseudo-queries of each of them.
QUERIES_PER_DOCUMENT = 4

# Temperatures between which is searched.
LOWEST, HIGHEST = 1e-4, 1.0

# Smallest step of the search, as a share of the temperature.
PRECISION = 0.01

# Ratio of the temperatures that are looked at first, around the best one that bisection met.
FIRST_RATIO = 1.25

# Decimals of shares and distances in the file: enough for a million queries.
DIGITS = 6


class Trial(NamedTuple):
    temperature: float  # T of equation 6
    distance: float  # total variation distance to the paper's shares, from 0 to 1
    shares: tuple[float, ...]  # of the queries in each interval of ranks, the last one beyond all others


def search_temperature(measure: Callable[[float], Trial], target_share: float) -> list[Trial]:
    """Return the results at all temperatures tried, by temperature; `closest_trial` chooses among them.

    The share of ranks beyond the last interval rises with the temperature, so bisection finds the paper's share,
    `target_share`, however narrow the sensitive range of temperatures is. From the best temperature met, steps of
    falling size then minimise the distance between all shares. Temperatures have three significant digits, fit for a
    configuration.
    """
    trials: dict[float, Trial] = {}

    def try_temperature(temperature: float) -> Trial:
        clamped = min(max(float(f"{temperature:.3g}"), LOWEST), HIGHEST)
        if clamped not in trials:
            trials[clamped] = measure(clamped)
        return trials[clamped]

    low, high = LOWEST, HIGHEST
    if try_temperature(low).shares[-1] < target_share < try_temperature(high).shares[-1]:
        while high > (1 + PRECISION) * low:
            middle_trial = try_temperature(math.sqrt(low * high))
            if middle_trial.temperature in (low, high):
                break
            if middle_trial.shares[-1] < target_share:
                low = middle_trial.temperature
            else:
                high = middle_trial.temperature
    ratio = FIRST_RATIO
    while ratio - 1 > PRECISION:
        centre = closest_trial(trials.values()).temperature
        try_temperature(centre / ratio)
        try_temperature(centre * ratio)
        ratio = math.sqrt(ratio)
    return [trials[temperature] for temperature in sorted(trials)]


def closest_trial(trials: Iterable[Trial]) -> Trial:
    """Return the trial of the smallest distance; of equal ones, that of the lowest temperature."""
    return min(trials, key=lambda trial: (trial.distance, trial.temperature))


def calibrate_temperature(
    sample: RankSample,  # SAMPLE_DOCUMENTS of the collection's documents, whose pseudo-queries are ranked
    options: PseudoQueriesConfig,  # how pseudo-queries are drawn. The temperature is not used.
    # The paper's share (0 to 1) of each interval of ranks, by its name: "1-2", "3-5", …, ">50".
    shares: Mapping[str, float],
    # A JSON file: temperature, its distance, whether it is a bound of the search, support, documents and
    # queries of the sample, the paper's shares, and for each temperature tried its shares and distance.
    output: str | Path,
) -> dict[str, Any]:
    """Choose the temperature of a collection's pseudo-queries; return documents, queries, temperatures tried, choice.

    Raises:
        InputError: the collection has no words, or none of the documents drawn has one.
        IntegrityError: the inputs are damaged, or not of the same collection and options.
    """
    # The first of those queries that the workflow draws with this seed.
    search_options = {"temperature": HIGHEST, "per_document": QUERIES_PER_DOCUMENT}
    sampler = PseudoQuerySampler(sample.statistics, options.model_copy(update=search_options), sample.seed)
    interval_last_ranks, query_count = interval_ends(list(shares)), 0

    def measure(temperature: float) -> Trial:
        nonlocal query_count
        sampler.set_temperature(temperature)
        ranks = sample.ranks(sampler)
        query_count = len(ranks)
        if not query_count:
            raise InputError(
                "pseudo_queries",
                f"none of the {count_of(len(sample.document_numbers), 'document')} drawn, such as "
                f"{sample.document_ids[0].as_py()}, has a word that pseudo-queries are made of",
                remedy="Lower minimum_count, or give temperature a number.",
            )
        measured_shares = [
            count / query_count for count in count_in_intervals(ranks, interval_last_ranks).tolist()
        ]
        share_pairs = zip(measured_shares, shares.values(), strict=True)
        distance = sum(abs(measured - printed) for measured, printed in share_pairs) / 2
        rounded_shares = tuple(round(share, DIGITS) for share in measured_shares)
        trial = Trial(temperature, round(distance, DIGITS), rounded_shares)
        _log(trial, shares)
        return trial

    trials = search_temperature(measure, [*shares.values()][-1])
    best_trial = closest_trial(trials)
    is_at_bound = best_trial.temperature in (LOWEST, HIGHEST)
    _log(best_trial, shares, "chosen: ", ", a bound of the search" if is_at_bound else "")
    result = {
        "temperature": best_trial.temperature,
        "distance": best_trial.distance,
        "at_bound": is_at_bound,
        "support": options.support,
        "documents": len(sample.document_numbers),
        "queries": query_count,
    }
    trial_records = [
        {**trial._asdict(), "shares": dict(zip(shares, trial.shares, strict=True))} for trial in trials
    ]
    content = {**result, "paper": dict(shares), "tried": trial_records}
    write_text(output, json.dumps(content, indent=1) + "\n")
    return {**result, "temperatures": len(trials)}


def _log(trial: Trial, names: Iterable[str], head: str = "", end: str = "") -> None:
    """Print a trial: shares in per cent, the distance in points."""
    pairs = zip(names, trial.shares, strict=True)
    shares = ", ".join(f"{name}: {100 * share:.1f} %" for name, share in pairs)
    line = f"T = {trial.temperature:g}: ranks {shares}; distance {100 * trial.distance:.2f}"
    print_line(f"[calibrate temperature] {head}{line}{end}")
