"""BERT's last layer, computed only at [CLS] and masked positions.

All positions are needed as keys and values, but what follows the attention (three quarters of a layer's arithmetic)
treats each position by itself. Values are those of the whole layer but for rounding.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import BertModel
from transformers.masking_utils import create_bidirectional_mask

from irpretrain.config.training import Packing
from irpretrain.models.length_batches import padding_mask, to_device
from irpretrain.models.packed import attention_of, encode_packed


def encode_read(
    bert: BertModel,  # the encoder
    # input_ids, token_type_ids: int64 [sequences, positions]; [CLS] comes first.
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    # int64 [sequences, positions]; on the host, with `masked`, a GPU need not be waited for.
    attention_mask: Tensor,
    masked: Tensor | None,  # bool [sequences, positions], none of it padding; None for none
    packing: Packing,  # whether padding is left out
) -> tuple[Tensor, Tensor]:
    """Return the last hidden states at [CLS], float [sequences, hidden size], and at masked positions, row-major."""
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
    """Return the last hidden states, float [chosen, hidden size], of positions `rows`, counted through all sequences.

    Ids, types and mask are int64 [sequences, positions]. With the mask on the host, a GPU need not be waited for.
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
