"""What a training step is made of: where it is computed, and what each of its tasks adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig
from irpretrain.models.arithmetic import Work
from irpretrain.training.compute import autocast
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranks import ALONE, Ranks
from irpretrain.training.shares import Share, share_of


@dataclass(frozen=True)
class Setting:
    """Where and how a step's losses are computed: device, precision, micro-batches a step is split into, and this
    process among those that share them."""

    device: torch.device
    compute: ComputeConfig
    accumulation: int
    ranks: Ranks = ALONE

    def share(self, items: int) -> Share:
        """Return what this process computes of a step with so many items."""
        return share_of(items, self.accumulation, self.ranks.rank, self.ranks.count)

    def tensor(self, array: np.ndarray) -> Tensor:
        """Return an array as a tensor on the device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)

    def autocast(self) -> torch.autocast:
        """Return the context in which matrix products have the configured precision."""
        return autocast(self.device, self.compute)


@dataclass
class StepPart:
    """What one task adds to one step, as far as this process computes it.

    Attributes:
        metrics: filled while `losses` is gone through.
        tokens: word pieces and special tokens, without padding.
        share: which micro-batches.
        losses: of these, each computed when it is asked for; their sum over all processes is the task's loss.
        work: what they ask of an encoder; None where that is not counted.
    """

    metrics: TaskMetrics
    tokens: int
    share: Share
    losses: Iterator[Tensor]
    work: Work | None = None


class StepTask(Protocol):
    """One objective in a training."""

    name: str

    def part(self, model: nn.Module, setting: Setting, step: int, number: int) -> StepPart:
        """Return what the task adds to optimiser step `step`, whose batch has the given number."""
