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
from irpretrain.models.encoder_batches import EncoderBatch, Layout, PackedBatch, PaddedBatch, encoder_batch
from irpretrain.models.length_batches import to_device
from irpretrain.models.mlm_heads import IGNORED
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, WordBatchBuilder
from irpretrain.training.graphs import Measured, MicroBatch
from irpretrain.training.masking import Masker
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranking_groups import GroupSource, RankingGroups, make_spans
from irpretrain.training.trainer import Setting, StepPart


def ranking_loss(kind: Loss, scores: Tensor, sizes: Tensor, margin: float = 1.0) -> Tensor:
    """Return the loss of each group, float32 [groups], from raw scores [sequences], group after group.

    With s⁺ the score of a group's first sequence and s₁ … sₘ those of its others:

    - hinge: mean over j of max(0, margin − s⁺ + sⱼ) (PROP, equation 5, on raw scores);
    - pair-softmax: mean over j of 2(1 − σ(s⁺ − sⱼ)), the released PROP's margin loss on the softmax of the two scores
      of a pair, with margin 1, which never saturates;
    - listwise: −log softmax(s)⁺, localised contrastive estimation (LCE).

    A group of one sequence has nothing to rank: its loss is 0. `sizes`, int64 [groups], best lies on the host.
    """
    table, present = _by_group(scores.float(), sizes)
    if kind == "listwise":
        return -functional.log_softmax(table.masked_fill(~present, -torch.inf), dim=1)[:, 0]
    differences = table[:, :1] - table[:, 1:]
    others = present[:, 1:]
    if kind == "hinge":
        losses = functional.relu(margin - differences)
    elif kind == "pair-softmax":
        losses = 2 * torch.sigmoid(-differences)
    else:
        assert_never(kind)
    return (losses * others).sum(dim=1) / others.sum(dim=1).clamp(min=1)


def count_correct_pairs(scores: Tensor, sizes: Tensor) -> Tensor:
    """Return how many (first, other) pairs are ordered rightly, without ties; int64 on the scores' device."""
    table, present = _by_group(scores.detach().float(), sizes)
    return ((table[:, :1] > table[:, 1:]) & present[:, 1:]).sum()


