"""An objective on ranking groups in the training of a cross-encoder: its ranking loss and its MLM loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from irpretrain.config.training import Loss
from irpretrain.training.batches import Batch, BatchBuilder, GroupSource
from irpretrain.training.losses import count_correct_pairs, mlm_loss_sum, ranking_loss
from irpretrain.training.masking import Masked, Masker
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranks import ProcessShare
from irpretrain.training.trainer import MicroBatchLoss, PartOf, Setting, StepPart


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
