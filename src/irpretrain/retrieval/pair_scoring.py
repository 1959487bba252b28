"""Scoring of (query, document) pairs by any model: longest first, in batches under a budget of word pieces.

Which pairs share a batch depends on the pairs alone (length, query, document), so the order of the candidates changes
no bit of a score. Other pairs in the batch change a score by float rounding at most: no model reads padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.errors import TrainingError
from irpretrain.evaluation.runs import Run, canonical
from irpretrain.progress import progress, say

if TYPE_CHECKING:
    from torch import Tensor

    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.models.neural.ranker import NeuralRanker
    from irpretrain.models.reranker import Reranker
    from irpretrain.retrieval.partial_scores import PartialScores

TITLE = "re-rank"
"""What status lines call the job."""


class Pair(NamedTuple):
    """What is scored: a query, a document, and the document's row in a store (0 where there is none)."""

    query: str
    document: str
    row: int


def score_sequences(
    model: CrossEncoder | Reranker | NeuralRanker,
    score: Callable[..., Tensor],
    pairs: Sequence[Pair],
    lengths: Sequence[int],
    build: Callable[[Sequence[int]], Sequence[NDArray[np.int64]]],
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> NDArray[np.float32]:
    """Return the score of each pair, float32 [pairs]: what all re-rankers share.

    Args:
        model: put on the device and out of training mode meanwhile.
        score: from the tensors of a batch to scores [sequences]; a third tensor, the mask, lies on the host.
        pairs: what to score, in any order.
        lengths: of the sequence of each.
        build: from indices of `pairs` to the arrays of their batch, each [sequences, positions].
        options: batches, threads, precision and device.
        kept: where scores are kept meanwhile, and may lie from before.

    Raises:
        TrainingError: a score is not a number.
    """
    import torch

    from irpretrain.models.to_device import begun_ahead, to_device, to_host  # torch
    from irpretrain.training.compute import autocast, reproducible, scored_at_once  # torch
    from irpretrain.training.fast_paths import packs, use_fast_paths  # torch

    training, place = model.training, model.device
    with reproducible(options.compute) as device:
        model.to(device).eval()  # not in inference mode, in which moved weights could never be trained again
        put_back = use_fast_paths(model, options.compute, device, training=False)
        try:
            with torch.inference_mode(), autocast(device, options.compute):
                tokens = scored_at_once(options.batch_tokens, device)
                scores, done = kept.resume(len(pairs)) if kept else (np.zeros(len(pairs), np.float32), 0)
                if done:
                    say(f"[{TITLE}] {done:,} of {len(pairs):,} pairs were scored before")
                batches = batch_by_length(pairs, lengths, tokens, not packs(model), done)
                batches = progress(batches, TITLE, "pairs", len(pairs), size=len, done=done)

                def begin(rows: Sequence[int]) -> Callable[[], Tensor]:
                    ids, second, *masks = (torch.from_numpy(array) for array in build(rows))
                    # Masks stay on the host, where a model can count positions without waiting for the device.
                    return to_host(score(to_device(ids, device), to_device(second, device), *masks).float())

                for rows, wait in begun_ahead(batches, begin, device):
                    scores[rows] = wait().numpy()
                    done += len(rows)
                    if kept:
                        kept.keep(scores, done)
        finally:
            put_back()
            model.to(place).train(training)
    for index in np.flatnonzero(~np.isfinite(scores))[:1]:
        pair = pairs[index]
        raise TrainingError(
            f"the score of document {pair.document!r} for query {pair.query!r} is {scores[index]}"
        )
    return scores


def batch_by_length(
    pairs: Sequence[Pair], lengths: Sequence[int], budget: int, padded: bool = True, done: int = 0
) -> Iterator[list[int]]:
    """Yield batches of indices of `pairs`, longest first, of at most `budget` word pieces, padding counted if `padded`.

    The first `done` pairs of the order are left out, as their scores are kept. Where they are whole batches, the
    others stay the same.

    Equal lengths are ordered by query and document, so that batches depend on the set of pairs alone. The
    longest come first, so that a device with too little memory fails at the start. One sequence longer than
    the budget is a batch of its own.
    """
    batch: list[int] = []
    pieces = 0
    order = sorted(range(len(pairs)), key=lambda i: (-lengths[i], pairs[i].query, pairs[i].document))
    for index in order[done:]:
        added = lengths[batch[0]] if batch and padded else lengths[index]
        if batch and pieces + added > budget:
            yield batch
            batch, pieces, added = [], 0, lengths[index]
        batch.append(index)
        pieces += added
    if batch:
        yield batch


def pair_names(candidates: Run) -> list[tuple[str, str]]:
    """Return the (query, document) pairs of a run, in its order."""
    return [(query, document) for query, ranking in candidates.items() for document, _ in ranking]


def as_run(candidates: Run, pairs: Sequence[Pair], scores: NDArray[np.float32]) -> Run:
    """Return the candidates with their new scores, in canonical order. A score is the decimal with the fewest digits
    that names its single-precision value."""
    scored: dict[str, list[tuple[str, float]]] = {query: [] for query in candidates}
    for pair, score in zip(pairs, scores, strict=True):
        scored[pair.query].append((pair.document, float(str(score))))
    return canonical(scored)
