"""What a step of training computes: the ranking loss and the MLM loss, and the task that calls them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, assert_never

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import Loss
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import EncoderBatch, Layout, PackedBatch, PaddedBatch
from irpretrain.models.length_batches import to_device
from irpretrain.models.mlm_heads import IGNORED
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, WordBatchBuilder
from irpretrain.training.graphs import Measurements, MicroBatch
from irpretrain.training.masking import Masker
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranking_groups import GroupSource, RankingGroups, make_spans
from irpretrain.training.trainer import StepContext, TaskStep


def ranking_loss(kind: Loss, scores: Tensor, sizes: Tensor, margin: float = 1.0) -> Tensor:
    """Return the loss of each group, float32 [groups], from raw scores [sequences], group after group.

    With s⁺ the score of a group's first sequence and s₁ … sₘ those of its others:

    - hinge: mean over j of max(0, margin − s⁺ + sⱼ) (PROP, equation 5, on raw scores);
    - pair-softmax: mean over j of 2(1 − σ(s⁺ − sⱼ)), the released PROP's margin loss on the softmax of the two scores
      of a pair, with margin 1, which never saturates;
    - listwise: −log softmax(s)⁺, localised contrastive estimation (LCE).

    A group of one sequence has nothing to rank: its loss is 0. `sizes`, int64 [groups], best lies on the host.
    """
    score_table, is_present = _by_group(scores.float(), sizes)
    if kind == "listwise":
        return -functional.log_softmax(score_table.masked_fill(~is_present, -torch.inf), dim=1)[:, 0]
    differences = score_table[:, :1] - score_table[:, 1:]
    is_negative = is_present[:, 1:]
    if kind == "hinge":
        losses = functional.relu(margin - differences)
    elif kind == "pair-softmax":
        losses = 2 * torch.sigmoid(-differences)
    else:
        assert_never(kind)
    return (losses * is_negative).sum(dim=1) / is_negative.sum(dim=1).clamp(min=1)


def count_correct_pairs(scores: Tensor, sizes: Tensor) -> Tensor:
    """Return how many (first, other) pairs are ordered rightly, without ties; int64 on the scores' device."""
    score_table, is_present = _by_group(scores.detach().float(), sizes)
    return ((score_table[:, :1] > score_table[:, 1:]) & is_present[:, 1:]).sum()