def _by_group(scores: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    largest, smallest = int(sizes.max()), int(sizes.min())
    if smallest == largest:
        table = scores.view(-1, largest)
        return table, torch.ones_like(table, dtype=torch.bool)
    sizes = to_device(sizes, scores.device)
    present = torch.arange(largest, device=scores.device) < sizes[:, None]
    firsts = torch.cumsum(sizes, 0) - sizes
    positions = firsts[:, None] + torch.arange(largest, device=scores.device)
    table = scores[positions.clamp(max=len(scores) - 1)]
    return table.masked_fill(~present, 0.0), present


# The task of a step: ranking groups, whose loss and gradients are computed in micro-batches.


@dataclass(frozen=True)
class GroupBatch:
    """Groups of a micro-batch, ready to be scored: plain data."""

    sizes: np.ndarray  # documents of each group; int64 [groups]
    tokens: int  # word pieces or words, without padding
    inputs: Any  # what the reader gives a model
    labels: np.ndarray | None = None  # masked word pieces, int64 [masked positions]; `IGNORED` fills up


class GroupReader(Protocol):
    def read(self, groups: RankingGroups, step: int, before: int, layout: Layout) -> GroupBatch:
        """Return groups of optimiser step `step`, which has `before` sequences before them."""

    def scorer(self, model: Any, setting: Setting, batch: GroupBatch, step: int) -> MicroBatchScorer:
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

    def read(self, setting: Setting, step: int) -> StepPart:
        groups = self.source.groups(step)
        batches = {
            number: self.reader.read(
                groups[some], step, int(groups.sizes[: some.start].sum()), setting.layout
            )
            for number, some in setting.share(len(groups)).items()
        }
        masked = sum(int((b.labels != IGNORED).sum()) for b in batches.values() if b.labels is not None)
        pairs = sum(int(batch.sizes.sum()) - len(batch.sizes) for batch in batches.values())
        metrics = TaskMetrics(
            self.weight, self.mlm_weight, pairs=pairs if self.weight > 0 else 0, groups=len(groups)
        )
        return StepPart(metrics, sum(batch.tokens for batch in batches.values()), batches, masked)

    def micro_batch(
        self, model: nn.Module, setting: Setting, step: int, part: StepPart, batch: GroupBatch
    ) -> MicroBatch:
        scorer = self.reader.scorer(model, setting, batch, step)
        sizes, groups = torch.from_numpy(batch.sizes), part.metrics.groups
        # A tensor, as it differs from step to step.
        counted = setting.tensor(np.array(max(part.counted, 1), np.float32))

        def loss(counted: Tensor, *tensors: Tensor) -> tuple[Tensor, Measured]:
            measured: dict[str, Tensor] = {}
            with setting.autocast():
                scores, mlm = scorer.scores(*tensors)
                total = scores.new_zeros((), dtype=torch.float32)
                if self.weight > 0:
                    ranking = ranking_loss(self.loss, scores, sizes, self.margin).sum() / groups
                    total = total + self.weight * ranking
                    right = count_correct_pairs(scores, sizes)
                    measured |= {"ranking_loss": ranking.detach(), "correct_pairs": right}
                if mlm is not None:
                    mlm = mlm / counted
                    measured["mlm_loss"] = mlm.detach()
                    total = total + self.mlm_weight * mlm
            return total, measured

        # Groups of different sizes seldom come again, and their sizes are copied from the host.
        repeats = scorer.shape is not None and (batch.sizes == batch.sizes[0]).all()
        shape = (self.name, groups, len(batch.sizes), int(batch.sizes[0]), scorer.shape) if repeats else None
        return MicroBatch([counted, *scorer.tensors], loss, shape)


@dataclass(frozen=True)
class SequenceReader:
    """Reads groups for a cross-encoder, a sequence per document; masks word pieces for the MLM loss."""

    builder: BatchBuilder
    masker: Masker | None = None
    mlm_head_steps: int = 0  # number of first steps in which the MLM loss trains only the MLM head

    def read(self, groups: RankingGroups, step: int, before: int, layout: Layout) -> GroupBatch:
        batch = self.builder.build(groups)
        masked = None if self.masker is None else self.masker.apply(batch, step, before)
        ids, chosen, labels = batch.input_ids, None, None
        if masked is not None and len(masked.labels):
            ids, chosen, labels = masked.input_ids, masked.chosen, masked.labels
        padded = PaddedBatch(ids, batch.token_type_ids, batch.attention_mask, chosen)
        inputs = encoder_batch(layout, padded, self.builder.max_length)
        if labels is not None and isinstance(inputs, PackedBatch) and inputs.masked is not None:
            labels = np.pad(labels, (0, len(inputs.masked) - len(labels)), constant_values=IGNORED)
        return GroupBatch(batch.sizes, batch.tokens, inputs, labels)

    def scorer(
        self, model: CrossEncoderModel, setting: Setting, batch: GroupBatch, step: int
    ) -> MicroBatchScorer:
        inputs, trains_encoder = batch.inputs, step >= self.mlm_head_steps
        labels = [] if batch.labels is None else [setting.tensor(batch.labels)]

        def scores(*tensors: Tensor) -> tuple[Tensor, Tensor | None]:
            scores, states = model.encode(inputs, *tensors[len(labels) :])
            return scores, model.mlm_loss(states, tensors[0], trains_encoder) if labels else None

        if isinstance(inputs, PaddedBatch):
            return MicroBatchScorer(labels, scores)
        tensors = [*labels, inputs.flat(setting.device)]
        return MicroBatchScorer(tensors, scores, (inputs.shape, bool(labels), trains_encoder))


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document separately.

    The loss is of the documents' scores. It reaches the best passage of each alone, so all passages are scored without
    gradients and without dropout first, and the best ones are trained.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: RankingGroups, step: int, before: int, layout: Layout) -> GroupBatch:
        rows = groups.documents["row"]
        passages = [self._passages(row) for row in rows.tolist()]
        counts = np.array([len(bounds) for bounds in passages], np.int64)
        documents = make_spans(np.repeat(rows, counts), *np.concatenate(passages).T)
        queries = np.repeat(groups.queries, counts)
        batch = self.builder.build(RankingGroups.of_queries(queries, documents, counts, groups.texts))
        padded = PaddedBatch(batch.input_ids, batch.token_type_ids, batch.attention_mask)
        inputs = encoder_batch(layout, padded, self.builder.max_length), padded, batch.sizes
        return GroupBatch(groups.sizes, batch.tokens, inputs)

    def scorer(
        self, model: CrossEncoderModel, setting: Setting, batch: GroupBatch, step: int
    ) -> MicroBatchScorer:
        encoded, padded, counts = batch.inputs

        def scores() -> tuple[Tensor, Tensor | None]:
            best = best_passages(untrained_scores(model, encoded), counts)
            trained = encoder_batch(setting.layout, padded.take(best), self.builder.max_length)
            return model.encode(trained)[0], None

        return MicroBatchScorer([], scores)

    def _passages(self, row: int) -> list[tuple[int, int]]:
        word_starts = self.builder.store.word_starts(row)
        return piece_bounds(word_starts, self.options)


@dataclass(frozen=True)
class WordReader:
    """Reads groups for a ranker over words."""

    builder: WordBatchBuilder

    def read(self, groups: RankingGroups, step: int, before: int, layout: Layout) -> GroupBatch:
        batch = self.builder.build(groups)
        return GroupBatch(batch.sizes, batch.tokens, (batch.query, batch.document))

    def scorer(self, model: nn.Module, setting: Setting, batch: GroupBatch, step: int) -> MicroBatchScorer:
        tensors = [setting.tensor(array) for array in batch.inputs]
        return MicroBatchScorer(tensors, lambda *tensors: (model(*tensors), None))


def untrained_scores(model: CrossEncoderModel, batch: EncoderBatch) -> np.ndarray:
    """Return scores as in ranking, float [sequences]; nothing learns from them."""
    training = model.training
    model.eval()
    with torch.no_grad():
        scores, _ = model.encode(batch)
    # Weights that autocast has made narrow here have no gradient; the pass that follows must not use them.
    torch.clear_autocast_cache()
    model.train(training)
    return scores.float().cpu().numpy()


def best_passages(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the position of each document's best passage, of equal ones the first; int64 [documents].

    Args:
        scores: of the passages of all documents, one after the other; float [passages].
        counts: passages of each document; int64 [documents].
    """
    firsts = np.cumsum(counts) - counts
    ends = firsts + counts
    return np.array(
        [first + scores[first:end].argmax() for first, end in zip(firsts, ends, strict=True)], np.int64
    )
