"""Copies between host and device, and loops over batches, in which a GPU never idles until the host is ready."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch
from torch import Tensor

Batch = TypeVar("Batch")
Begun = TypeVar("Begun")


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor on a device. From the host a GPU takes it in its turn, out of pinned memory, and nobody waits."""
    if tensor.device.type != "cpu" or device.type == "cpu":
        return tensor.to(device)
    source = tensor.pin_memory() if device.type == "cuda" else tensor
    return source.to(device, non_blocking=True)


def to_host(tensor: Tensor) -> Callable[[], Tensor]:
    """Begin to copy a tensor to the host; return what waits until it is there.

    Only what a GPU was given before is waited for. A plain `.cpu()` waits for all that it was given until then.
    """
    if tensor.device.type != "cuda":
        return tensor.cpu
    copy, copied = tensor.to("cpu", non_blocking=True), torch.cuda.Event()
    copied.record()

    def wait() -> Tensor:
        copied.synchronize()
        return copy

    return wait


def begun_ahead(
    batches: Iterable[Batch], begin: Callable[[Batch], Begun], device: torch.device
) -> Iterator[tuple[Batch, Begun]]:
    """Yield each batch, in order, with what `begin` returned for it; on a GPU after `begin` was called for the next.

    `begin` only gives a GPU its work. So the GPU computes while the host prepares the next batch.
    """
    ahead = 0 if device.type == "cpu" else 1
    begun = deque[tuple[Batch, Begun]]()
    for batch in batches:
        begun.append((batch, begin(batch)))
        if len(begun) > ahead:
            yield begun.popleft()
    yield from begun