def _by_group(scores: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    largest_size, smallest_size = int(sizes.max()), int(sizes.min())
    if smallest_size == largest_size:
        score_table = scores.view(-1, largest_size)
        return score_table, torch.ones_like(score_table, dtype=torch.bool)
    sizes = to_device(sizes, scores.device)
    is_present = torch.arange(largest_size, device=scores.device) < sizes[:, None]
    starts = torch.cumsum(sizes, 0) - sizes
    positions = starts[:, None] + torch.arange(largest_size, device=scores.device)
    score_table = scores[positions.clamp(max=len(scores) - 1)]
    return score_table.masked_fill(~is_present, 0.0), is_present


@dataclass(frozen=True)
class GroupBatch:
    """Groups of a micro-batch, ready to be scored: plain data."""

    group_sizes: np.ndarray  # documents of each group; int64 [groups]
    tokens: int  # word pieces or words, without padding
    inputs: Any  # what the reader gives a model
    labels: np.ndarray | None = None  # masked word pieces, int64 [masked positions]; `IGNORED` fills up


class GroupReader(Protocol):
    def read(self, groups: RankingGroups, step: int, first_sequence: int, layout: Layout) -> GroupBatch:
        """Return groups of optimiser step `step`, which has `first_sequence` sequences before them."""

    def scorer(self, model: Any, context: StepContext, batch: GroupBatch, step: int) -> MicroBatchScorer:
        """Copy a batch to the device; return what scores it."""


class MicroBatchScorer(NamedTuple):
    tensors: Sequence[Tensor]  # the batch on the device
    # From the tensors to the scores of all documents, group after group, and the summed MLM loss if there are labels.
    scores: Callable[..., tuple[Tensor, Tensor | None]]
    shape: Hashable | None = None  # see `MicroBatch`


@dataclass
class RankingTask:
    """One objective on ranking groups, with its ranking loss and its MLM loss; or fine-tuning."""

    name: str  # as in the configuration; for metrics
    source: GroupSource  # the groups of each step
    reader: GroupReader  # makes the model's input of them
    # loss, margin: the ranking loss.
    loss: Loss
    margin: float = 1.0
    weight: float = 1.0  # of the ranking loss; with 0 it is not computed
    mlm_weight: float = 0.0  # of the MLM loss of a reader that masks

    def read(self, context: StepContext, step: int) -> TaskStep:
        groups = self.source.groups(step)
        batches = {
            batch_index: self.reader.read(
                groups[group_slice], step, int(groups.sizes[: group_slice.start].sum()), context.layout
            )
            for batch_index, group_slice in context.share(len(groups)).items()
        }
        masked_positions = sum(
            int((batch.labels != IGNORED).sum()) for batch in batches.values() if batch.labels is not None
        )
        pairs = sum(int(batch.group_sizes.sum()) - len(batch.group_sizes) for batch in batches.values())
        metrics = TaskMetrics(
            self.weight, self.mlm_weight, pairs=pairs if self.weight > 0 else 0, groups=len(groups)
        )
        return TaskStep(metrics, sum(batch.tokens for batch in batches.values()), batches, masked_positions)

    def micro_batch(
        self, model: nn.Module, context: StepContext, step: int, task_step: TaskStep, batch: GroupBatch
    ) -> MicroBatch:
        scorer = self.reader.scorer(model, context, batch, step)
        sizes, groups = batch.group_sizes, task_step.metrics.groups
        size_tensor = torch.from_numpy(sizes)
        # A tensor, as it differs from step to step.
        denominator = context.tensor(np.array(max(task_step.loss_denominator, 1), np.float32))

        def loss(denominator: Tensor, *tensors: Tensor) -> tuple[Tensor, Measurements]:
            measurements: dict[str, Tensor] = {}
            with context.autocast():
                scores, mlm_loss = scorer.scores(*tensors)
                total_loss = scores.new_zeros((), dtype=torch.float32)
                if self.weight > 0:
                    mean_loss = ranking_loss(self.loss, scores, size_tensor, self.margin).sum() / groups
                    total_loss = total_loss + self.weight * mean_loss
                    measurements["ranking_loss"] = mean_loss.detach()
                    measurements["correct_pairs"] = count_correct_pairs(scores, size_tensor)
                if mlm_loss is not None:
                    mlm_loss = mlm_loss / denominator
                    measurements["mlm_loss"] = mlm_loss.detach()
                    total_loss = total_loss + self.mlm_weight * mlm_loss
            return total_loss, measurements

        # Groups of different sizes seldom come again, and their sizes are copied from the host.
        recurs = scorer.shape is not None and (sizes == sizes[0]).all()
        shape = (self.name, groups, len(sizes), int(sizes[0]), scorer.shape) if recurs else None
        return MicroBatch([denominator, *scorer.tensors], loss, shape)


@dataclass(frozen=True)
class SequenceReader:
    """Reads groups for a cross-encoder, a sequence per document; masks word pieces for the MLM loss."""

    builder: BatchBuilder
    masker: Masker | None = None
    mlm_head_steps: int = 0  # number of first steps in which the MLM loss trains only the MLM head

    def read(self, groups: RankingGroups, step: int, first_sequence: int, layout: Layout) -> GroupBatch:
        batch = self.builder.build(groups)
        masked_batch = None if self.masker is None else self.masker.apply(batch, step, first_sequence)
        if masked_batch is not None and not len(masked_batch.labels):
            masked_batch = None
        labels = None if masked_batch is None else masked_batch.labels
        inputs = self.builder.for_encoder(batch.padded(masked_batch), layout)
        if labels is not None and isinstance(inputs, PackedBatch) and inputs.masked_rows is not None:
            labels = np.pad(labels, (0, len(inputs.masked_rows) - len(labels)), constant_values=IGNORED)
        return GroupBatch(batch.group_sizes, batch.tokens, inputs, labels)

    def scorer(
        self, model: CrossEncoderModel, context: StepContext, batch: GroupBatch, step: int
    ) -> MicroBatchScorer:
        inputs, trains_encoder = batch.inputs, step >= self.mlm_head_steps
        labels = [] if batch.labels is None else [context.tensor(batch.labels)]

        def scores(*tensors: Tensor) -> tuple[Tensor, Tensor | None]:
            scores, states = model.encode(inputs, *tensors[len(labels) :])
            return scores, model.mlm_loss(states, tensors[0], trains_encoder) if labels else None

        if isinstance(inputs, PaddedBatch):
            return MicroBatchScorer(labels, scores)
        tensors = [*labels, inputs.flat(context.device)]
        shape = (inputs.shape, bool(labels), trains_encoder) if context.layout.ends_on_device else None
        return MicroBatchScorer(tensors, scores, shape)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document separately.

    The loss is of the documents' scores. It reaches the best passage of each alone, so all passages are scored without
    gradients and without dropout first, and the best ones are trained.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: RankingGroups, step: int, first_sequence: int, layout: Layout) -> GroupBatch:
        rows = groups.documents["row"]
        store = self.builder.store
        passages = [piece_bounds(store.word_starts(row), self.options) for row in rows.tolist()]
        passage_counts = np.array([len(bounds) for bounds in passages], np.int64)
        documents = make_spans(np.repeat(rows, passage_counts), *np.concatenate(passages).T)
        queries = np.repeat(groups.queries, passage_counts)
        batch = self.builder.build(RankingGroups.of_queries(queries, documents, passage_counts, groups.texts))
        padded = batch.padded()
        inputs = self.builder.for_encoder(padded, layout), padded, batch.group_sizes
        return GroupBatch(groups.sizes, batch.tokens, inputs)

    def scorer(
        self, model: CrossEncoderModel, context: StepContext, batch: GroupBatch, step: int
    ) -> MicroBatchScorer:
        all_passages, padded, passage_counts = batch.inputs

        def scores() -> tuple[Tensor, Tensor | None]:
            best_indices = best_passages(inference_scores(model, all_passages), passage_counts)
            best_batch = self.builder.for_encoder(padded.take(best_indices), context.layout)
            return model.encode(best_batch)[0], None

        return MicroBatchScorer([], scores)


