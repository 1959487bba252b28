"""What a step of training computes: the ranking loss and the MLM loss, and the tasks that call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, assert_never

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import Loss
from irpretrain.models.length_batches import to_device
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import (
    Batch,
    BatchBuilder,
    GroupSource,
    RankingGroup,
    StoreSpan,
    WordBatchBuilder,
)
from irpretrain.training.masking import Masked, Masker
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranks import ProcessShare
from irpretrain.training.trainer import MicroBatchLoss, PartOf, Setting, StepPart


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


def count_correct_pairs(scores: Tensor, sizes: Tensor) -> tuple[Tensor, int]:
    """Return how many (first, other) pairs are ordered rightly (on the device) and how many there are; no ties."""
    table, present = _by_group(scores.detach().float(), sizes)
    return ((table[:, :1] > table[:, 1:]) & present[:, 1:]).sum(), int(sizes.sum()) - len(sizes)


def mlm_loss_sum(logits: Tensor, labels: Tensor) -> Tensor:
    """Summed cross-entropy (nats; PROP, equation 6) of logits [positions, vocabulary] for labels [positions]."""
    return functional.cross_entropy(logits.float(), labels, reduction="sum")


def _by_group(scores: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    largest, smallest = int(sizes.max()), int(sizes.min())
    sizes = to_device(sizes, scores.device)
    present = torch.arange(largest, device=scores.device) < sizes[:, None]
    if smallest == largest:
        return scores.view(-1, largest), present
    firsts = torch.cumsum(sizes, 0) - sizes
    positions = firsts[:, None] + torch.arange(largest, device=scores.device)
    table = scores[positions.clamp(max=len(scores) - 1)]
    return table.masked_fill(~present, 0.0), present


# An objective on ranking groups in the training of a cross-encoder: its ranking loss and its MLM loss.


@dataclass
class Task:
    """One objective on ranking groups in the training of a cross-encoder."""

    name: str  # as in the configuration
    source: GroupSource  # the groups of each step
    builder: BatchBuilder  # makes batches of them
    # loss, margin: the ranking loss.
    loss: Loss
    margin: float = 1.0
    weight: float = 1.0  # of the ranking loss; with 0 it is not computed
    mlm_weight: float = 0.0  # of the MLM loss; with 0 nothing is masked
    masker: Masker | None = None  # needed where mlm_weight is not 0
    mlm_head_steps: int = 0  # number of first steps in which the MLM loss trains only the MLM head

    def read(self, setting: Setting, step: int) -> PartOf:
        groups = self.source.groups(step)
        share = setting.share(len(groups), lambda: self.builder.tokens(groups))
        batch = self.builder.build(groups[share.items])
        masked = None
        if self.masker and self.mlm_weight > 0:
            before = sum(len(group) for group in groups[: share.items.start])
            masked = self.masker.apply(batch, step, before)
        part = _Part(len(groups), share, batch, masked)

        def part_of(model: nn.Module) -> StepPart:
            metrics = TaskMetrics(self.weight, self.mlm_weight if masked else 0.0)
            losses = self._losses(model, setting, step, part, metrics)
            return StepPart(metrics, batch.tokens, share, losses)

        return part_of

    def _losses(
        self,
        model: nn.Module,
        setting: Setting,
        step: int,
        part: _Part,
        metrics: TaskMetrics,
    ) -> Iterator[MicroBatchLoss]:
        positions = max(setting.ranks.total(len(part.masked.labels)), 1) if part.masked else 1
        for micro in self._micro_batches(setting, part):
            measured: dict[str, Tensor] = {}
            with setting.autocast():
                scores, logits = model(
                    micro.input_ids,
                    micro.token_type_ids,
                    micro.attention_mask,
                    micro.chosen,
                    mlm_trains_encoder=step >= self.mlm_head_steps,
                )
                loss = scores.new_zeros((), dtype=torch.float32)
                if self.weight > 0:
                    ranking = (
                        ranking_loss(self.loss, scores, micro.sizes, self.margin).sum() / part.step_groups
                    )
                    loss = loss + self.weight * ranking
                    right, pairs = count_correct_pairs(scores, micro.sizes)
                    measured |= {"ranking_loss": ranking.detach(), "correct_pairs": right}
                    metrics.pairs += pairs
                if logits is not None and micro.labels is not None and len(micro.labels):
                    mlm = mlm_loss_sum(logits, micro.labels) / positions
                    measured["mlm_loss"] = mlm.detach()
                    loss = loss + self.mlm_weight * mlm
            yield MicroBatchLoss(loss, measured)

    def _micro_batches(self, setting: Setting, part: _Part) -> Iterator[_MicroBatch]:
        """Split by groups; each micro-batch is cut to its own longest sequence."""
        batch, masked = part.batch, part.masked
        used = 0
        for groups in part.share.own_slices:
            rows, length = batch.groups(groups.start, groups.stop)
            cut = (rows, slice(0, length))
            chosen = labels = None
            if masked is not None:
                chosen = masked.chosen[cut]
                count = int(chosen.sum())
                labels = setting.tensor(masked.labels[used : used + count])
                used += count
            yield _MicroBatch(
                setting.tensor((masked or batch).input_ids[cut]),
                setting.on_host(batch.token_type_ids[cut]),
                setting.on_host(batch.attention_mask[cut]),
                setting.on_host(batch.sizes[groups]),
                setting.on_host(chosen) if chosen is not None else None,
                labels,
            )


@dataclass
class _Part:
    step_groups: int
    share: ProcessShare
    batch: Batch
    masked: Masked | None


@dataclass
class _MicroBatch:
    """Types, attention, sizes and chosen positions lie on the host."""

    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    sizes: Tensor
    chosen: Tensor | None
    labels: Tensor | None


# Fine-tuning on groups whose documents are not one sequence each: passages of a cross-encoder, and pairs of words.


@dataclass(frozen=True)
class ReadGroups:
    sizes: np.ndarray  # documents of each group; int64 [groups]
    tokens: int  # word pieces or words, without padding
    # From the model to the scores of all documents, group after group.
    score: Callable[[nn.Module, Setting], Tensor]


class GroupReader(Protocol):
    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        """Return the groups, ready to be scored."""

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        """Return how many word pieces or words of each group are read, int64 [groups]."""


@dataclass
class RankingTask:
    name: str  # for metrics
    source: GroupSource  # the groups of each step
    reader: GroupReader  # makes the model's input of them
    # loss, margin: the ranking loss.
    loss: Loss
    margin: float = 1.0

    def read(self, setting: Setting, step: int) -> PartOf:
        groups = self.source.groups(step)
        share = setting.share(len(groups), lambda: self.reader.tokens(groups))
        parts = [self.reader.read(groups[some]) for some in share.slices]
        tokens = sum(part.tokens for part in parts)

        def part_of(model: nn.Module) -> StepPart:
            metrics = TaskMetrics(1.0, 0.0)
            losses = self._losses(model, setting, parts, len(groups), metrics)
            return StepPart(metrics, tokens, share, losses)

        return part_of

    def _losses(
        self,
        model: nn.Module,
        setting: Setting,
        parts: Sequence[ReadGroups],
        groups: int,
        metrics: TaskMetrics,
    ) -> Iterator[MicroBatchLoss]:
        for part in parts:
            with setting.autocast():
                scores = part.score(model, setting)
                sizes = torch.from_numpy(part.sizes)
                loss = ranking_loss(self.loss, scores, sizes, self.margin).sum() / groups
            right, pairs = count_correct_pairs(scores, sizes)
            metrics.pairs += pairs
            yield MicroBatchLoss(loss, {"ranking_loss": loss.detach(), "correct_pairs": right})


@dataclass(frozen=True)
class WordReader:
    builder: WordBatchBuilder

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        batch = self.builder.build(groups)

        def score(model: nn.Module, setting: Setting) -> Tensor:
            scores: Tensor = model(setting.tensor(batch.query), setting.tensor(batch.document))
            return scores

        return ReadGroups(batch.sizes, batch.tokens, score)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        return self.builder.tokens(groups)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document separately.

    The loss is of the documents' scores: it reaches the best passage of each.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: Sequence[RankingGroup]) -> ReadGroups:
        batch = self.builder.build(self._as_groups(groups))

        def score(model: nn.Module, setting: Setting) -> Tensor:
            marks = (setting.on_host(array) for array in (batch.token_type_ids, batch.attention_mask))
            scores, _ = model(setting.tensor(batch.input_ids), *marks)
            return combine(scores, batch.sizes)

        sizes = np.array([len(group) for group in groups], np.int64)
        return ReadGroups(sizes, batch.tokens, score)

    def tokens(self, groups: Sequence[RankingGroup]) -> np.ndarray:
        documents = self.builder.tokens(self._as_groups(groups))
        return np.add.reduceat(documents, np.cumsum([0, *(len(group) for group in groups[:-1])]))

    def _as_groups(self, groups: Sequence[RankingGroup]) -> list[RankingGroup]:
        sequences = [sequence for group in groups for sequence in group.sequences()]
        return [RankingGroup((query,), tuple(self._passages(document))) for query, document, _ in sequences]

    def _passages(self, document: StoreSpan) -> list[StoreSpan]:
        bounds = piece_bounds(
            self.builder.store.word_starts(document.row), self.options, self.options.most_in_training
        )
        return [StoreSpan(document.row, start, end) for start, end in bounds]


def combine(scores: Tensor, passages: np.ndarray) -> Tensor:
    """Scores of documents, float [documents], from their passages'; differentiable `text.passages.combine_scores`."""
    parts = scores.split(passages.tolist())
    return torch.stack([part.amax() for part in parts])
