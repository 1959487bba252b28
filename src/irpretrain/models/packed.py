"""BERT over sequences laid end to end, without padding; its last layer only where it is read.

Two ways, equal but for rounding: torch's kernel of variable length, on GPUs that have it, and one call of torch's
attention per sequence, anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from irpretrain.config.training import Packing
from irpretrain.models.length_batches import to_device
from irpretrain.models.parameters import is_bert

# First compute capability with the kernel (Ampere).
OLDEST = (8, 0)

# The kernel's heads are multiples of HEAD_STEP up to WIDEST_HEAD wide.
WIDEST_HEAD, HEAD_STEP = 256, 8


@dataclass(frozen=True)
class SequenceBounds:
    """Where each of some sequences, laid end to end, begins and ends."""

    # int32 [sequences + 1], on the device that attends; the first is 0, the others are where a sequence ends.
    ends: Tensor
    longest: int  # no sequence is longer; in positions
    device_lengths: Tensor  # int64 [sequences]; the lengths, on the device where they were counted

    @classmethod
    def of(cls, lengths: Tensor, longest: int, device: torch.device | None = None) -> SequenceBounds:
        """Return the bounds of sequences of the given lengths, int64 [sequences], for a device; None for theirs."""
        ends = functional.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
        return cls(ends if device is None else to_device(ends, device), longest, lengths)

    @cached_property
    def lengths(self) -> list[int]:
        return list(self.device_lengths.tolist())


# Attention of rows on all rows of their own sequence: from `query`, float [asking rows, heads, size of a head], laid
# end to end by `asking`, `key` and `value`, float [rows, heads, size of a head], by `requested`, the same sequences,
# and the dropout of the attention weights, to what each row of `query` reads.
PackedAttention = Callable[[Tensor, Tensor, Tensor, SequenceBounds, SequenceBounds, float], Tensor]


def by_sequence(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    asking: SequenceBounds,
    requested: SequenceBounds,
    dropout: float,
) -> Tensor:
    """Attend by one call per sequence; see `PackedAttention`."""
    # Single precision on a CPU: torch's gradients of attention in bf16 take 1.4 to 4 times as long there
    # (docs/benchmarks.md).
    if query.device.type == "cpu" and query.dtype.itemsize < torch.float32.itemsize:
        with torch.autocast("cpu", enabled=False):
            attended = by_sequence(query.float(), key.float(), value.float(), asking, requested, dropout)
        return attended.to(query.dtype)
    parts = zip(
        query.split(asking.lengths), key.split(requested.lengths), value.split(requested.lengths), strict=True
    )
    return torch.cat([_attend_one(*part, dropout) for part in parts])


def _attend_one(query: Tensor, key: Tensor, value: Tensor, dropout: float) -> Tensor:
    q, k, v = (x.transpose(0, 1)[None] for x in (query, key, value))  # [1, heads, rows, size of a head]
    attended = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
    return attended[0].transpose(0, 1)


def by_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    asking: SequenceBounds,
    requested: SequenceBounds,
    dropout: float,
) -> Tensor:
    """Attend by torch's kernel of variable length, which has no dropout; see `PackedAttention`."""
    from torch.nn.attention.varlen import varlen_attn

    assert dropout == 0.0
    ends, longest = (asking.ends, requested.ends), (asking.longest, requested.longest)
    attended = varlen_attn(query, key, value, *ends, *longest)
    assert isinstance(attended, Tensor)
    return attended


def no_kernel(device: torch.device, dtype: torch.dtype, head: int, dropout: float) -> str | None:
    """Return why torch's kernel of variable length cannot be used, or None if it can; `head` is a head's size."""
    if device.type != "cuda":
        return "it needs a GPU"
    if not torch.backends.cuda.is_flash_attention_available():
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


# BERT over sequences that are laid end to end: no layer computes a position of padding.
#
# Embeddings, linear layers, LayerNorm and dropout treat each position by itself, so they need no sequences; the
# attention gets the bounds (`packed_attention`). The last layer is computed only where somebody reads it,
# its queries too. Values are those of the padded encoder but for rounding.


