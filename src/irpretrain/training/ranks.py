"""The processes of one training, and the sum of their gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, distributed

# The processes of one training: they compute the same steps on different micro-batches, and meet in sums.


# How an optimiser step is cut into micro-batches, and which of them a process computes. Imports no torch.
#
# The cut does not depend on the number of processes, as long as there is a micro-batch for each. So what is together
# in a micro-batch, and what dropout draws in it, does not either.


@dataclass(frozen=True)
class ProcessShare:
    """Neighbouring micro-batches of a step."""

    numbers: range  # theirs among all of the step, counted from 0
    slices: tuple[slice, ...]  # the items (ranking groups, sequences) of each, counted through the whole step

    @property
    def items(self) -> slice:
        return slice(self.slices[0].start, self.slices[-1].stop)

    @property
    def own_slices(self) -> list[slice]:
        """`slices`, counted from the first item of the share."""
        first = self.items.start
        return [slice(part.start - first, part.stop - first) for part in self.slices]


def share_of(items: int, accumulation: int, rank: int = 0, processes: int = 1) -> ProcessShare:
    """Return what process `rank` computes of a step with `items` items, at least one per process.

    The step is cut into `accumulation` equal micro-batches, or one per process if there are more processes.
    """
    _check(items, processes)
    parts = min(max(accumulation, processes), items)
    return _share([int(bound) for bound in np.linspace(0, items, parts + 1).round()], rank, processes)


def share_by_tokens(tokens: np.ndarray, most: int, rank: int = 0, processes: int = 1) -> ProcessShare:
    """Return what process `rank` computes of a step, cut by the word pieces of its items, int64 [items].

    A micro-batch has at most `most` word pieces; a longer item is one by itself.
    """
    _check(len(tokens), processes)
    return _share(_cut_by_tokens(tokens.tolist(), most, processes), rank, processes)


def _check(items: int, processes: int) -> None:
    if items < processes:
        raise ValueError(f"{items} items cannot be shared out among {processes} processes")


def _share(bounds: Sequence[int], rank: int, processes: int) -> ProcessShare:
    parts = len(bounds) - 1
    numbers = range(parts * rank // processes, parts * (rank + 1) // processes)
    return ProcessShare(numbers, tuple(slice(bounds[number], bounds[number + 1]) for number in numbers))


def _cut_by_tokens(tokens: list[int], most: int, least: int) -> list[int]:
    bounds, filled = [0], 0
    for item, size in enumerate(tokens):
        if item > bounds[-1] and filled + size > most:
            bounds.append(item)
            filled = 0
        filled += size
    bounds.append(len(tokens))
    sums = [0, *itertools.accumulate(tokens)]
    while len(bounds) <= least:
        parts = [(first, last) for first, last in itertools.pairwise(bounds) if last - first > 1]
        first, last = max(parts, key=lambda part: (sums[part[1]] - sums[part[0]], -part[0]))
        middle = sums[first] + sums[last]
        cut = min(range(first + 1, last), key=lambda position: abs(2 * sums[position] - middle))
        bounds = sorted([*bounds, cut])
    return bounds


Value = TypeVar("Value")

# For the other processes, which wait while the first one probes or hashes files. The usual ten or thirty minutes
# would end a job that is well.
LONGEST_WAIT = timedelta(days=1)


class LostProcessError(RuntimeError):
    """Another process of the job has ended: its report says what went wrong."""


@dataclass(frozen=True)
class Ranks:
    """This process among those of its job."""

    rank: int = 0  # its number, from 0
    count: int = 1  # how many there are
    # Number of its GPU among the visible ones; None for the processor, or for one that it has to find itself.
    gpu: int | None = None

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes and logs."""
        return self.rank == 0

    def total(self, number: int) -> int:
        return int(self._sum(torch.tensor([number], dtype=torch.int64))[0]) if self.count > 1 else number

    def sums(self, numbers: Sequence[float]) -> list[float]:
        """Return the sums of numbers over all processes, in double precision."""
        if self.count == 1:
            return list(numbers)
        totals: list[float] = self._sum(torch.tensor(numbers, dtype=torch.float64)).tolist()
        return totals

    def from_first(self, make: Callable[[], Value]) -> Value:
        """Return what `make` returns in the first process; it is not called in the others."""
        if self.count == 1:
            return make()
        shared = [make() if self.leads else None]
        with lost_processes():
            distributed.broadcast_object_list(shared, src=0)
        return shared[0]  # type: ignore[return-value]

    def _sum(self, tensor: Tensor) -> Tensor:
        with lost_processes():
            distributed.all_reduce(tensor)
        return tensor


@contextmanager
def lost_processes() -> Iterator[None]:
    """Turn failures inside, which needs all processes, into LostProcessError: they are not faults of this process."""
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(str(error)) from error


ALONE = Ranks()
_here = [ALONE]


def here() -> Ranks:
    return _here[0]


@contextmanager
def taking_part(ranks: Ranks) -> Iterator[None]:
    """Let this process be one of several inside; waits until all have come."""
    backend = "gloo" if ranks.gpu is None else "cpu:gloo,cuda:nccl"
    device = None if ranks.gpu is None else torch.device("cuda", ranks.gpu)
    if device is not None:
        # First: until then the current one is the first GPU, on which each process would take a context's memory.
        torch.cuda.set_device(device)
    with lost_processes():
        distributed.init_process_group(
            backend, timeout=LONGEST_WAIT, rank=ranks.rank, world_size=ranks.count, device_id=device
        )
    _here[0] = ranks
    try:
        yield
    finally:
        _here[0] = ALONE
    distributed.destroy_process_group()


# Gradients added up over the processes of a job, after the last backward pass of a step.
#
# They are sums, not means: losses are shares of the whole step's already. torch's DistributedDataParallel wants one
# forward for each backward, and the same number of them everywhere; steps here have several tasks, and processes
# different numbers of micro-batches.


# Bytes that go over the network together, but for a parameter that is larger.
BYTES_AT_ONCE = 25 << 20


def sum_gradients(parameters: Sequence[Tensor], ranks: Ranks) -> None:
    """Put the sums over all processes into `parameter.grad`, the same in each of them."""
    if ranks.count == 1:
        return
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    processes = ranks.sums([float(parameter.grad is not None) for parameter in trained])
    # A parameter without a gradient in every process stays without, so the optimiser leaves it alone.
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
    bucket: list[Tensor] = []
    for parameter in parameters:
        size = sum(p.nbytes for p in bucket) + parameter.nbytes
        if bucket and (size > BYTES_AT_ONCE or bucket[0].dtype != parameter.dtype):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket
