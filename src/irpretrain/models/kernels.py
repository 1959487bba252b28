"""What lies between the matrix products and the attention of an encoder's layer, as few kernels.

Plain torch here, and in `irpretrain.models.triton_kernels` one kernel each, where Triton can compile for the GPU.
"""

from __future__ import annotations

import os
import shutil
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional


class Kernels(Protocol):
    """Tensors are [rows, columns] but for those named; `columns` is what a norm is over."""

    def residual_norm(
        self,
        x: Tensor,
        residual: Tensor,
        weight: Tensor,
        bias: Tensor,
        epsilon: float,
        dropout: float,
        seed: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return norm(residual + dropout(x)), the sum in it, and its mean and inverse deviation, float32 [rows]."""

    def residual_norm_gradient(
        self,
        gradient: Tensor,
        total: Tensor,
        mean: Tensor,
        deviation: Tensor,
        weight: Tensor,
        dropout: float,
        seed: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of the residual and of x, and float32 [3, columns]: of weight, of bias, x's summed.

        The last is the gradient of the bias of the linear layer that x comes from.
        """

    def gelu_gradient(
        self, gradient: Tensor, x: Tensor, with_value: bool
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the gradient of x, its sum over rows, float32 [columns], and GELU itself, if it is wanted."""


class PlainKernels:
    def residual_norm(
        self,
        x: Tensor,
        residual: Tensor,
        weight: Tensor,
        bias: Tensor,
        epsilon: float,
        dropout: float,
        seed: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        total = residual + _dropped(x, dropout, seed)
        value = total.float()
        deviations, means = torch.var_mean(value, 1, correction=0)
        inverse = (deviations + epsilon).rsqrt()
        normal = (value - means[:, None]) * inverse[:, None] * weight + bias
        return normal.to(x.dtype), total, means, inverse

    def residual_norm_gradient(
        self,
        gradient: Tensor,
        total: Tensor,
        mean: Tensor,
        deviation: Tensor,
        weight: Tensor,
        dropout: float,
        seed: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        incoming = gradient.float()
        normal = (total.float() - mean[:, None]) * deviation[:, None]
        scaled = incoming * weight
        along = (scaled * normal).mean(1, keepdim=True)
        into_total = (scaled - normal * along - scaled.mean(1, keepdim=True)) * deviation[:, None]
        into_x = _dropped(into_total, dropout, seed)
        sums = torch.stack([(incoming * normal).sum(0), incoming.sum(0), into_x.sum(0)])
        return into_total.to(total.dtype), into_x.to(total.dtype), sums

    def gelu_gradient(
        self, gradient: Tensor, x: Tensor, with_value: bool
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        into_x = torch.ops.aten.gelu_backward(gradient, x)
        return into_x, into_x.sum(0, dtype=torch.float32), functional.gelu(x) if with_value else None


def _dropped(x: Tensor, dropout: float, seed: int) -> Tensor:
    """Zero each value with probability `dropout`, and scale the others up; equal seeds draw alike."""
    if not dropout:
        return x
    draw = torch.Generator(x.device).manual_seed(seed)
    retained = torch.rand(x.shape, generator=draw, device=x.device) >= dropout
    return torch.where(retained, x / (1 - dropout), 0.0)


def why_no_triton() -> str | None:
    """Return why Triton cannot compile kernels for a GPU, or None if it can."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return "Triton is not installed (pip installs it with torch for GPUs)"
    if not os.environ.get("CC") and not shutil.which("gcc") and not shutil.which("clang"):
        return "Triton finds no C compiler"
    return None


def kernels_for(device: torch.device) -> Kernels:
    """Return the fastest kernels that a device has."""
    if device.type != "cuda" or why_no_triton():
        return PlainKernels()
    from irpretrain.models import triton_kernels

    kernels: Any = triton_kernels
    return kernels
