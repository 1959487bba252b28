"""How much of a passage's weight its heaviest terms have, over a collection (DeepCT, section 5.2, Figure 1).

Of each passage the weights of its terms are sorted, the heaviest first, and divided by their sum; the shares of each
rank are averaged over passages. Terms are those of the index: stop words are gone, words of one stem are one term. A
passage with fewer terms has share 0 at the ranks beyond them, so that every rank is a mean over the same passages and
shares never rise from one rank to the next. Passages without any term have no shares and are only counted.

Weights are added up as integers, apart for each sum of a passage's weights, so means do not depend on shards or order.
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

RANKS = 10
"""Terms of a passage that are looked at (the figure's x axis)."""


@dataclass
class Shares:
    """Sums over the passages of a collection.

    Attributes:
        passages: with and without terms.
        without_terms: those whose every word has weight 0 or is a stop word.
        terms: of all passages.
        reaching: passages that have a term of each rank.
        sums: by the sum of a passage's weights: the sum of the weights of each rank.
    """

    passages: int = 0
    without_terms: int = 0
    terms: int = 0
    reaching: list[int] = field(default_factory=lambda: [0] * RANKS)
    sums: dict[int, list[int]] = field(default_factory=dict)

    def add(self, weights: Iterable[int]) -> None:
        """Add a passage by the weights of its terms."""
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
        """Return the mean share of each rank, correctly rounded sums divided once; None where no passage has terms."""
        number = self.passages - self.without_terms
        if not number:
            return [None] * RANKS
        return [
            math.fsum(sums[rank] / total for total, sums in self.sums.items()) / number
            for rank in range(RANKS)
        ]


def measure_distribution(
    weightings: Mapping[str, Sequence[str | Path]],
    options: RetrievalConfig,
    words: QueryWords,
    output: str | Path,
) -> dict[str, Any]:
    """Write the mean share of each rank for several weightings of one collection, as JSON.

    Args:
        weightings: name → its TERM_VECTORS tables, all shards of the collection.
        words: how the texts behind the weights were cut into words.
        output: `{"ranks": 10, "weightings": [{"weighting", "passages", "passages_without_terms", "mean_terms",
            "shares": [one a rank], "passages_reaching": [passages that have a term of each rank]}]}`.

    Returns:
        Counts: passages of each weighting, and those without terms.

    Raises:
        InputError: the weightings hold different numbers of passages, or a weight is below 1.
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
