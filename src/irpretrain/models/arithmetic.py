"""Floating-point operations of the matrix products of a training step, counted from sizes and lengths.

Counted is what the results need: no padding, in the last layer only positions that are read, and no recomputation in
the backward pass. A multiply-add is two operations. Lookups, LayerNorm, activations and the optimiser are left out, as
usual: the share of a device's peak is the MFU of Chowdhery et al. (2022, appendix B).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

# Passes over a product whose two factors both get gradients: each gradient is a product of the same size.
TRAINED = 3

# The same where a head is trained on states, and with embeddings, that are not: one of the two gradients.
HEAD_ALONE = 2


@dataclass(frozen=True)
class EncoderWork:
    """What a step asks of an encoder and its heads."""

    lengths: np.ndarray  # of the sequences, without padding; int64 [sequences]
    read: np.ndarray  # positions of each sequence that the last layer is read at; int64 [sequences]
    pooled: int = 0  # sequences that the pooler and the score head read
    predicted: int = 0  # positions that the MLM head predicts
    weighed: int = 0  # positions that one linear output reads
    # encoder, score, mlm: passes over the products of the encoder, the pooler with the outputs, and the MLM
    # head; 1 forward only, `TRAINED` with both gradients.
    encoder: int = TRAINED
    score: int = TRAINED
    mlm: int = TRAINED


@dataclass(frozen=True)
class EncoderSize:
    """The sizes of a BERT: layers, units of a layer, of its feed-forward network, and word pieces it knows."""

    layers: int
    hidden: int
    intermediate: int
    vocabulary: int

    @classmethod
    def of(cls, model: nn.Module) -> EncoderSize | None:
        """Return the sizes of a model's encoder, or None if it has none that is a BERT."""
        bert: Any = getattr(model, "bert", None)
        if bert is None:
            return None
        config = bert.config
        return cls(config.num_hidden_layers, config.hidden_size, config.intermediate_size, config.vocab_size)

    def operations(self, work: EncoderWork) -> int:
        """Return the floating-point operations of a step's matrix products."""
        hidden = self.hidden
        score = work.pooled * (hidden * hidden + hidden) + work.weighed * hidden
        mlm = work.predicted * hidden * (hidden + self.vocabulary)
        products = work.encoder * self._encoder_products(work) + work.score * score + work.mlm * mlm
        return 2 * int(products)

    def _encoder_products(self, work: EncoderWork) -> int:
        hidden, lengths, read = self.hidden, work.lengths.astype(np.int64), work.read.astype(np.int64)
        a_position = 2 * hidden * hidden + 2 * hidden * self.intermediate  # query, output, feed-forward
        keys_and_values = 2 * hidden * hidden * int(lengths.sum())

        def layer(asking: np.ndarray) -> int:
            attention = 2 * hidden * int((asking * lengths).sum())  # scores, and sums of values
            return keys_and_values + a_position * int(asking.sum()) + attention

        return (self.layers - 1) * layer(lengths) + layer(read)
