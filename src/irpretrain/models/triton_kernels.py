"""Triton kernels of a packed encoder's layers: what lies between matrix products and attention, in one pass each.

`irpretrain.models.kernels` describes the functions and has them in plain torch. Sums over rows are added up in a fixed
order, so equal inputs give equal bits on one kind of GPU.
"""

# mypy: disable-error-code=no-untyped-def
# Parameters of kernels are pointers and numbers, which Triton types by each call.

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from irpretrain.models.kernels import Seed

# Programs per multiprocessor that share the rows of a backward kernel, each with its own sums over rows: of a norm, and
# of GELU. With these numbers an H200 was fastest.
NORM_PROGRAMS, GELU_PROGRAMS = 8, 32

# Rows and columns that a program of GELU's gradient reads at a time.
GELU_ROWS, GELU_COLUMNS = 2, 1024


@triton.jit
def _hashed(number):
    """See `kernels.HASH_STEPS`; Triton's own generator takes five times as long."""
    number = (number ^ (number >> 16)) * 0x7FEB352D
    number = (number ^ (number >> 15)) * 0x846CA68B
    return number ^ (number >> 16)


@triton.jit
def _dropped(values, positions, seed, stream, dropout):
    """Zero each value with probability `dropout`, and scale the others up; the draws depend on seed and position."""
    mixed = tl.load(seed).to(tl.uint32) + stream.to(tl.uint32) * 0x9E3779B9
    number = _hashed(_hashed(positions.to(tl.uint32)) ^ mixed)
    uniform = (number >> 8).to(tl.float32) / 16777216
    return tl.where(uniform >= dropout, values / (1 - dropout), 0.0)


