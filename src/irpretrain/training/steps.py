"""What a training step is made of: where it is computed, and what each of its tasks adds to it.

A task first reads its batch, which takes no device and no model and may happen ahead of time in another thread
(`training.read_ahead`). What it read then makes losses of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.compute import ComputeConfig
from irpretrain.models.arithmetic import EncoderWork
from irpretrain.models.to_device import to_device, to_host
from irpretrain.training.compute import autocast
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranks import ALONE, Ranks
from irpretrain.training.shares import Share, share_by_tokens, share_of


@dataclass(frozen=True)
class Setting:
    """Where and how a step's losses are computed.

    Attributes:
        device: where.
        compute: in which precision.
        accumulation: micro-batches that a step is split into.
        ranks: this process among those that share them.
        micro_batch_tokens: word pieces that a micro-batch may have; splits a step in place of `accumulation`.
    """

    device: torch.device
    compute: ComputeConfig
    accumulation: int
    ranks: Ranks = ALONE
    micro_batch_tokens: int | None = None

    @property
    def splits(self) -> bool:
        """Whether steps are split, or might be."""
        return self.micro_batch_tokens is not None or max(self.accumulation, self.ranks.count) > 1

    def share(self, items: int, tokens: Callable[[], np.ndarray]) -> Share:
        """Return what this process computes of a step.

        Args:
            items: groups or sequences of the step.
            tokens: gives the word pieces of each, int64 [items]; called where they decide.
        """
        if self.micro_batch_tokens is None:
            return share_of(items, self.accumulation, self.ranks.rank, self.ranks.count)
        return share_by_tokens(tokens(), self.micro_batch_tokens, self.ranks.rank, self.ranks.count)

    def tensor(self, array: np.ndarray) -> Tensor:
        """Return an array as a tensor on the device."""
        return to_device(self.on_host(array), self.device)

    def on_host(self, array: np.ndarray) -> Tensor:
        """Return an array as a tensor on the host, for masks and sizes: on a device their sums would have to be waited
        for."""
        return torch.from_numpy(np.ascontiguousarray(array))

    def autocast(self) -> torch.autocast:
        """Return the context in which matrix products have the configured precision."""
        return autocast(self.device, self.compute)


class MicroBatchLoss(NamedTuple):
    """What one micro-batch adds to a step.

    Attributes:
        loss: its share of the task's loss, with the graph.
        measured: name in the task's metrics → what is added there, a number on the device. They are fetched once for
            the whole step: whoever asks for one waits until the device has done all that came before it.
    """

    loss: Tensor
    measured: Mapping[str, Tensor]


@dataclass
class StepPart:
    """What one task adds to one step, as far as this process computes it.

    Attributes:
        metrics: complete when what `losses` measured has been added (`fetch_measured`).
        tokens: word pieces and special tokens, without padding.
        share: which micro-batches.
        losses: of these, each computed when it is asked for; their sum over all processes is the task's loss.
        work: what they ask of an encoder; None where that is not counted.
    """

    metrics: TaskMetrics
    tokens: int
    share: Share
    losses: Iterator[MicroBatchLoss]
    work: EncoderWork | None = None


PartOf = Callable[[nn.Module], StepPart]
"""A task's batch of one step, read and ready: what it adds to the step, computed by a model."""


class StepTask(Protocol):
    """One objective in a training."""

    name: str

    def read(self, setting: Setting, step: int, number: int) -> PartOf:
        """Read what the task's batch of the given number adds to optimiser step `step`.

        It depends on the arguments alone, and neither touches the device nor talks to other processes.
        """


def fetch_measured(
    measured: list[tuple[TaskMetrics, Mapping[str, Tensor]]], also: Tensor
) -> Callable[[], float]:
    """Begin to copy to the host what micro-batches measured; return what waits for it.

    The wait adds the numbers to the metrics of their tasks, in their order, and returns another number, `also`. All
    numbers come from the device together, so that a step waits for it once. With fp16 too: the fused optimiser is told
    on the device whether a gradient is infinite.
    """
    tensors = [tensor for _, values in measured for tensor in values.values()]
    copied = to_host(
        torch.stack([tensor.detach().to(also.device, torch.float64) for tensor in (*tensors, also)])
    )

    def wait() -> float:
        *numbers, last = copied().tolist()
        coming = iter(numbers)
        for metrics, values in measured:
            for name in values:
                before = getattr(metrics, name)
                setattr(metrics, name, before + type(before)(next(coming)))
        return float(last)

    return wait