def encode_packed(
    bert: BertModel,  # the encoder
    # input_ids, token_type_ids: int64 [sequences, positions]; no types: 0 everywhere.
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    # int64 [sequences, positions]; on the host, with `read`, or on the device. From the host it is known at
    # once how many positions there are; from a GPU it has to be fetched, and everything waits.
    attention_mask: Tensor,
    attend: PackedAttention,
    read: Tensor | None = None,  # bool [sequences, positions], none of it padding; None for all positions
) -> Tensor:
    """Return the last hidden states of `read` positions, or of all but padding, float [positions, hidden size]."""
    width = attention_mask.shape[1]
    real = attention_mask.bool()
    rows = real.flatten().nonzero().squeeze(1)
    device = input_ids.device
    positions = to_device(rows, device)
    requested = SequenceBounds.of(real.sum(1), width, device)
    types = None if token_type_ids is None else token_type_ids.flatten()[positions][None]
    hidden = bert.embeddings(
        input_ids=input_ids.flatten()[positions][None],
        token_type_ids=types,
        position_ids=(positions % width)[None],
    )[0]
    *before, last = bert.encoder.layer
    for layer in before:
        hidden = _layer(layer, hidden, hidden, requested, requested, attend)
    if read is None:
        return _layer(last, hidden, hidden, requested, requested, attend)
    asking = hidden[to_device(read.flatten()[rows].nonzero().squeeze(1), device)]
    return _layer(last, asking, hidden, SequenceBounds.of(read.sum(1), width, device), requested, attend)


def _layer(
    layer: nn.Module,
    asking: Tensor,
    hidden: Tensor,
    ask: SequenceBounds,
    requested: SequenceBounds,
    attend: PackedAttention,
) -> Tensor:
    parts: Any = layer
    attention = parts.attention.self
    heads = (-1, attention.num_attention_heads, attention.attention_head_size)
    query, key, value = (
        attention.query(asking).view(heads),
        attention.key(hidden).view(heads),
        attention.value(hidden).view(heads),
    )
    dropout = attention.dropout.p if attention.training else 0.0
    attended = parts.attention.output(attend(query, key, value, ask, requested, dropout).flatten(1), asking)
    output: Tensor = parts.feed_forward_chunk(attended)
    return output


def unpacked(values: Tensor, attention_mask: Tensor) -> Tensor:
    """Return float [positions but padding, …] as [sequences, positions, …], with 0 for padding."""
    whole = values.new_zeros((*attention_mask.shape, *values.shape[1:]))
    real = attention_mask.bool().view(*attention_mask.shape, *(1,) * (values.dim() - 1))
    return whole.masked_scatter(to_device(real, values.device), values)


def attention_of(encoder: Any, packing: Packing) -> PackedAttention | None:
    """Return the attention of packed sequences for the encoder's current device, precision and mode; None: it pads."""
    if packing == "off" or not is_bert(encoder):
        return None
    if why_no_kernel(encoder, encoder.device, compute_dtype(encoder), encoder.training) is None:
        return by_kernel
    return None if packing == "auto" and encoder.device.type == "cuda" else by_sequence


def why_no_kernel(encoder: Any, device: torch.device, dtype: torch.dtype, training: bool) -> str | None:
    """Return why torch's attention of variable length cannot serve a BERT, or None if it can."""
    size = encoder.config.hidden_size // encoder.config.num_attention_heads
    dropout = float(encoder.encoder.layer[0].attention.self.dropout.p)
    return no_kernel(device, dtype, size, dropout if training else 0.0)


def compute_dtype(encoder: Any) -> torch.dtype:
    """Return the precision of matrix products: autocast's, or the weights' own."""
    kind = encoder.device.type
    dtype: torch.dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else encoder.dtype
    return dtype


def encode_read(
    bert: BertModel,  # the encoder
    # input_ids, token_type_ids: int64 [sequences, positions]; [CLS] comes first.
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    # int64 [sequences, positions]; on the host, with `masked`, a GPU need not be waited for.
    attention_mask: Tensor,
    masked: Tensor | None,  # bool [sequences, positions], none of it padding; None for none
    attend: PackedAttention,
) -> tuple[Tensor, Tensor]:
    """Return the last hidden states at [CLS], float [sequences, hidden size], and at masked positions, row-major."""
    read = torch.zeros_like(attention_mask, dtype=torch.bool) if masked is None else masked.clone()
    read[:, 0] = True
    states = encode_packed(bert, input_ids, token_type_ids, attention_mask, attend, read)
    counts, device = read.sum(1), input_ids.device
    chosen = states[:0] if masked is None else states[to_device(masked[read].nonzero().squeeze(1), device)]
    return states[to_device(counts.cumsum(0) - counts, device)], chosen
