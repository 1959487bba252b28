"""Scores of (query, document) pairs: by a cross-encoder, an external re-ranker, or a ranker over words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import Run, canonical
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.progress import print_line, progress
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.batches import WordBatchBuilder, pad

if TYPE_CHECKING:
    from torch import Tensor

    from irpretrain.models.cross_encoder import CrossEncoderModel
    from irpretrain.models.encoder_batches import Layout
    from irpretrain.models.neural.ranker import NeuralRanker
    from irpretrain.models.reranker import Reranker
    from irpretrain.training.checkpoints import CheckpointClock


# Scoring of (query, document) pairs by any model: longest first, in batches under a budget of word pieces.
#
# Which pairs share a batch depends on the pairs alone (length, query, document), so the order of the candidates
# changes no bit of a score. Other pairs in the batch change a score by float rounding at most: no model reads
# padding.


# What status lines call the job.
JOB_TITLE = "re-rank"


# What is scored: the names of a query and a document.
Pair = tuple[str, str]


def are_finite(saved: Mapping[str, Any]) -> bool:
    """Return whether scores that were saved are finite; earlier code saved others too."""
    return bool(saved["scores"].isfinite().all())


class SavedScores:
    """Scores of a long ranking in a job's checkpoints: an interrupted one goes on after the last that were saved."""

    def __init__(
        self,
        earlier: Mapping[str, Any] | None,  # what was saved before the interruption
        clock: CheckpointClock,  # when to save
        save: Callable[[dict[str, Any]], None],
    ) -> None:
        self._earlier, self._clock, self._save = earlier, clock, save

    def resume(self, pairs: int) -> tuple[NDArray[np.float32], int]:
        """Return scores, float32 [pairs], and how many, in the order of `batch_by_length`, are there."""
        if self._earlier is None or len(self._earlier["scores"]) != pairs or not are_finite(self._earlier):
            return np.zeros(pairs, np.float32), 0
        return self._earlier["scores"].numpy(), self._earlier["done"]

    def save(self, scores: NDArray[np.float32], done: int) -> None:
        """Save the scores if it is time; `done` pairs are scored."""
        if self._clock.due():
            import torch

            self._save({"scores": torch.from_numpy(scores), "done": done})


def score_sequences(
    # Put on the device and out of training mode meanwhile.
    model: CrossEncoderModel | Reranker | NeuralRanker,
    score: Callable[[Any], Tensor],  # from what `build` returns to scores [sequences]
    pairs: Sequence[Pair],  # what to score, in any order
    lengths: Sequence[int],
    # From indices of `pairs` to their batch on the host, in a layout of an encoder's batches; called in any process.
    build: Callable[[Sequence[int], Layout], Any],
    options: RerankingConfig,  # batches, threads, precision and device
    saved_scores: SavedScores | None = None,  # storage of scores, perhaps with those of an earlier run
) -> NDArray[np.float32]:
    """Return the score of each pair, float32 [pairs]: common to all re-rankers. TrainingError on a NaN."""
    import torch

    from irpretrain.models.length_batches import prefetch, to_host  # torch
    from irpretrain.models.packed import layout_of  # torch
    from irpretrain.training.compute import autocast, reproducible, scoring_tokens, use_fast_paths  # torch
    from irpretrain.training.read_ahead import reading_ahead  # torch

    was_training, home_device = model.training, model.device
    with reproducible(options.compute) as device:
        model.to(device).eval()  # not in inference mode, in which moved weights could never be trained again
        restore_packing = use_fast_paths(model, options.compute, device)
        try:
            with torch.inference_mode(), autocast(device, options.compute):
                layout = layout_of(model)
                batch_tokens = scoring_tokens(options.batch_tokens, device)
                scores, done = np.zeros(len(pairs), np.float32), 0
                if saved_scores:
                    scores, done = saved_scores.resume(len(pairs))
                if done:
                    print_line(f"[{JOB_TITLE}] {done:,} of {len(pairs):,} pairs were scored before")
                batches = list(batch_by_length(pairs, lengths, batch_tokens, not layout.packs, done))
                with reading_ahead(
                    lambda number: build(batches[number], layout), range(len(batches)), device.type != "cpu"
                ) as ready_batches:
                    tracked = progress(batches, JOB_TITLE, "pairs", len(pairs), size=len, done_count=done)
                    scored = prefetch(tracked, lambda _: to_host(score(next(ready_batches)).float()), device)
                    for rows, wait in scored:
                        scores[rows] = wait().numpy()
                        _refuse_broken(pairs, scores, rows)
                        done += len(rows)
                        if saved_scores:
                            saved_scores.save(scores, done)
        finally:
            restore_packing()
            model.to(home_device).train(was_training)
    return scores


