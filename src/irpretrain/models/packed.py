"""BERT over sequences laid end to end, without padding; its last layer only where it is read.

Embeddings, linear layers, LayerNorm and dropout treat each position by itself, and need no sequences; attention gets
their bounds. Values are those of the padded encoder but for rounding. Two ways: transformers' layers with one call of
torch's attention for sequences of equal length, anywhere; and on GPUs the layers of `irpretrain.models.fused_layers`.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from irpretrain.config.training import Packing
from irpretrain.models.encoder_batches import (
    EncoderBatch,
    Layout,
    PackedSequences,
    PaddedBatch,
    SequenceBounds,
    encoder_batch,
)
from irpretrain.models.fused_layers import compute_dtype, embed, encode_fused, why_not_fused
from irpretrain.models.parameters import HubModel, is_bert


def attend_by_sequence(
    query: Tensor,  # [rows, heads, size of a head], laid end to end by `query_bounds`
    # key, value: [rows, heads, size of a head], laid end to end by `key_bounds`; the same sequences.
    key: Tensor,
    value: Tensor,
    query_bounds: SequenceBounds,
    key_bounds: SequenceBounds,
    dropout: float,  # of the attention weights
) -> Tensor:
    """Return what each row of `query` reads of all rows of its own sequence."""
    # Single precision on a CPU: torch's gradients of attention in bf16 take 1.4 to 4 times as long there
    # (docs/benchmarks.md).
    if query.device.type == "cpu" and query.dtype.itemsize < torch.float32.itemsize:
        with torch.autocast("cpu", enabled=False):
            attention_output = attend_by_sequence(
                query.float(), key.float(), value.float(), query_bounds, key_bounds, dropout
            )
        return attention_output.to(query.dtype)
    # Sequences of equal lengths that follow each other are computed in one call; scoring sorts them by length.
    shapes = [
        (len([*equals]), *lengths)
        for lengths, equals in groupby(zip(query_bounds.lengths, key_bounds.lengths, strict=True))
    ]
    queries = query.split([count * length for count, length, _ in shapes])
    keys, values = (x.split([count * length for count, _, length in shapes]) for x in (key, value))
    outputs = []
    for (count, query_length, key_length), *rows in zip(shapes, queries, keys, values, strict=True):
        # [sequences, heads, rows of a sequence, size of a head]
        q, k, v = (
            x.unflatten(0, (count, length)).transpose(1, 2)
            for x, length in zip(rows, (query_length, key_length, key_length), strict=True)
        )
        output = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
        outputs.append(output.transpose(1, 2).flatten(0, 1))
    return torch.cat(outputs)


def encode_by_sequence(bert: BertModel, sequences: PackedSequences) -> Tensor:
    """Return the last hidden states of the rows read, float [rows read, hidden size]."""
    hidden = embed(bert, sequences)
    *earlier_layers, last_layer = bert.encoder.layer
    for layer in earlier_layers:
        hidden = _encode_layer(layer, hidden, hidden, sequences.bounds, sequences.bounds)
    read_rows = hidden if sequences.read_rows is None else hidden.index_select(0, sequences.read_rows)
    return _encode_layer(last_layer, read_rows, hidden, sequences.read_bounds, sequences.bounds)


def _encode_layer(
    layer: nn.Module, read_rows: Tensor, hidden: Tensor, read_bounds: SequenceBounds, bounds: SequenceBounds
) -> Tensor:
    bert_layer: Any = layer
    attention = bert_layer.attention.self
    head_shape = (-1, attention.num_attention_heads, attention.attention_head_size)
    query, key, value = (
        attention.query(read_rows).view(head_shape),
        attention.key(hidden).view(head_shape),
        attention.value(hidden).view(head_shape),
    )
    dropout = attention.dropout.p if attention.training else 0.0
    attention_output = attend_by_sequence(query, key, value, read_bounds, bounds, dropout)
    output: Tensor = bert_layer.feed_forward_chunk(
        bert_layer.attention.output(attention_output.flatten(1), read_rows)
    )
    return output


PackedEncoder = Callable[[Any, PackedSequences], Tensor]


def packed_encoder(encoder: Any, packing: Packing) -> PackedEncoder | None:
    """Return what encodes packed sequences on the encoder's device, in its precision; None: it computes padding."""
    if packing == "off" or not is_bert(encoder):
        return None
    if (
        encoder.device.type != "cpu"
        and why_not_fused(encoder, encoder.device, compute_dtype(encoder)) is None
    ):
        return encode_fused
    return None if packing == "auto" and encoder.device.type == "cuda" else encode_by_sequence


def encode_packed(encoder: Any, sequences: PackedSequences, packing: Packing) -> Tensor:
    """Return the last hidden states of the rows read, [rows read, hidden size], in the layout of `layout_of`."""
    encode = packed_encoder(encoder, packing)
    if encode is None:
        raise ValueError("this encoder computes padding here")
    return encode(encoder, sequences)


def classify_packed(model: HubModel, sequences: PackedSequences) -> tuple[Tensor, Tensor]:
    """Return the logits of a sequence classifier, [sequences, labels], and what `encode_packed` returns."""
    if not model.takes_types:  # transformers then gives a BERT the type 0 throughout
        sequences = replace(sequences, token_type_ids=torch.zeros_like(sequences.token_type_ids))
    states = encode_packed(model.encoder, sequences, model.packing)
    cls_states = states.index_select(0, sequences.cls_rows)[:, None]
    classifier = model.classifier
    return classifier.classifier(classifier.dropout(model.encoder.pooler(cls_states))), states


def layout_of(model: Any) -> Layout:
    """Return how batches for a model lie, on its device, in the precision that is set."""
    if not isinstance(model, HubModel):
        return Layout()
    encode = None if model.reads_all_layers else packed_encoder(model.encoder, model.packing)
    packs = encode is not None
    # A processor prepares products in narrow precision anew for each new shape: a fifth of the default's training.
    is_narrow = compute_dtype(model.encoder).itemsize < torch.float32.itemsize
    fills_up = model.device.type != "cpu" or (packs and is_narrow)
    return Layout(packs, fills_up, ends_on_device=encode is encode_fused)


def batch_of_tensors(model: HubModel, *tensors: Tensor, reads_all: bool = False) -> EncoderBatch:
    """Return the tensors of a `PaddedBatch`, on any device, as a batch for a model that need not have few sizes."""
    padded = PaddedBatch(*(tensor.cpu().numpy() for tensor in tensors))
    return encoder_batch(Layout(layout_of(model).packs), padded, padded.input_ids.shape[1], reads_all)
