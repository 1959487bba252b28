"""Words outside a document, in classes of nearly equal weight.

A word w that a document lacks has γ_w = s h_w, where s = μ / (|D| + μ) is the document's and h_w = −P(w|θ_C) log
P(w|θ_C) is the collection's. So the order of these words is the same for all documents, and words whose h differs by at
most T log 2 have weights exp(γ_w/T) within a factor of two of each other, for every s ≤ 1. A class is drawn by its size
and its largest weight, and a word of it uniformly and by rejection, which accepts at least every second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.text.statistics import read_totals
from irpretrain.text.stop_words import load_stop_words

if TYPE_CHECKING:
    from irpretrain.config.axioms import PseudoQueriesConfig


class WeightClasses(NamedTuple):
    """Classes of the words of the vocabulary by h."""

    members: np.ndarray  # int32 [V], words class by class; no words where nothing is drawn outside documents
    offsets: np.ndarray  # int64 [classes + 1]; class k has members[offsets[k] : offsets[k + 1]]
    tops: np.ndarray  # float64 [classes], the largest h of each
    class_of: np.ndarray  # int32 [V]


def weight_classes(heights: np.ndarray, temperature: float) -> WeightClasses:
    """Return the classes of words with these h (float64 [V], at least 0)."""
    steps = np.floor(heights / (temperature * math.log(2)))
    class_levels, class_of = np.unique(steps, return_inverse=True)
    tops = np.zeros(len(class_levels))
    np.maximum.at(tops, class_of, heights)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(class_of, minlength=len(class_levels)))))
    members = np.argsort(class_of, kind="stable").astype(np.int32)
    return WeightClasses(members, offsets.astype(np.int64), tops, class_of.astype(np.int32))


# The contrastive term distribution of ARES (Chen et al., SIGIR 2022, section 4.1).
#
#     P(w|θ_C) = (DF(w) + 1) / Σ (DF(w') + 1)                  (4)
#     P(w|θ_D) = (c(w,D) + μ P(w|θ_C)) / (|D| + μ)             (3)
#     γ_w = −P(w|θ_D) log P(w|θ_C)                             (5)
#     P(w|θ_contrastive) = exp(γ_w / T) / Σ exp(γ_w' / T)      (6)
#
# The vocabulary V holds the words that are no stop words and occur at least `minimum_count` times in the collection;
# c(w,D), |D|, DF and the mean |D| are taken over V, so that (3) and (4) sum to one. Logarithms are natural: another
# base is another temperature T, which the paper does not have (T = 1). The sums of (6) run over the support: the
# words of V that the document holds, or all of V as the paper prints it. Words are as written, not stemmed.


# Number of a word that is not in the vocabulary.
NO_WORD = -1


@dataclass(frozen=True)
class ContrastiveModel:
    """The collection's side of the contrastive distribution."""

    words: pa.Array = field(repr=False)  # the vocabulary V in code-point order
    position_of: np.ndarray  # int32 [rows of WORD_COUNTS], place of each word in V, or NO_WORD
    background: np.ndarray  # float64 [V], P(w|θ_C) of equation 4
    mu: float  # Dirichlet prior, in words


def read_contrastive_model(statistics: str | Path, options: PseudoQueriesConfig) -> ContrastiveModel:
    """Read the collection's side from its merged WORD_COUNTS table; InputError if the vocabulary is empty."""
    table, totals = WORD_COUNTS.read(statistics, ["word", "count", "documents"]), read_totals(statistics)
    stop_words = pa.array(
        sorted(load_stop_words(options.stop_list, language_name=totals.language)), pa.string()
    )
    is_drawable = pc.and_(
        pc.invert(pc.is_in(table["word"], value_set=stop_words)),
        pc.greater_equal(table["count"], options.minimum_count),
    )
    vocabulary = table.filter(is_drawable).combine_chunks()
    if not vocabulary.num_rows:
        raise InputError(
            statistics,
            f"no word outside the stop list occurs at least {options.minimum_count} times, so there is nothing that "
            "pseudo-queries could be made of",
            remedy=cli_or_api(
                "Lower pseudo_queries.minimum_count, or give the collection more text.",
                "Lower it (--set pseudo_queries.minimum_count=NUMBER), or give more text.",
            ),
        )
    drawable_flags = np.asarray(is_drawable)
    position_of = np.where(drawable_flags, np.cumsum(drawable_flags) - 1, NO_WORD).astype(np.int32)
    smoothed_frequencies = vocabulary["documents"].to_numpy() + 1.0
    return ContrastiveModel(
        words=vocabulary["word"].combine_chunks(),
        position_of=position_of,
        background=smoothed_frequencies / smoothed_frequencies.sum(),
        mu=pc.sum(vocabulary["count"]).as_py() / max(totals.documents, 1),  # mean |D|
    )
