"""BERT over sequences that are laid end to end: no layer computes a position of padding; other encoders are in
`packed_families`.

Embeddings, linear layers, LayerNorm and dropout treat each position by itself, so they need no sequences; the attention
is told where each begins (`packed_attention`). The last layer is computed only where somebody reads it, its queries
too. Values are those of the padded encoder but for rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

from irpretrain.config.compute import Packing
from irpretrain.models.packed_attention import Bounds, PackedAttention, by_kernel, by_sequence, no_kernel
from irpretrain.models.packed_families import can_pack
from irpretrain.models.parameters import is_bert
from irpretrain.models.to_device import to_device


def encode_packed(
    bert: BertModel,
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    attention_mask: Tensor,
    attend: PackedAttention,
    read: Tensor | None = None,
) -> Tensor:
    """Return the last hidden state of all positions but padding, or of those that are read.

    Args:
        bert: the encoder.
        input_ids, token_type_ids: int64 [sequences, positions]; no types: 0 everywhere.
        attention_mask: int64 [sequences, positions]; on the host, with `read`, or on the device. From the host it is
            known at once how many positions there are; on a GPU that has to be asked for, and everything waits.
        attend: the attention.
        read: bool [sequences, positions], none of it padding; None for all positions.

    Returns:
        float [positions read, hidden size], in row-major order.
    """
    width = attention_mask.shape[1]
    real = attention_mask.bool()
    rows = real.flatten().nonzero().squeeze(1)
    device = input_ids.device
    places = to_device(rows, device)
    asked = Bounds.of(real.sum(1), width, device)
    types = None if token_type_ids is None else token_type_ids.flatten()[places][None]
    hidden = bert.embeddings(
        input_ids=input_ids.flatten()[places][None], token_type_ids=types, position_ids=(places % width)[None]
    )[0]
    *before, last = bert.encoder.layer
    for layer in before:
        hidden = _layer(layer, hidden, hidden, asked, asked, attend)
    if read is None:
        return _layer(last, hidden, hidden, asked, asked, attend)
    asking = hidden[to_device(read.flatten()[rows].nonzero().squeeze(1), device)]
    return _layer(last, asking, hidden, Bounds.of(read.sum(1), width, device), asked, attend)


def _layer(
    layer: nn.Module, asking: Tensor, hidden: Tensor, ask: Bounds, asked: Bounds, attend: PackedAttention
) -> Tensor:
    """Return what a layer makes of the rows `asking`, which are some of `hidden`; float [rows, hidden size]."""
    parts: Any = layer
    attention = parts.attention.self
    heads = (-1, attention.num_attention_heads, attention.attention_head_size)
    query, key, value = (
        attention.query(asking).view(heads),
        attention.key(hidden).view(heads),
        attention.value(hidden).view(heads),
    )
    dropout = attention.dropout.p if attention.training else 0.0
    attended = parts.attention.output(attend(query, key, value, ask, asked, dropout).flatten(1), asking)
    output: Tensor = parts.feed_forward_chunk(attended)
    return output


def unpacked(values: Tensor, attention_mask: Tensor) -> Tensor:
    """Return values of positions, float [positions but padding, …], as [sequences, positions, …] with 0 for padding;
    the mask, int64 [sequences, positions], may lie on the host."""
    whole = values.new_zeros((*attention_mask.shape, *values.shape[1:]))
    real = attention_mask.bool().view(*attention_mask.shape, *(1,) * (values.dim() - 1))
    return whole.masked_scatter(to_device(real, values.device), values)


def attention_of(encoder: Any, packing: Packing) -> PackedAttention | None:
    """Return the attention that an encoder is to compute its packed sequences with, or None where it is to pad them.

    It depends on what the encoder does right now: on which device, in which precision (autocast), whether it trains.
    """
    if packing == "off" or not (is_bert(encoder) or can_pack(encoder)):
        return None
    if why_no_kernel(encoder, encoder.device, compute_dtype(encoder), encoder.training) is None:
        return by_kernel
    return None if packing == "auto" and encoder.device.type == "cuda" else by_sequence


def why_no_kernel(encoder: Any, device: torch.device, dtype: torch.dtype, training: bool) -> str | None:
    """Return why torch's attention of variable length cannot serve an encoder, or None where it can."""
    size = encoder.config.hidden_size // encoder.config.num_attention_heads
    return no_kernel(device, dtype, size, _attention_dropout(encoder) if training else 0.0)


def _attention_dropout(encoder: nn.Module) -> float:
    """The dropout of the shares of attention, of the first layer that has any."""
    for module in encoder.modules():
        if type(module).__name__.endswith("SelfAttention"):
            part: Any = module
            return float(part.dropout.p)
        if isinstance(share := getattr(module, "attention_dropout", None), float):
            return share
    return 0.0


def compute_dtype(encoder: Any) -> torch.dtype:
    """Return the precision of matrix products: autocast's, or the weights' own."""
    kind = encoder.device.type
    dtype: torch.dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else encoder.dtype
    return dtype
