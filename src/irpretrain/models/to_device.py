"""Copies between host and device that the device does not have to stop for."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


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
