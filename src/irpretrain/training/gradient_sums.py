"""Gradients of several processes, added up while the last backward pass still computes.

Each process adds the gradients of its own micro-batches. In its last backward pass gradients that are complete go on
their way in buckets, those of the last layers first, as in torch's DistributedDataParallel. That wrapper wants one
forward for each backward and the same number of them everywhere; steps here have several tasks, and processes
different numbers of micro-batches. Gradients are sums, not means: losses are shares of the whole step's already.

Buckets go in the same order in all processes, so one that has to wait holds up those after it. Parameters that got no
gradient in the step before, such as a head that no task trains, are therefore in the last ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, distributed

from irpretrain.training.ranks import Ranks, lost_processes

BUCKET_BYTES = 25 << 20
"""As DistributedDataParallel's: large enough for the network, small enough to begin early."""


class _Sent(NamedTuple):
    """Gradients of a bucket, end to end, and the sum that is under way."""

    flat: Tensor
    work: Any


class GradientSums:
    """Adds gradients over the processes of a job; with one process it does nothing.

    Args:
        parameters: of the model, in the same order in every process.
        ranks: this process among all.
        bucket_bytes: most bytes of a bucket, but for a parameter that is larger.
    """

    def __init__(self, parameters: Iterable[Tensor], ranks: Ranks, bucket_bytes: int = BUCKET_BYTES) -> None:
        self._ranks = ranks
        self._parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self._bucket_bytes = bucket_bytes
        self._wanted: set[int] | None = None
        self._fill_buckets({id(parameter) for parameter in self._parameters})
        self._sent: list[_Sent] = []
        self._missing: list[int] | None = None
        """Parameters of each bucket whose gradients are not complete; None while none can be."""
        if ranks.count > 1:
            for parameter in self._parameters:
                parameter.register_post_accumulate_grad_hook(self._ready)

    def state(self) -> list[bool]:
        """Return which parameters are in the first buckets: with three processes and more, the place of a number in its
        bucket decides in which order it is summed."""
        assert self._wanted is not None
        return [id(parameter) in self._wanted for parameter in self._parameters]

    def restore(self, state: list[bool]) -> None:
        """Fill the buckets as they were; the inverse of `state`."""
        self._fill_buckets({id(p) for p, wanted in zip(self._parameters, state, strict=True) if wanted})

    def _fill_buckets(self, wanted: set[int]) -> None:
        """Put the parameters with these identities into the first buckets, the others into the last."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        parts = (
            [parameter for parameter in self._parameters if (id(parameter) in wanted) is expected]
            for expected in (True, False)
        )
        self._buckets = [bucket for part in parts for bucket in _buckets(part, self._bucket_bytes)]
        self._bucket_of = {
            id(parameter): number for number, bucket in enumerate(self._buckets) for parameter in bucket
        }

    def begin_last(self) -> None:
        """Take gradients that the next backward pass gives as complete; no other pass may follow it."""
        self._missing = [len(bucket) for bucket in self._buckets]

    def finish(self) -> None:
        """Wait until the gradients of all processes are in `parameter.grad`, the same in each of them.

        A parameter that got a gradient in no process has none after it, so the optimiser leaves it alone.
        """
        if self._ranks.count == 1:
            return
        for number in range(len(self._sent), len(self._buckets)):
            self._send(number)
        with_gradient = self._ranks.sums([float(p.grad is not None) for p in self._parameters])
        wanted = {id(p) for p, processes in zip(self._parameters, with_gradient, strict=True) if processes}
        for bucket, sent in zip(self._buckets, self._sent, strict=True):
            with lost_processes():
                sent.work.wait()
            parts = sent.flat.split([parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad = part.view_as(parameter) if id(parameter) in wanted else None
        self._sent, self._missing = [], None
        self._fill_buckets(wanted)

    def _ready(self, parameter: Tensor) -> None:
        """Send what is complete, in the order of the buckets, which is the same in all processes."""
        if self._missing is None:
            return
        self._missing[self._bucket_of[id(parameter)]] -= 1
        while len(self._sent) < len(self._buckets) and self._missing[len(self._sent)] == 0:
            self._send(len(self._sent))

    def _send(self, number: int) -> None:
        with torch.no_grad():
            flat = torch.cat(
                [
                    (torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1)
                    for p in self._buckets[number]
                ]
            )
        with lost_processes():
            self._sent.append(_Sent(flat, distributed.all_reduce(flat, async_op=True)))


def _buckets(parameters: list[Tensor], most: int) -> list[list[Tensor]]:
    """Return the parameters from the last to the first, in lists of one type of number and of at most so many bytes."""
    found: list[list[Tensor]] = []
    for parameter in reversed(parameters):
        bytes_ = sum(p.nbytes for p in found[-1]) + parameter.nbytes if found else 0
        if not found or bytes_ > most or found[-1][0].dtype != parameter.dtype:
            found.append([])
        found[-1].append(parameter)
    return found
