"""BERT's last layer, computed only where somebody reads it.

A cross-encoder reads the last layer at [CLS], and masked language modelling at the masked positions. All positions
are needed as keys and values, but what follows the attention (three quarters of a layer's arithmetic) treats each
position by itself, so the others are left out. Values are those of the whole layer but for rounding.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import BertModel
from transformers.masking_utils import create_bidirectional_mask

from irpretrain.config.compute import Packing
from irpretrain.models.packed_encoder import attention_of, encode_packed
from irpretrain.models.padding_mask import padding_mask
from irpretrain.models.to_device import to_device


def encode_read(
    bert: BertModel,
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    attention_mask: Tensor,
    masked: Tensor | None,
    packing: Packing,
) -> tuple[Tensor, Tensor]:
    """Return the last hidden states at [CLS] and at masked positions.

    Args:
        bert: the encoder.
        input_ids, token_type_ids: int64 [sequences, positions]; [CLS] comes first.
        attention_mask: int64 [sequences, positions]; on the host, with `masked`, a GPU need not be waited for.
        masked: bool [sequences, positions], none of it padding; None for none.
        packing: whether padding is left out.

    Returns:
        float [sequences, hidden size], and float [masked positions, hidden size] in row-major order.
    """
    (sequences, positions), device = input_ids.shape, input_ids.device
    attend = attention_of(bert, packing)
    if attend is None:
        rows = torch.arange(sequences, device=attention_mask.device) * positions
        if masked is not None:
            rows = torch.cat([rows, masked.reshape(-1).nonzero().squeeze(-1)])
        states = encode_rows(bert, input_ids, token_type_ids, attention_mask, to_device(rows, device))
        return states[:sequences], states[sequences:]
    read = torch.zeros_like(attention_mask, dtype=torch.bool) if masked is None else masked.clone()
    read[:, 0] = True
    states = encode_packed(bert, input_ids, token_type_ids, attention_mask, attend, read)
    counts = read.sum(1)
    chosen = states[:0] if masked is None else states[to_device(masked[read].nonzero().squeeze(1), device)]
    return states[to_device(counts.cumsum(0) - counts, device)], chosen


def encode_rows(
    bert: BertModel, input_ids: Tensor, token_type_ids: Tensor | None, attention_mask: Tensor, rows: Tensor
) -> Tensor:
    """Return the last hidden state of chosen positions.

    Args:
        bert: the encoder.
        input_ids, token_type_ids: int64 [sequences, positions].
        attention_mask: int64 [sequences, positions]; on the host, a GPU need not be waited for, or on the device.
        rows: int64 [chosen]; numbers of positions, counted through all sequences in their order.

    Returns:
        float [chosen, hidden size].
    """
    hidden = bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
    mask: Tensor | None = create_bidirectional_mask(  # type: ignore[assignment]
        config=bert.config,
        inputs_embeds=hidden,
        attention_mask=padding_mask(bert, attention_mask, hidden.device),
    )
    *before, last = bert.encoder.layer
    for layer in before:
        hidden = layer(hidden, mask)
    context, _ = last.attention.self(hidden, attention_mask=mask)
    attended = last.attention.output(_select(context, rows), _select(hidden, rows))
    output: Tensor = last.feed_forward_chunk(attended)
    return output


def _select(states: Tensor, rows: Tensor) -> Tensor:
    return states.reshape(-1, states.shape[-1]).index_select(0, rows)
