"""Attention within each of some sequences that are laid end to end, without a position of padding.

Two ways give the same values but for rounding: torch's own kernel of variable length, on GPUs that have it, and one
call of torch's attention a sequence, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from irpretrain.models.to_device import to_device

OLDEST = (8, 0)
"""First compute capability with the kernel (Ampere)."""
WIDEST_HEAD, HEAD_STEP = 256, 8
"""The kernel's heads are multiples of HEAD_STEP up to WIDEST_HEAD wide."""


@dataclass(frozen=True)
class Bounds:
    """Where each of some sequences, laid end to end, begins and ends.

    Attributes:
        ends: int32 [sequences + 1], on the device that attends; the first is 0, the others are where a sequence ends.
        longest: no sequence is longer; in positions.
        device_lengths: int64 [sequences]; the lengths, on the device where they were counted.
    """

    ends: Tensor
    longest: int
    device_lengths: Tensor

    @classmethod
    def of(cls, lengths: Tensor, longest: int, device: torch.device | None = None) -> Bounds:
        """Return the bounds of sequences of the given lengths, int64 [sequences], for a device; None for theirs."""
        ends = functional.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
        return cls(ends if device is None else to_device(ends, device), longest, lengths)

    @cached_property
    def lengths(self) -> list[int]:
        """Of each sequence, on the host."""
        return list(self.device_lengths.tolist())


class PackedAttention(Protocol):
    """Attention of rows on all rows of their own sequence."""

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        asking: Bounds,
        asked: Bounds,
        dropout: float,
        reach: int | None = None,
    ) -> Tensor:
        """Return what each row of `query` reads.

        Args:
            query: float [rows that ask, heads, size of a head], laid end to end as `asking` says.
            key, value: float [rows, heads, size of a head], as `asked` says.
            asking, asked: of the same sequences; one may have rows that ask for nothing.
            dropout: of the shares of attention.
            reach: how many positions to either side a row reads, where all rows ask; None for the whole sequence.
        """


def by_sequence(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    asking: Bounds,
    asked: Bounds,
    dropout: float,
    reach: int | None = None,
) -> Tensor:
    """Attend by a call a sequence; see `PackedAttention`.

    A CPU does it in single precision, whatever the rest computes in: torch's gradients of attention in bf16 take
    1.4 to 4 times as long there (docs/benchmarks.md).
    """
    if query.device.type == "cpu" and query.dtype.itemsize < torch.float32.itemsize:
        with torch.autocast("cpu", enabled=False):
            attended = by_sequence(query.float(), key.float(), value.float(), asking, asked, dropout, reach)
        return attended.to(query.dtype)
    parts = zip(
        query.split(asking.lengths), key.split(asked.lengths), value.split(asked.lengths), strict=True
    )
    return torch.cat([_attend(*part, dropout, reach) for part in parts])


def _attend(query: Tensor, key: Tensor, value: Tensor, dropout: float, reach: int | None) -> Tensor:
    q, k, v = (x.transpose(0, 1)[None] for x in (query, key, value))  # [1, heads, rows, size of a head]
    near, rows = None, len(query)
    if reach is not None and rows > reach + 1:
        near = torch.ones(rows, rows, dtype=torch.bool, device=query.device).triu(-reach).tril(reach)
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=near, dropout_p=dropout)
    return attended[0].transpose(0, 1)


def by_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    asking: Bounds,
    asked: Bounds,
    dropout: float,
    reach: int | None = None,
) -> Tensor:
    """Attend by torch's kernel of variable length, which has no dropout; see `PackedAttention`."""
    from torch.nn.attention.varlen import varlen_attn

    assert dropout == 0.0
    window = (-1, -1) if reach is None else (reach, reach)
    ends, longest = (asking.ends, asked.ends), (asking.longest, asked.longest)
    attended = varlen_attn(query, key, value, *ends, *longest, window_size=window)
    assert isinstance(attended, Tensor)
    return attended


def no_kernel(device: torch.device, dtype: torch.dtype, head: int, dropout: float) -> str | None:
    """Return why torch's kernel of variable length cannot be used, or None where it can.

    Args:
        device: of the model.
        dtype: of matrix products.
        head: size of an attention head.
        dropout: of the shares of attention.
    """
    if device.type != "cuda":
        return "it needs a GPU"
    if not torch.backends.cuda.is_flash_attention_available() or _kernel_missing():
        return "this torch was built without it"
    if torch.cuda.get_device_capability(device) < OLDEST:
        return f"{torch.cuda.get_device_name(device)} is older than Ampere"
    if dtype not in (torch.bfloat16, torch.float16):
        return "it has no single precision; set compute.precision to bf16 or fp16"
    if head > WIDEST_HEAD or head % HEAD_STEP:
        return f"attention heads of {head} are none of its sizes"
    if dropout > 0:
        return (
            f"it has no dropout, and the encoder's attention has {dropout:g} (pretraining.attention_dropout: 0 "
            "takes it away)"
        )
    return None


def _kernel_missing() -> bool:
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401
    except ImportError:
        return True
    return False
