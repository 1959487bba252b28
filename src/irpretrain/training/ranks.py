"""The processes of one training: they compute the same steps on different micro-batches, and meet in sums."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, distributed


def share_of(item_count: int, accumulation: int, rank: int = 0, process_count: int = 1) -> dict[int, slice]:
    """Return what process `rank` computes of a step with `item_count` items: number of each micro-batch → its items.

    The step is cut into `accumulation` equal micro-batches, or one per process if there are more processes. Otherwise
    the cut does not depend on the number of processes: nor does what dropout draws in a micro-batch.
    """
    micro_batches = min(max(accumulation, process_count), item_count)
    bounds = [int(bound) for bound in np.linspace(0, item_count, micro_batches + 1).round()]
    indices = range(micro_batches * rank // process_count, micro_batches * (rank + 1) // process_count)
    return {index: slice(bounds[index], bounds[index + 1]) for index in indices}


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

    def sums(self, numbers: Sequence[float]) -> list[float]:
        """Return the sums of numbers over all processes, in double precision."""
        if self.count == 1:
            return list(numbers)
        totals = torch.tensor(numbers, dtype=torch.float64)
        with lost_processes():
            distributed.all_reduce(totals)
        return list(totals.tolist())

    def from_first(self, create: Callable[[], Value]) -> Value:
        """Return what `create` returns in the first process; it is not called in the others."""
        if self.count == 1:
            return create()
        objects = [create() if self.leads else None]
        with lost_processes():
            distributed.broadcast_object_list(objects, src=0)
        return objects[0]  # type: ignore[return-value]


@contextmanager
def lost_processes() -> Iterator[None]:
    """Turn failures inside, which needs all processes, into LostProcessError: they are not faults of this process."""
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(str(error)) from error


ALONE = Ranks()
_current = [ALONE]


def current_ranks() -> Ranks:
    return _current[0]


@contextmanager
def taking_part(ranks: Ranks, port: int) -> Iterator[None]:
    """Let this process be one of several inside, which meet at the store behind `port`; waits until all have come."""
    backend = "gloo" if ranks.gpu is None else "cpu:gloo,cuda:nccl"
    device = None if ranks.gpu is None else torch.device("cuda", ranks.gpu)
    if device is not None:
        # First: until then the current one is the first GPU, on which each process would take a context's memory.
        torch.cuda.set_device(device)
    with lost_processes():
        distributed.init_process_group(
            backend,
            store=distributed.TCPStore("127.0.0.1", port, timeout=LONGEST_WAIT),
            timeout=LONGEST_WAIT,
            rank=ranks.rank,
            world_size=ranks.count,
            device_id=device,
        )
    _current[0] = ranks
    try:
        yield
    finally:
        _current[0] = ALONE
    distributed.destroy_process_group()


def sum_gradients(parameters: Sequence[Tensor], ranks: Ranks) -> None:
    """Put the sums over all processes into `parameter.grad`, after the last backward pass of a step.

    They are sums, not means: losses are shares of the whole step's already.
    """
    # torch's DistributedDataParallel wants one forward for each backward, and the same number of them everywhere;
    # steps here have several tasks, and processes different numbers of micro-batches.
    if ranks.count == 1:
        return
    trained_parameters = [p for p in parameters if p.requires_grad]
    gradient_counts = ranks.sums([float(p.grad is not None) for p in trained_parameters])
    # A parameter without a gradient in every process stays without, so the optimiser leaves it alone.
    for parameter in (p for p, count in zip(trained_parameters, gradient_counts, strict=True) if count):
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        with lost_processes():
            distributed.all_reduce(parameter.grad)
