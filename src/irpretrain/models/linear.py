"""Linear layers through oneDNN on processors where MKL, torch's default, is slow.

MKL uses AVX-512 on Intel's processors alone. On AMD's that have it, oneDNN is twice as fast; on all others MKL is
faster, most of all for gradients (docs/benchmarks.md). Both are full single precision with different orders of sums. On
a GPU, under autocast, or if torch was built without oneDNN, torch's own kernel is used.
"""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Layers with fewer outputs are not worth oneDNN's set-up.
MIN_OUTPUTS = 64

# Outputs of a layer that scores: relevance, or a word's weight; two classes; start and end of an answer.
MAX_SCORE_OUTPUTS = 2


class _OneDnnLinear(torch.autograd.Function):
    """y = x wᵀ + b and its gradients, for x [rows, inputs], w [outputs, inputs], b [outputs]."""

    @staticmethod
    def forward(context: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        context.save_for_backward(x, weight)
        return _multiply(x, weight, bias)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = context.saved_tensors
        gradient = gradient.contiguous()
        needs_x, needs_weight, needs_bias = context.needs_input_grad
        return (
            _multiply(gradient, weight.t()) if needs_x else None,
            _multiply(gradient.t(), x.t()) if needs_weight else None,
            gradient.sum(0) if needs_bias else None,
        )


def _multiply(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(a, b, bias, "none", [], "")


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return x wᵀ + b like `torch.nn.functional.linear`, by the faster kernel."""
    if not _can_use_onednn(x, weight):
        return functional.linear(x, weight, bias)
    rows = x.reshape(-1, x.shape[-1])
    return _OneDnnLinear.apply(rows, weight, bias).view(*x.shape[:-1], weight.shape[0])


def _can_use_onednn(x: Tensor, weight: Tensor) -> bool:
    return bool(
        x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and weight.shape[0] >= MIN_OUTPUTS
        and x.numel() > 0
        and torch.backends.mkldnn.enabled
        and torch.backends.mkldnn.is_available()
        and not torch.is_autocast_enabled("cpu")
        and onednn_is_faster()
    )


@cache
def onednn_is_faster() -> bool:
    """Whether the processor has AVX-512 and is not Intel's, by Linux's description (elsewhere: any maker's)."""
    cpu_info = Path("/proc/cpuinfo")
    made_by_intel = cpu_info.exists() and "GenuineIntel" in cpu_info.read_text(errors="replace")
    return bool(torch.cpu.get_capabilities().get("avx512_f")) and not made_by_intel


class Linear(nn.Linear):
    """`torch.nn.Linear` with the faster kernel; parameters and their names are the same."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


class ScoreLayer(nn.Linear):
    """`torch.nn.Linear` in single precision, also under autocast: in bf16 most documents of a list would tie."""

    def forward(self, input: Tensor) -> Tensor:
        device = input.device.type
        if not torch.amp.is_autocast_available(device) or not torch.is_autocast_enabled(device):
            return super().forward(input)
        with torch.autocast(device, enabled=False):
            return functional.linear(input.to(self.weight.dtype), self.weight, self.bias)


def use_fast_linear(module: nn.Module) -> None:
    """Let all linear layers with a bias in `module` take the faster kernel, and those that score stay precise."""
    for layer in module.modules():
        if type(layer) is nn.Linear and layer.bias is not None:
            layer.__class__ = ScoreLayer if layer.out_features <= MAX_SCORE_OUTPUTS else Linear