@triton.jit(do_not_specialize=["stream"])  # or it would be compiled again for some streams
def _residual_norm(
    x, residual, weight, bias, total, normal, mean, deviation, columns, epsilon, dropout, seed, stream,
    BLOCK: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    positions = row * columns + column
    value = tl.load(x + positions, mask=inside, other=0.0).to(tl.float32)
    if DROPS:
        value = _dropped(value, positions, seed, stream, dropout)
    value += tl.load(residual + positions, mask=inside, other=0.0).to(tl.float32)
    # The gradient is computed from the stored sum, so the norm is too.
    rounded_total = value.to(total.dtype.element_ty)
    tl.store(total + positions, rounded_total, mask=inside)
    value = rounded_total.to(tl.float32)
    average = tl.sum(value, 0) / columns
    centred = tl.where(inside, value - average, 0.0)
    inverse = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    tl.store(mean + row, average)
    tl.store(deviation + row, inverse)
    scale = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    result = centred * inverse * scale + shift
    tl.store(normal + positions, result.to(normal.dtype.element_ty), mask=inside)


def residual_norm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, epsilon: float, dropout: float, seed: Seed
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    rows, columns = x.shape
    total, normal = torch.empty_like(x), torch.empty_like(x)
    mean, deviation = x.new_empty((2, rows), dtype=torch.float32).unbind()
    _residual_norm[(rows,)](
        x, residual, weight, bias, total, normal, mean, deviation, columns, epsilon, dropout, *seed,
        BLOCK=triton.next_power_of_2(columns), DROPS=dropout > 0, num_warps=_warps(columns),
    )  # fmt: skip
    return normal, total, mean, deviation


@triton.jit(do_not_specialize=["stream"])
def _residual_norm_gradient(
    gradient, total, mean, deviation, weight, total_gradient, x_gradient, sums, rows, columns, dropout, seed, stream,
    BLOCK: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    scale = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    weight_gradient = tl.zeros((BLOCK,), tl.float32)
    bias_gradient = tl.zeros((BLOCK,), tl.float32)
    x_gradient_sum = tl.zeros((BLOCK,), tl.float32)
    width = columns.to(tl.int64)
    for row in range(program, rows, programs):
        positions = row * width + column
        incoming = tl.load(gradient + positions, mask=inside, other=0.0).to(tl.float32)
        value = tl.load(total + positions, mask=inside, other=0.0).to(tl.float32)
        inverse = tl.load(deviation + row)
        normal = tl.where(inside, (value - tl.load(mean + row)) * inverse, 0.0)
        scaled = incoming * scale
        projection = tl.sum(scaled * normal, 0) / columns
        average = tl.sum(scaled, 0) / columns
        result = (scaled - normal * projection - average) * inverse
        result = tl.where(inside, result, 0.0)
        tl.store(total_gradient + positions, result.to(total_gradient.dtype.element_ty), mask=inside)
        weight_gradient += incoming * normal
        bias_gradient += incoming
        if DROPS:
            result = _dropped(result, positions, seed, stream, dropout)
            tl.store(x_gradient + positions, result.to(x_gradient.dtype.element_ty), mask=inside)
        x_gradient_sum += result
    sums_pointer = sums + program.to(tl.int64) * 3 * columns + column
    tl.store(sums_pointer, weight_gradient, mask=inside)
    tl.store(sums_pointer + columns, bias_gradient, mask=inside)
    tl.store(sums_pointer + 2 * columns, x_gradient_sum, mask=inside)


def residual_norm_gradient(
    gradient: Tensor,
    total: Tensor,
    mean: Tensor,
    deviation: Tensor,
    weight: Tensor,
    dropout: float,
    seed: Seed,
) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = total.shape
    total_gradient = torch.empty_like(total)
    x_gradient = torch.empty_like(total) if dropout > 0 else total_gradient
    programs = min(_programs(total.device, NORM_PROGRAMS), rows)
    sums = total.new_empty((programs, 3, columns), dtype=torch.float32)
    _residual_norm_gradient[(programs,)](
        gradient, total, mean, deviation, weight, total_gradient, x_gradient, sums, rows, columns, dropout, *seed,
        BLOCK=triton.next_power_of_2(columns), DROPS=dropout > 0, num_warps=_warps(columns),
    )  # fmt: skip
    return total_gradient, x_gradient, sums.sum(0)


@triton.jit
def _gelu_gradient(
    gradient, x, x_gradient, value, sums, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, VALUE: tl.constexpr
):  # fmt: skip
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    x_gradient_sum = tl.zeros((COLUMNS,), tl.float32)
    for first in range(program * ROWS, rows, programs * ROWS):
        row = first + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        positions = row.to(tl.int64)[:, None] * columns + column[None, :]
        incoming = tl.load(gradient + positions, mask=inside, other=0.0).to(tl.float32)
        x_value = tl.load(x + positions, mask=inside, other=0.0).to(tl.float32)
        # The error function by the exponential that the density needs too (Abramowitz and Stegun, 7.1.26); off by less
        # than 1.5e-7. Computed by itself it would take longer than reading and writing the numbers.
        exponential = tl.exp(-0.5 * x_value * x_value)
        fraction = 1 / (1 + 0.3275911 * 0.7071067811865476 * tl.abs(x_value))
        series = 0.254829592 + fraction * (
            -0.284496736 + fraction * (1.421413741 + fraction * (-1.453152027 + fraction * 1.061405429))
        )
        tail = 0.5 * series * fraction * exponential  # of the normal distribution beyond |x_value|
        share = tl.where(x_value < 0, tail, 1 - tail)
        if VALUE:
            tl.store(value + positions, (x_value * share).to(value.dtype.element_ty), mask=inside)
        density = exponential * 0.3989422804014327
        result = incoming * (share + x_value * density)
        tl.store(x_gradient + positions, result.to(x_gradient.dtype.element_ty), mask=inside)
        x_gradient_sum += tl.sum(result, 0)
    tl.store(sums + program.to(tl.int64) * columns + column, x_gradient_sum, mask=column < columns)


def gelu_gradient(gradient: Tensor, x: Tensor, with_value: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    rows, columns = x.shape
    x_gradient = torch.empty_like(x)
    value = torch.empty_like(x) if with_value else None
    blocks = triton.cdiv(columns, GELU_COLUMNS)
    programs = min(max(_programs(x.device, GELU_PROGRAMS) // blocks, 1), triton.cdiv(rows, GELU_ROWS))
    sums = x.new_empty((programs, columns), dtype=torch.float32)
    _gelu_gradient[(programs, blocks)](
        gradient, x, x_gradient, x_gradient if value is None else value, sums, rows, columns,
        ROWS=GELU_ROWS, COLUMNS=GELU_COLUMNS, VALUE=with_value, num_warps=4,
    )  # fmt: skip
    return x_gradient, sums.sum(0), value


def _warps(columns: int) -> int:
    return 1 if columns <= 1024 else 4


def _programs(device: torch.device, per_multiprocessor: int) -> int:
    if device.type != "cuda":  # Triton's interpreter
        return 4
    return per_multiprocessor * torch.cuda.get_device_properties(device).multi_processor_count
