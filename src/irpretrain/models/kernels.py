"""What lies between the matrix products and the attention of an encoder's layer, as few kernels.

Plain torch here, and in `irpretrain.models.triton_kernels` one kernel each, where Triton can compile for the GPU: the
same functions in both. Tensors are [rows, columns] but for those named; `columns` is what a norm is over.
"""

import os
import shutil

import torch
from torch import Tensor
from torch.nn import functional

# A stream of random numbers: the seed, int32 [1] on the device, so that a recorded graph can draw anew, and a number.
Seed = tuple[Tensor, int]


# A hash of 32-bit numbers: a bias-free mixer found by Chris Wellons (github.com/skeeto/hash-prospector, lowbias32).
HASH_STEPS = ((16, 0x7FEB352D), (15, 0x846CA68B))
MAX_UINT32 = 0xFFFFFFFF

# Between the streams of a seed; odd, so that none meets another.
STREAM_STEP = 0x9E3779B9


def residual_norm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, epsilon: float, dropout: float, seed: Seed
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return norm(residual + dropout(x)), the sum in it, and its mean and inverse deviation, float32 [rows]."""
    total = residual + _drop(x, dropout, seed)
    float_total = total.float()
    variances, means = torch.var_mean(float_total, 1, correction=0)
    inverse_deviations = (variances + epsilon).rsqrt()
    normalised = (float_total - means[:, None]) * inverse_deviations[:, None] * weight + bias
    return normalised.to(x.dtype), total, means, inverse_deviations


def residual_norm_gradient(
    gradient: Tensor,
    total: Tensor,
    mean: Tensor,
    deviation: Tensor,
    weight: Tensor,
    dropout: float,
    seed: Seed,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the residual and of x, and float32 [3, columns]: of weight, of bias, x's summed.

    The last is the gradient of the bias of the linear layer that x comes from.
    """
    float_gradient = gradient.float()
    normalised = (total.float() - mean[:, None]) * deviation[:, None]
    scaled = float_gradient * weight
    projection = (scaled * normalised).mean(1, keepdim=True)
    centred = scaled - normalised * projection - scaled.mean(1, keepdim=True)
    total_gradient = centred * deviation[:, None]
    x_gradient = _drop(total_gradient, dropout, seed)
    sums = torch.stack([(float_gradient * normalised).sum(0), float_gradient.sum(0), x_gradient.sum(0)])
    return total_gradient.to(total.dtype), x_gradient.to(total.dtype), sums


def gelu_gradient(gradient: Tensor, x: Tensor, with_value: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the gradient of x, its sum over rows, float32 [columns], and GELU itself, if it is wanted."""
    x_gradient = torch.ops.aten.gelu_backward(gradient, x)
    return x_gradient, x_gradient.sum(0, dtype=torch.float32), functional.gelu(x) if with_value else None


def _drop(x: Tensor, dropout: float, seed: Seed) -> Tensor:
    """Zero each value with probability `dropout`, and scale the others up; equal seeds draw alike."""
    if not dropout:
        return x
    positions = torch.arange(x.numel(), device=x.device).view_as(x)
    return torch.where(uniform(positions, seed) >= dropout, x / (1 - dropout), 0.0)


def uniform(positions: Tensor, seed: Seed) -> Tensor:
    """Return a number in [0, 1) for each of int64 `positions`, as Triton's kernels draw it."""
    stream = (seed[0].long() + seed[1] * STREAM_STEP) & MAX_UINT32
    hash_value = _hash(_hash(positions & MAX_UINT32) ^ stream)
    return (hash_value >> 8).float() / (1 << 24)


def _hash(value: Tensor) -> Tensor:
    for shift, factor in HASH_STEPS:
        value = ((value ^ (value >> shift)) * factor) & MAX_UINT32
    return value ^ (value >> 16)


def why_no_triton() -> str | None:
    """Return why Triton cannot compile kernels for a GPU, or None if it can."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return "Triton is not installed (pip installs it with torch for GPUs)"
    if not os.environ.get("CC") and not shutil.which("gcc") and not shutil.which("clang"):
        return "Triton finds no C compiler"
    return None
