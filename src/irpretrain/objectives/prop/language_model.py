"""The smoothed document language model of PROP (equation 3), with sub-sampling of frequent words (Mikolov et al.,
"Distributed representations …", 2013).

PROP draws a word and keeps it with probability k(w), else draws again. That equals one draw in proportion to P(w|D)
k(w), as in `irpretrain.objectives.prop.word_sets`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.text.statistics import read_totals


def keep_probabilities(
    counts: np.ndarray, total: int, threshold: float, minimum_count: int = 0
) -> np.ndarray:
    """Return k(w), the probability that a drawn word is accepted (float64, one per word).

    With f = count / total and t = `threshold` (0 accepts every word): min(1, √(t/f) + t/f), the formula of word2vec's
    code, which PROP cites in section 4.4.2. Words with fewer than `minimum_count` occurrences are always
    accepted: PROP's released code has no entry for them, and a worker that draws one dies.
    """
    if threshold == 0:
        return np.ones(len(counts))
    ratio = threshold * total / counts
    return np.where(counts < minimum_count, 1.0, np.minimum(np.sqrt(ratio) + ratio, 1.0))


# The language models of a collection and of its documents, with Dirichlet smoothing (PROP, equation 3).
#
# P(w|D) = (c(w,D) + μ P(w|C)) / (|D| + μ)
#
# The vocabulary V holds the words that are no stop words and occur at least `minimum_count` times. c(w,D), |D|,
# P(w|C) and the mean |D| are taken over V, so that P(·|D) sums to one; with `rare_words: counted`, words under the
# minimum count in |D|, in the mean and in the denominator of P(w|C) too, as in PROP's released code, and P(·|D) then
# sums to a little less.


# Number of a word that is under the minimum count.
RARE_WORD = -1

# Number of a stop word.
STOP_WORD = -2


@dataclass(frozen=True)
class CollectionModel:
    """Counts and probabilities of the vocabulary V, by term number; terms are in code-point order."""

    terms: list[str]  # words of V
    counts: np.ndarray  # int64, occurrences c(w,C)
    documents: np.ndarray  # int64, documents that hold the term
    background: np.ndarray  # float64, P(w|C)
    mu: float  # Dirichlet prior, in words
    total: int  # occurrences of all words that count in lengths
    rare_words_count: bool  # whether words under the minimum count in |D|
    # Word → term number, or STOP_WORD; words that are missing are rare.
    number_of_word: dict[str, int] = field(repr=False)


def read_collection_model(
    statistics: str | Path,
    *,
    stop_words: frozenset[str],
    minimum_count: int,
    background: Literal["word-counts", "document-frequencies"],
    rare_words: Literal["excluded", "counted"],
) -> CollectionModel:
    """Build a collection's model from its merged WORD_COUNTS table and options of `objectives.rop`.

    Raises:
        InputError: the vocabulary is empty.
    """
    stop_words_array = pa.array(sorted(stop_words), pa.string())
    frequent_rows, total_count, total_documents = [], 0, 0
    for batch in WORD_COUNTS.stream(statistics):
        words = batch.filter(pc.invert(pc.is_in(batch.column("word"), value_set=stop_words_array)))
        total_count += pc.sum(words.column("count")).as_py() or 0
        total_documents += pc.sum(words.column("documents")).as_py() or 0
        frequent_rows.append(words.filter(pc.greater_equal(words.column("count"), minimum_count)))
    vocabulary = pa.Table.from_batches(frequent_rows, WORD_COUNTS.schema).combine_chunks()
    if not vocabulary.num_rows:
        raise InputError(
            statistics,
            f"no word outside the stop list occurs at least {minimum_count} times, so the vocabulary is empty",
            remedy=cli_or_api(
                "Lower the objective's minimum_count, or give it more text.",
                "Lower it (--set minimum_count=NUMBER), or give more text.",
            ),
        )
    terms: list[str] = vocabulary["word"].to_pylist()
    counts, documents = vocabulary["count"].to_numpy(), vocabulary["documents"].to_numpy()
    term_masses, total_mass = counts, total_count
    if background == "document-frequencies":
        term_masses, total_mass = documents, total_documents
    counts_rare_words = rare_words == "counted"
    total = total_count if counts_rare_words else int(counts.sum())
    return CollectionModel(
        terms=terms,
        counts=counts,
        documents=documents,
        background=term_masses / (total_mass if counts_rare_words else int(term_masses.sum())),
        mu=total / max(read_totals(statistics).documents, 1),  # mean |D|
        total=total,
        rare_words_count=counts_rare_words,
        number_of_word={term: number for number, term in enumerate(terms)}
        | dict.fromkeys(stop_words, STOP_WORD),
    )
