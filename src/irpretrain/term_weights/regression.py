"""The loss of the token regression: squared errors of the counted word pieces (DeepCT, equation 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.models.arithmetic import EncoderWork
from irpretrain.term_weights.sequences import TokenBatch, TrainingSequences
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.shares import Share
from irpretrain.training.steps import MicroBatchLoss, PartOf, Setting, StepPart


@dataclass
class RegressionMetrics(TaskMetrics):
    """The token regression in one step.

    Attributes:
        loss: what was minimised.
        squared_error: sum over counted word pieces.
        counted: how many there were in the whole step.
    """

    SUMMED: ClassVar[tuple[str, ...]] = ("loss", "squared_error")

    loss: float = 0.0
    squared_error: float = 0.0
    counted: int = 0

    @property
    def weighted_loss(self) -> float:
        """The loss itself: there is one task."""
        return self.loss

    def record(self) -> dict[str, float | None]:
        """Return what is written."""
        return {"mean_squared_error": self.squared_error / self.counted if self.counted else None}


@dataclass
class TokenRegression:
    """The one task of a training of term weights.

    Attributes:
        reduction: mean over the step's counted word pieces, or their sum.
    """

    sequences: TrainingSequences
    batch_size: int
    reduction: Literal["mean", "sum"]
    seed: int
    name: str = "term weights"

    def read(self, setting: Setting, step: int, number: int) -> PartOf:
        """Read the sequences of a step; see `StepTask`."""
        batch = self.sequences.batch(number, self.batch_size, self.seed)
        counted = int(np.isfinite(batch.targets).sum())
        lengths = batch.attention_mask.sum(1)
        share = setting.share(len(lengths), lambda: lengths)
        share_lengths = lengths[share.items]
        tokens = int(share_lengths.sum())

        def part_of(model: nn.Module) -> StepPart:
            metrics = RegressionMetrics(1.0, 0.0, counted=counted)
            losses = self._losses(model, setting, batch, share, counted)
            return StepPart(
                metrics, tokens, share, losses, EncoderWork(share_lengths, share_lengths, weighed=tokens)
            )

        return part_of

    def _losses(
        self, model: nn.Module, setting: Setting, batch: TokenBatch, share: Share, counted: int
    ) -> Iterator[MicroBatchLoss]:
        weight = 1.0 if self.reduction == "sum" else 1.0 / max(counted, 1)
        for rows in share.slices:
            length = int(batch.attention_mask[rows].sum(1).max())
            ids, targets = (
                setting.tensor(array[rows, :length]) for array in (batch.input_ids, batch.targets)
            )
            with setting.autocast():
                weights = model(ids, setting.on_host(batch.attention_mask[rows, :length]))
            errors = squared_errors(weights.float(), targets)
            loss = errors * weight
            yield MicroBatchLoss(loss, {"squared_error": errors.detach(), "loss": loss.detach()})


def squared_errors(weights: Tensor, targets: Tensor) -> Tensor:
    """Return the sum of squared errors where `targets` is a number; both float32 [sequences, positions]."""
    # Picking the counted ones out would ask a GPU how many there are, and wait for it.
    return torch.where(torch.isfinite(targets), weights - targets, 0.0).square().sum()
