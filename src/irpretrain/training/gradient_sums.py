"""Gradients added up over the processes of a job, after the last backward pass of a step.

They are sums, not means: losses are shares of the whole step's already. torch's DistributedDataParallel wants one
forward for each backward, and the same number of them everywhere; steps here have several tasks, and processes
different numbers of micro-batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, distributed

from irpretrain.training.ranks import Ranks, lost_processes

BYTES_AT_ONCE = 25 << 20
"""Bytes that go over the network together, but for a parameter that is larger."""


def sum_gradients(parameters: Sequence[Tensor], ranks: Ranks) -> None:
    """Put the sums of all processes into `parameter.grad`, the same in each of them.

    A parameter that got a gradient in no process has none after it, so the optimiser leaves it alone.

    Args:
        parameters: of the model, in the same order in every process.
        ranks: this process among all; with one process nothing is done.
    """
    if ranks.count == 1:
        return
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    processes = ranks.sums([float(parameter.grad is not None) for parameter in trained])
    used = [parameter for parameter, count in zip(trained, processes, strict=True) if count]
    for bucket in _buckets(used):
        with torch.no_grad():
            flat = torch.cat(
                [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in bucket]
            )
        with lost_processes():
            distributed.all_reduce(flat)
        parts = flat.split([parameter.numel() for parameter in bucket])
        for parameter, part in zip(bucket, parts, strict=True):
            parameter.grad = part.view_as(parameter)


def _buckets(parameters: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Yield the parameters in lists of one type of number and of at most so many bytes."""
    bucket: list[Tensor] = []
    for parameter in parameters:
        size = sum(p.nbytes for p in bucket) + parameter.nbytes
        if bucket and (size > BYTES_AT_ONCE or bucket[0].dtype != parameter.dtype):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket
