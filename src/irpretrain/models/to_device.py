"""Copies from the host that the device does not have to stop for."""

from __future__ import annotations

import torch
from torch import Tensor


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor on a device. From the host a GPU takes it in its turn, out of pinned memory, and nobody waits."""
    if tensor.device.type != "cpu" or device.type == "cpu":
        return tensor.to(device)
    source = tensor.pin_memory() if device.type == "cuda" else tensor
    return source.to(device, non_blocking=True)
