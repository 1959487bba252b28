"""Packed sequences in encoders beside BERT, through transformers' attention interface.

The encoder computes all sequences as one long row. transformers looks up the attention function by the name in the
encoder's configuration, and makes no mask for a function that it knows no mask for; ours attends within each sequence.
Embeddings take positions as an argument; everything else treats each position by itself. The head of the classifier
then reads the last states as it reads padded ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.modeling_outputs import BaseModelOutput

from irpretrain.models.packed_attention import Bounds, PackedAttention
from irpretrain.models.to_device import to_device

ATTENTION = "irpretrain-packed"
"""Name of our function in transformers' attention interface."""


def _from_zero(input_ids: Tensor, config: Any) -> Tensor:
    return torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)


def _behind_padding(input_ids: Tensor, config: Any) -> Tensor:
    """As RoBERTa numbers positions: from the padding's id on, over ids that are not the padding's."""
    counted = input_ids != config.pad_token_id
    return counted.cumsum(1) * counted + config.pad_token_id


POSITIONS: Mapping[str, Callable[[Tensor, Any], Tensor]] = {
    "electra": _from_zero,
    "modernbert": _from_zero,
    "roberta": _behind_padding,
    "xlm-roberta": _behind_padding,
}
"""Type of an encoder → the numbers of positions, int64 [sequences, positions], of ids and the configuration. Types that
are missing cannot be packed: DeBERTa attends by a function of its own, ALBERT pools inside the encoder; others were not
tried."""

_BY_ITSELF = threading.RLock()
"""Held while one of these encoders computes: how it does is changed for the time, which another thread must not see."""


def can_pack(encoder: Any) -> bool:
    """Whether an encoder, which is no BERT, can compute packed sequences."""
    config = encoder.config
    return (
        config.model_type in POSITIONS
        and not getattr(config, "is_decoder", False)
        and getattr(encoder, "pooler", None) is None
    )


@contextmanager
def packed(encoder: Any, attend: PackedAttention | None, attention_mask: Tensor) -> Iterator[None]:
    """Let an encoder compute its batches packed while the context lasts; as it does by itself without `attend`.

    Args:
        encoder: the encoder inside a classifier; it then takes int64 `input_ids`, `attention_mask` and, where it has
            any, `token_type_ids` alone, [sequences, positions], padding last, and returns states of 0 for padding.
        attend: the attention.
        attention_mask: that of the batch, int64 [sequences, positions]; on the host, a GPU need not be waited for.
    """
    if not can_pack(encoder):
        yield
        return
    with _BY_ITSELF:
        if attend is None:
            yield
        else:
            with _computing_packed(encoder, attend, attention_mask):
                yield


@contextmanager
def _computing_packed(encoder: Any, attend: PackedAttention, mask: Tensor) -> Iterator[None]:
    whole, replaced = encoder.forward, vars(encoder).get("forward")
    position_numbers = POSITIONS[encoder.config.model_type]

    def forward(input_ids: Tensor, token_type_ids: Tensor | None = None, **_: Any) -> BaseModelOutput:
        places = to_device(mask.flatten().nonzero().squeeze(1), input_ids.device)
        numbers = position_numbers(input_ids, encoder.config).flatten()[places]
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids.flatten()[places][None]}
        with _attending(encoder.config):
            states = whole(
                input_ids=input_ids.flatten()[places][None],
                position_ids=numbers[None],
                packed=_Packed(attend, Bounds.of(mask.bool().sum(1), mask.shape[1], input_ids.device)),
                **types,
            ).last_hidden_state[0]
        unpacked = states.new_zeros((mask.numel(), states.shape[-1])).index_copy(0, places, states)
        return BaseModelOutput(last_hidden_state=unpacked.view(*mask.shape, -1))

    encoder.forward = forward
    try:
        yield
    finally:
        del encoder.forward
        if replaced is not None:
            encoder.forward = replaced


@contextmanager
def _attending(config: Any) -> Iterator[None]:
    usual = config._attn_implementation
    config._attn_implementation = ATTENTION
    try:
        yield
    finally:
        config._attn_implementation = usual


@dataclass(frozen=True)
class _Packed:
    attend: PackedAttention
    bounds: Bounds


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    *,
    packed: _Packed,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """As transformers calls it: float [1, heads, rows, size of a head] in, [1, rows, heads, size of a head] out."""
    asking, asked, read = (states[0].transpose(0, 1) for states in (query, key, value))
    # transformers' window is that of flash attention: the row itself and so many less one to either side.
    reach = None if sliding_window is None else sliding_window - 1
    return packed.attend(asking, asked, read, packed.bounds, packed.bounds, dropout, reach)[None], None


AttentionInterface.register(ATTENTION, _attend)