@dataclass(frozen=True)
class WordReader:
    """Reads groups for a ranker over words."""

    builder: WordBatchBuilder

    def read(self, groups: RankingGroups, step: int, first_sequence: int, layout: Layout) -> GroupBatch:
        batch = self.builder.build(groups)
        return GroupBatch(batch.group_sizes, batch.tokens, (batch.query, batch.document))

    def scorer(
        self, model: nn.Module, context: StepContext, batch: GroupBatch, step: int
    ) -> MicroBatchScorer:
        tensors = [context.tensor(array) for array in batch.inputs]
        return MicroBatchScorer(tensors, lambda *tensors: (model(*tensors), None))


def inference_scores(model: CrossEncoderModel, batch: EncoderBatch) -> np.ndarray:
    """Return scores as in ranking, float [sequences]; nothing learns from them."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        scores, _ = model.encode(batch)
    # Weights that autocast has made narrow here have no gradient; the pass that follows must not use them.
    torch.clear_autocast_cache()
    model.train(was_training)
    return scores.float().cpu().numpy()


def best_passages(scores: np.ndarray, passage_counts: np.ndarray) -> np.ndarray:
    """Return the position of each document's best passage, of equal ones the first; int64 [documents].

    Args:
        scores: of the passages of all documents, one after the other; float [passages].
        passage_counts: passages of each document; int64 [documents].
    """
    starts = np.cumsum(passage_counts) - passage_counts
    ends = starts + passage_counts
    return np.array(
        [start + scores[start:end].argmax() for start, end in zip(starts, ends, strict=True)], np.int64
    )
