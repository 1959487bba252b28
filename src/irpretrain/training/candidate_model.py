"""A logistic model that sees a group's candidates alone: how far its preference can be told without the shared text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from irpretrain.text.token_store import TokenStore
from irpretrain.training.batches import BatchBuilder, RankingGroup

COUNTED_DOCUMENTS = 2000
"""Documents in which word pieces are counted, at most, evenly spread over the collection."""
COUNTED_PIECES = 512
"""First word pieces of these documents that are read."""
BUCKETS = 512
"""Columns that word pieces are hashed to."""
BUCKET_SCALE = 0.1
"""Mean deviation of these columns; that of each other feature is 1. Most buckets tell nothing, so they count less."""
PENALTY = 1e-2
"""Weight of half the squared length of the parameters beside the mean loss of a group."""
ITERATIONS = 50
GROUPS_AT_ONCE = 256


def score_candidates_alone(
    builder: BatchBuilder, training: Sequence[RankingGroup], tested: Sequence[RankingGroup]
) -> np.ndarray:
    """Return scores of the sequences of `tested`, by a logistic model of the pairs of `training`.

    P(first preferred to other) = σ(w · (x_first − x_other)), fitted by maximum likelihood with a quadratic penalty;
    every group weighs the same. The features x of a candidate: word pieces, words, different word pieces, pieces of a
    word; mean, least and largest logarithm of the number of documents with its pieces, in a sample of the collection;
    and the logarithm of 1 + the count of each word piece, hashed.

    Args:
        builder: makes the sequences.
        training, tested: groups of at least two sequences each, without their shared text.

    Returns:
        float32 [sequences]; zeros without training groups.
    """
    if not training:
        return np.zeros(sum(map(len, tested)), np.float32)
    spread = _document_counts(builder.store, builder.tokenizer.size)
    learnt, asked = (_features(builder, groups, spread) for groups in (training, tested))
    centre, scale = learnt.mean(0), learnt.std(0)
    scale[scale == 0] = 1
    # One scale for all buckets: a rare piece must not weigh more than a frequent one.
    scale[-BUCKETS:] = scale[-BUCKETS:].mean() / BUCKET_SCALE
    weights = _fit((learnt - centre) / scale, [len(group) for group in training])
    return np.asarray((asked - centre) / scale @ weights, np.float32)


def _document_counts(store: TokenStore, vocabulary: int) -> np.ndarray:
    """Return in how many documents of a sample each word piece occurs, int64 [vocabulary]."""
    rows = np.linspace(0, len(store) - 1, min(COUNTED_DOCUMENTS, len(store))).astype(np.int64)
    pieces = [np.unique(store.tokens(int(row))[:COUNTED_PIECES]) for row in rows]
    return np.bincount(np.concatenate(pieces), minlength=vocabulary)


def _features(builder: BatchBuilder, groups: Sequence[RankingGroup], spread: np.ndarray) -> np.ndarray:
    """Return the features of each sequence, float32 [sequences, features]; see `score_candidates_alone`."""
    rows = []
    logarithms = np.log1p(spread)
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        batch = builder.build(groups[start : start + GROUPS_AT_ONCE])
        for ids, mask, starts in zip(
            batch.input_ids, batch.query | batch.document, batch.word_starts, strict=True
        ):
            pieces = ids[mask]
            words, rarity = int(starts.sum()), logarithms[pieces] if len(pieces) else np.zeros(1)
            shape = [len(pieces), words, len(np.unique(pieces)), len(pieces) / max(words, 1)]
            buckets = np.log1p(np.bincount(pieces % BUCKETS, minlength=BUCKETS))
            rows.append(np.array([*shape, rarity.mean(), rarity.min(), rarity.max(), *buckets], np.float32))
    return np.stack(rows)


def _fit(features: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return the weights, float32 [features], for groups of these sizes whose first sequence is preferred."""
    firsts = np.cumsum([0, *sizes[:-1]])
    counts = np.array(sizes) - 1
    others = np.delete(np.arange(len(features)), firsts)
    differences = torch.from_numpy(features[np.repeat(firsts, counts)] - features[others])
    share = torch.from_numpy(np.repeat(1 / (counts * len(sizes)), counts).astype(np.float32))
    weights = torch.zeros(features.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = (share * functional.softplus(-(differences @ weights))).sum()
        value = value + PENALTY / 2 * weights.square().sum()
        value.backward()
        return value

    optimiser.step(loss)
    return weights.detach().numpy()
