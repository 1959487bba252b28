"""What the processes of one training know and tell each other.

A job that shares its steps out runs as several processes (`training.processes`), each with a number, its rank. They
compute the same steps on different micro-batches, and meet in sums: of counts, of gradients, of what is measured.
A process that computes alone takes part in nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, distributed

Value = TypeVar("Value")


class LostProcessError(RuntimeError):
    """Another process of the job has ended: what went wrong is to be found there."""


@dataclass(frozen=True)
class Ranks:
    """This process among those of its job.

    Attributes:
        rank: its number, from 0.
        count: how many there are.
        gpu: number of its GPU among the visible ones; None for the processor, or for one that it has to find itself.
    """

    rank: int = 0
    count: int = 1
    gpu: int | None = None

    @property
    def leads(self) -> bool:
        """Whether it is the one process that writes and speaks."""
        return self.rank == 0

    def total(self, number: int) -> int:
        """Return the sum of a whole number over all processes."""
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
    """Tell failures of what is inside, which needs all processes, from faults of this one."""
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(str(error)) from error


ALONE = Ranks()
_here = [ALONE]


def here() -> Ranks:
    """Return this process's place among those of its job."""
    return _here[0]


@contextmanager
def taking_part(ranks: Ranks) -> Iterator[None]:
    """Let this process be one of several inside; the others wait until all have come."""
    backend = "gloo" if ranks.gpu is None else "cpu:gloo,cuda:nccl"
    device = None if ranks.gpu is None else torch.device("cuda", ranks.gpu)
    if device is not None:
        # First: until then the current one is the first GPU, on which each process would take a context's memory.
        torch.cuda.set_device(device)
    with lost_processes():
        distributed.init_process_group(backend, rank=ranks.rank, world_size=ranks.count, device_id=device)
    _here[0] = ranks
    try:
        yield
    finally:
        _here[0] = ALONE
    distributed.destroy_process_group()
