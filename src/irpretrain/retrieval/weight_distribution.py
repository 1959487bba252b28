"""The share of a passage's weight in its heaviest terms, over a collection (DeepCT, section 5.2, Figure 1).

The weights of a passage's index terms are sorted, the heaviest first, and divided by their sum; the shares of each rank
are averaged over passages with terms. A passage with fewer terms has share 0 at later ranks, so that every rank is a
mean over the same passages. Weights are added up as integers, per sum of a passage's weights, so means do not depend on
shards or order.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irpretrain.atomic import write_text
from irpretrain.config.retrieval import QueryWords, RetrievalConfig
from irpretrain.contracts import TERM_VECTORS
from irpretrain.errors import InputError
from irpretrain.progress import progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.lucene import DOCUMENTS_AT_ONCE
from irpretrain.retrieval.weighted_index import analysed_weights

# Terms of a passage that are looked at (the figure's x axis).
RANKS = 10


@dataclass
class Shares:
    passages: int = 0  # with and without terms
    without_terms: int = 0  # those whose every word has weight 0 or is a stop word
    terms: int = 0  # of all passages
    reaching: list[int] = field(default_factory=lambda: [0] * RANKS)  # passages that have a term of each rank
    # By the sum of a passage's weights: the sum of the weights of each rank.
    sums: dict[int, list[int]] = field(default_factory=dict)

    def add(self, weights: Iterable[int]) -> None:
        ordered = sorted(weights, reverse=True)
        self.passages += 1
        self.terms += len(ordered)
        if not ordered:
            self.without_terms += 1
            return
        sums = self.sums.setdefault(sum(ordered), [0] * RANKS)
        for rank, weight in enumerate(ordered[:RANKS]):
            sums[rank] += weight
            self.reaching[rank] += 1

    def means(self) -> list[float | None]:
        """Return the mean share of each rank, correctly rounded sums divided once; None if no passage has terms."""
        number = self.passages - self.without_terms
        if not number:
            return [None] * RANKS
        return [
            math.fsum(sums[rank] / total for total, sums in self.sums.items()) / number
            for rank in range(RANKS)
        ]


def measure_distribution(
    # Name → its TERM_VECTORS tables, all shards of the collection.
    weightings: Mapping[str, Sequence[str | Path]],
    options: RetrievalConfig,
    words: QueryWords,  # how the texts behind the weights were cut into words
    # `{"ranks": 10, "weightings": [{"weighting", "passages", "passages_without_terms", "mean_terms",
    # "shares": [one per rank], "passages_reaching": [passages that have a term of each rank]}]}`.
    output: str | Path,
) -> dict[str, Any]:
    """Write the mean share of each rank for several weightings of one collection, as JSON; return counts of passages.

    Raises:
        InputError: the weightings have different numbers of passages, or a weight is below 1.
        SetupError: Java or the jar is missing.
    """
    analyser = Analyser.of(options, words)
    shares_by_name = {name: _shares(name, paths, analyser) for name, paths in weightings.items()}
    _check_equal(shares_by_name, weightings)
    rows = [_row(name, shares) for name, shares in shares_by_name.items()]
    write_text(output, json.dumps({"ranks": RANKS, "weightings": rows}, indent=1) + "\n")
    keys = ("passages", "passages_without_terms")
    return {row["weighting"]: {key: row[key] for key in keys} for row in rows}


def _shares(name: str, paths: Sequence[str | Path], analyser: Analyser) -> Shares:
    shares, counts = Shares(), {"words": 0, "words_without_terms": 0}
    for path in paths:
        batches = TERM_VECTORS.stream(path, ["document_id", "terms"], DOCUMENTS_AT_ONCE)
        passages = analysed_weights(batches, path, analyser, counts)
        for _, terms in progress(passages, f"distribution of weights {name}", "passages"):
            shares.add(terms.values())
    return shares


def _check_equal(shares_by_name: Mapping[str, Shares], paths: Mapping[str, Sequence[str | Path]]) -> None:
    first = next(iter(shares_by_name))
    for name, shares in shares_by_name.items():
        if shares.passages != shares_by_name[first].passages:
            raise InputError(
                paths[name][0],
                f"{name} weighs {shares.passages:,} passages, {first} {shares_by_name[first].passages:,} of the same "
                "collection",
                remedy="Delete the term vectors of both and run the workflow again.",
            )


def _row(name: str, shares: Shares) -> dict[str, Any]:
    number = shares.passages - shares.without_terms
    return {
        "weighting": name,
        "passages": shares.passages,
        "passages_without_terms": shares.without_terms,
        "mean_terms": shares.terms / number if number else None,
        "shares": shares.means(),
        "passages_reaching": shares.reaching,
    }
