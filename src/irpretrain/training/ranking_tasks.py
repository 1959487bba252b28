"""What a step of training computes: the ranking loss and the MLM loss, and the task that calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, assert_never

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import Loss
from irpretrain.models.length_batches import to_device
from irpretrain.text.passages import piece_bounds
from irpretrain.training.batches import BatchBuilder, WordBatchBuilder
from irpretrain.training.masking import Masker
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranking_groups import GroupSource, RankingGroups, make_spans
from irpretrain.training.trainer import MicroBatchLoss, Setting, StepPart


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


# The task of a step: ranking groups, whose loss and gradients are computed in micro-batches.


@dataclass(frozen=True)
class ReadGroups:
    """Groups of a micro-batch, ready to be scored."""

    sizes: np.ndarray  # documents of each group; int64 [groups]
    tokens: int  # word pieces or words, without padding
    # From the model to the scores of all documents, group after group, and MLM logits, if there are `labels`.
    outputs: Callable[[nn.Module, Setting], tuple[Tensor, Tensor | None]]
    labels: np.ndarray | None = None  # masked word pieces, int64 [masked positions]


class GroupReader(Protocol):
    def read(self, groups: RankingGroups, step: int, before: int) -> ReadGroups:
        """Return groups of optimiser step `step`, which has `before` sequences before them."""


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
        parts = {
            number: self.reader.read(groups[some], step, int(groups.sizes[: some.start].sum()))
            for number, some in setting.share(len(groups)).items()
        }
        masked = sum(len(part.labels) for part in parts.values() if part.labels is not None)
        positions = max(int(setting.ranks.sums([masked])[0]), 1)
        metrics = TaskMetrics(self.weight, self.mlm_weight)
        losses = {
            number: partial(self._loss, setting, part, len(groups), positions, metrics)
            for number, part in parts.items()
        }
        return StepPart(metrics, sum(part.tokens for part in parts.values()), losses)

    def _loss(
        self,
        setting: Setting,
        part: ReadGroups,
        groups: int,
        positions: int,
        metrics: TaskMetrics,
        model: nn.Module,
    ) -> MicroBatchLoss:
        measured: dict[str, Tensor] = {}
        with setting.autocast():
            scores, logits = part.outputs(model, setting)
            loss = scores.new_zeros((), dtype=torch.float32)
            if self.weight > 0:
                sizes = setting.on_host(part.sizes)
                ranking = ranking_loss(self.loss, scores, sizes, self.margin).sum() / groups
                loss = loss + self.weight * ranking
                right, pairs = count_correct_pairs(scores, sizes)
                measured |= {"ranking_loss": ranking.detach(), "correct_pairs": right}
                metrics.pairs += pairs
            if logits is not None and part.labels is not None and len(part.labels):
                mlm = mlm_loss_sum(logits, setting.tensor(part.labels)) / positions
                measured["mlm_loss"] = mlm.detach()
                loss = loss + self.mlm_weight * mlm
        return MicroBatchLoss(loss, measured)


@dataclass(frozen=True)
class SequenceReader:
    """Reads groups for a cross-encoder, a sequence per document; masks word pieces for the MLM loss."""

    builder: BatchBuilder
    masker: Masker | None = None
    mlm_head_steps: int = 0  # number of first steps in which the MLM loss trains only the MLM head

    def read(self, groups: RankingGroups, step: int, before: int) -> ReadGroups:
        batch = self.builder.build(groups)
        masked = None if self.masker is None else self.masker.apply(batch, step, before)

        def outputs(model: nn.Module, setting: Setting) -> tuple[Tensor, Tensor | None]:
            scores, logits = model(
                setting.tensor(batch.input_ids if masked is None else masked.input_ids),
                # On the host, with the masked positions: a GPU would be asked how many there are.
                setting.on_host(batch.token_type_ids),
                setting.on_host(batch.attention_mask),
                None if masked is None else setting.on_host(masked.chosen),
                mlm_trains_encoder=step >= self.mlm_head_steps,
            )
            return scores, logits

        return ReadGroups(batch.sizes, batch.tokens, outputs, None if masked is None else masked.labels)


@dataclass(frozen=True)
class PassageReader:
    """Reads groups for a cross-encoder that scores the passages of a document separately.

    The loss is of the documents' scores: it reaches the best passage of each.
    """

    builder: BatchBuilder
    options: PassagesConfig

    def read(self, groups: RankingGroups, step: int, before: int) -> ReadGroups:
        rows = groups.documents["row"]
        passages = [self._passages(row) for row in rows.tolist()]
        counts = np.array([len(bounds) for bounds in passages], np.int64)
        documents = make_spans(np.repeat(rows, counts), *np.concatenate(passages).T)
        queries = np.repeat(groups.queries, counts)
        batch = self.builder.build(RankingGroups.of_queries(queries, documents, counts, groups.texts))

        def outputs(model: nn.Module, setting: Setting) -> tuple[Tensor, None]:
            marks = (setting.on_host(array) for array in (batch.token_type_ids, batch.attention_mask))
            scores, _ = model(setting.tensor(batch.input_ids), *marks)
            return combine(scores, batch.sizes), None

        return ReadGroups(groups.sizes, batch.tokens, outputs)

    def _passages(self, row: int) -> list[tuple[int, int]]:
        word_starts = self.builder.store.word_starts(row)
        return piece_bounds(word_starts, self.options, self.options.most_in_training)


@dataclass(frozen=True)
class WordReader:
    """Reads groups for a ranker over words."""

    builder: WordBatchBuilder

    def read(self, groups: RankingGroups, step: int, before: int) -> ReadGroups:
        batch = self.builder.build(groups)

        def outputs(model: nn.Module, setting: Setting) -> tuple[Tensor, None]:
            return model(setting.tensor(batch.query), setting.tensor(batch.document)), None

        return ReadGroups(batch.sizes, batch.tokens, outputs)


def combine(scores: Tensor, passages: np.ndarray) -> Tensor:
    """Scores of documents, float [documents], each that of its best passage."""
    parts = scores.split(passages.tolist())
    return torch.stack([part.amax() for part in parts])