def _refuse_broken(pairs: Sequence[Pair], scores: NDArray[np.float32], rows: Sequence[int]) -> None:
    """Raise TrainingError where a score of these rows is not finite, before anything is saved."""
    for index in (row for row in rows if not math.isfinite(scores[row])):
        from irpretrain.training.outputs import RATE_ADVICE  # torch

        query, document = pairs[index]
        raise TrainingError(
            f"the score of document {document!r} for query {query!r} is {scores[index]}: the model's weights "
            f"are of no use, or the precision is too low. {RATE_ADVICE}"
        )


def batch_by_length(
    pairs: Sequence[Pair], lengths: Sequence[int], budget: int, padded: bool = True, done: int = 0
) -> Iterator[list[int]]:
    """Yield batches of indices of `pairs`, longest first, of at most `budget` word pieces, padding counted if `padded`.

    The first `done` pairs of the order are left out; if they are whole batches, the other batches stay the same. One
    sequence longer than the budget is a batch of its own.
    """
    batch: list[int] = []
    piece_count = 0
    # Longest first: a device with too little memory fails at the start. Equal lengths by query and document:
    # batches depend on the set of pairs alone.
    order = sorted(range(len(pairs)), key=lambda i: (-lengths[i], pairs[i]))
    for index in order[done:]:
        pair_pieces = lengths[batch[0]] if batch and padded else lengths[index]
        if batch and piece_count + pair_pieces > budget:
            yield batch
            batch, piece_count, pair_pieces = [], 0, lengths[index]
        batch.append(index)
        piece_count += pair_pieces
    if batch:
        yield batch


def pairs_of(candidates: Run) -> list[Pair]:
    return [(query, document) for query, ranking in candidates.items() for document, _ in ranking]


def as_run(candidates: Run, pairs: Sequence[Pair], scores: NDArray[np.float32]) -> Run:
    """Return the candidates with new scores, in canonical order; a score is its shortest single-precision decimal.

    A document has the score of the best of its pairs, one for each of its passages.
    """
    scores_by_query: dict[str, dict[str, float]] = {query: {} for query in candidates}
    for (query, document), score in zip(pairs, scores, strict=True):
        best_scores = scores_by_query[query]
        best_scores[document] = max(float(str(score)), best_scores.get(document, -math.inf))
    return canonical({query: best_scores.items() for query, best_scores in scores_by_query.items()})


def rerank_words(
    ranker: NeuralRanker,  # its own options limit how much of a text it reads
    documents: WordDocuments,
    query_texts: Mapping[str, str],  # query → text; holds all queries of `candidates`
    candidates: Run,  # documents to score, all of them: `options.depth` is not applied here
    options: RerankingConfig,  # batches (`batch_tokens` counts words here), threads and device
    saved_scores: SavedScores | None = None,  # storage of scores, perhaps with those of an earlier run
) -> Run:
    """Return `candidates` re-ranked by the ranker's scores, in canonical order.

    Raises:
        InputError: the word stores lack a document.
        IntegrityError: they are of another collection than the ranker's.
        TrainingError: a score is NaN.
    """
    pairs = pairs_of(candidates)
    rows = documents.rows([document for _, document in pairs])
    max_words = ranker.options.document_words
    builder = WordBatchBuilder(documents, ranker.vocabulary, ranker.options.query_words, max_words)
    queries = {query: builder.query(query_texts[query]) for query in candidates}
    # Unknown words are left out only when a document is read, so a length may be less than this.
    cut_lengths = np.minimum(documents.lengths[rows], max_words)
    lengths = [
        len(queries[query]) + words for (query, _), words in zip(pairs, cut_lengths.tolist(), strict=True)
    ]

    def build(indices: Sequence[int], _: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        query = pad([queries[pairs[index][0]] for index in indices])
        return query, pad([builder.document(row) for row in rows[np.array(indices)].tolist()])

    def score(batch: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Tensor:
        from irpretrain.models.length_batches import host_to_device  # torch

        return ranker(*(host_to_device(array, ranker.device) for array in batch))

    scores = score_sequences(ranker, score, pairs, lengths, build, options, saved_scores)
    return as_run(candidates, pairs, scores)
