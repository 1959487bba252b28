"""Negative queries for the preference predictor: settings I to IV of ARES (Chen et al., SIGIR 2022, table 2).

For each pair of a document and a query to which it is relevant, one pseudo-query of that document is drawn:

    I    any pseudo-query of the document, all with equal probability
    II   any, with p = softmax(1 / RANK) over the document's pseudo-queries; 1/∞ is 0
    III  as I, but documents none of whose pseudo-queries has RANK 1 are left out, with all their pairs
    IV   as I, among the pseudo-queries whose RANK is `setting_iv_rank` or less
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.randomness import stream_key
from irpretrain.text.philox import STATE_WORDS, next_uniform, start_stream

Setting = Literal["I", "II", "III", "IV"]
STAGE = "predictor-negatives"
"""Name of the random streams: (seed, "predictor-negatives", document id U+001F query id)."""
NONE = -1
"""In place of a negative query where a document has none that may be drawn."""


def weights(ranks: np.ndarray, starts: np.ndarray, setting: Setting, setting_iv_rank: int) -> np.ndarray:
    """Return what the probability of each pseudo-query is proportional to.

    Args:
        ranks: int [queries], RANK of pseudo-queries, 0 for +∞; those of a document follow each other.
        starts: int64 [documents + 1], the first pseudo-query of each document.
        setting: see the module's text.
        setting_iv_rank: largest RANK in setting IV.

    Returns:
        float64 [queries]; all zero for a document without candidates.
    """
    if setting == "II":
        return np.exp(np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0))
    if setting == "IV":
        return ((ranks > 0) & (ranks <= setting_iv_rank)).astype(np.float64)
    if setting == "III":
        return np.repeat(per_document(ranks == 1, starts) > 0, np.diff(starts)).astype(np.float64)
    return np.ones(len(ranks))


def per_document(marked: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return int64 [documents]: how many of each document's entries are marked (bool)."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(marked)])[starts])


def draw_negatives(
    documents: np.ndarray, starts: np.ndarray, weight: np.ndarray, names: Sequence[str], seed: int
) -> np.ndarray:
    """Draw one pseudo-query for each pair of a document and a query.

    Args:
        documents: int64 [pairs], number of the document of each pair.
        starts: int64 [documents + 1], the first pseudo-query of each document.
        weight: float64 [pseudo-queries], see `weights`.
        names: of each pair, document id U+001F query id, which names its random stream.
        seed: seed of the streams.

    Returns:
        int64 [pairs], the pseudo-query drawn; NONE where the document has none with a weight above 0.
    """
    keys = np.array([stream_key(seed, STAGE, name) for name in names], np.uint64).reshape(-1, 2)
    chosen = np.empty(len(documents), np.int64)
    _draw(np.asarray(documents, np.int64), np.asarray(starts, np.int64), weight, keys, chosen)
    return chosen


@compiled
def _draw(
    documents: np.ndarray, starts: np.ndarray, weight: np.ndarray, keys: np.ndarray, chosen: np.ndarray
) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    for pair in range(documents.shape[0]):
        start, end = starts[documents[pair]], starts[documents[pair] + 1]
        total = 0.0
        for query in range(start, end):
            total += weight[query]
        start_stream(state, keys[pair, 0], keys[pair, 1])
        left = next_uniform(state) * total
        chosen[pair] = NONE
        for query in range(start, end):
            if weight[query] > 0:
                chosen[pair] = query  # the last candidate where rounding leaves a rest
                left -= weight[query]
                if left < 0:
                    break
