"""BERT's last layer, computed only where somebody reads it.

A cross-encoder reads the last layer at [CLS], and masked language modelling at the masked positions. All positions
are needed as keys and values, but what follows the attention (three quarters of a layer's arithmetic) treats each
position by itself, so the others are left out. Values are those of the whole layer but for rounding.
"""

from __future__ import annotations

from torch import Tensor
from transformers import BertModel
from transformers.masking_utils import create_bidirectional_mask


def encode_rows(
    bert: BertModel, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor, rows: Tensor
) -> Tensor:
    """Return the last hidden state of chosen positions.

    Args:
        bert: the encoder.
        input_ids, token_type_ids, attention_mask: int64 [sequences, positions].
        rows: int64 [chosen]; numbers of positions, counted through all sequences in their order.

    Returns:
        float [chosen, hidden size].
    """
    hidden = bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
    mask = create_bidirectional_mask(config=bert.config, inputs_embeds=hidden, attention_mask=attention_mask)
    *before, last = bert.encoder.layer
    for layer in before:
        hidden = layer(hidden, mask)
    context, _ = last.attention.self(hidden, attention_mask=mask)
    attended = last.attention.output(_select(context, rows), _select(hidden, rows))
    output: Tensor = last.feed_forward_chunk(attended)
    return output


def _select(states: Tensor, rows: Tensor) -> Tensor:
    return states.reshape(-1, states.shape[-1]).index_select(0, rows)
