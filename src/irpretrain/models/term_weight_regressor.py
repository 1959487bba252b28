"""DeepCT's model: an encoder, dropout, and one linear output over every position (section 3.1, equation 1).

It is saved as a Hugging Face token classifier with one label. There is no activation: weights are any real numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForTokenClassification

from irpretrain.foundation.errors import InputError, refusing
from irpretrain.models.encoder_batches import EncoderBatch, Layout, PaddedBatch, encoder_batch
from irpretrain.models.encoder_files import read_config
from irpretrain.models.length_batches import padding_mask, to_device
from irpretrain.models.packed import batch_of_tensors, encode_packed
from irpretrain.models.parameters import (
    HubModel,
    deviation_of,
    initialise,
    keep_layers,
    load_network,
    refuse_missing,
)

# Where a token classifier keeps its output layer, in every architecture that has one so called.
HEAD_PREFIX = "classifier."
REMEDY = "Give an encoder that can be a token classifier: config.json, model.safetensors and tokenizer.json."


class TermWeightRegressor(HubModel):
    """Weights of word pieces in their text, by a Hugging Face token classifier."""

    @classmethod
    def from_encoder(
        cls, directory: str | Path, layers: int | None = None, seed: int = 1
    ) -> TermWeightRegressor:
        """Put a fresh output layer, drawn by `seed`, on the first `layers` layers of a pre-trained encoder.

        Raises:
            InputError: there is no encoder that a token classifier can be made of.
            ConfigError: the encoder has fewer layers.
        """
        directory = Path(directory)
        config = _read_config(directory)
        keep_layers(config, layers, directory)
        classifier, missing_names = load_network(
            AutoModelForTokenClassification, directory, REMEDY, config=config
        )
        fresh_names = {name for name, _ in classifier.named_parameters() if name.startswith(HEAD_PREFIX)}
        if not fresh_names:
            raise InputError(
                directory,
                f"token classifiers of type {config.model_type!r} have no output layer called {HEAD_PREFIX}",
                remedy="Take an encoder of another architecture, such as BERT's.",
            )
        refuse_missing(directory, missing_names - fresh_names)
        initialise(classifier, fresh_names, deviation_of(config), seed)
        return cls(classifier, directory)

    @classmethod
    def load(cls, directory: str | Path) -> TermWeightRegressor:
        """Load a token classifier with one label; InputError if there is none, or parts of it are missing."""
        directory = Path(directory)
        config = _read_config(directory)
        # The output layers of BERT's classifiers of sequences and of tokens have the same names and shapes.
        if "ForSequenceClassification" in str(config.architectures):
            raise InputError(directory, "this is a sequence classifier, no token classifier", remedy=REMEDY)
        classifier, missing_names = load_network(
            AutoModelForTokenClassification, directory, REMEDY, config=config
        )
        refuse_missing(directory, missing_names)
        return cls(classifier, directory)

    def set_dropout(self, encoder_dropout: float | None, head_dropout: float) -> None:
        """Set the dropout of the encoder's layers (None: as they are) and that before the output layer."""
        for name, module in self.classifier.named_modules():
            if isinstance(module, nn.Dropout):
                if name == "dropout":
                    module.p = head_dropout
                elif encoder_dropout is not None:
                    module.p = encoder_dropout
            elif encoder_dropout is not None and isinstance(
                getattr(module, "attention_dropout", None), float
            ):
                module.attention_dropout = encoder_dropout  # ModernBERT's is no layer

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the weight of every position, float [sequences, positions]; 0 at padding."""
        types = torch.zeros_like(input_ids)
        weights = self.weights(batch_of_tensors(self, input_ids, types, attention_mask, reads_all=True))
        is_token = to_device(attention_mask.bool(), weights.device)
        if weights.dim() == 2:
            return weights.masked_fill(~is_token, 0)
        return weights.new_zeros(is_token.shape).masked_scatter(is_token, weights)

    def weights(self, batch: EncoderBatch, flat: Tensor | None = None) -> Tensor:
        """Return the weight of every position, float [sequences, positions] or [rows]; arbitrary at padding.

        Args:
            batch: the texts.
            flat: what `PackedBatch.flat` has copied to the model's device; by default it is copied now.
        """
        if isinstance(batch, PaddedBatch):
            mask = padding_mask(self.encoder, torch.from_numpy(batch.attention_mask), self.device)
            ids = to_device(torch.from_numpy(batch.input_ids), self.device)
            logits: Tensor = self.classifier(input_ids=ids, attention_mask=mask).logits
            return logits.squeeze(-1)
        states = encode_packed(self.encoder, batch.on(self.device, flat), self.packing)
        weights: Tensor = self.classifier.classifier(self.classifier.dropout(states)).squeeze(-1)
        return weights


def text_batch(
    layout: Layout, input_ids: np.ndarray, attention_mask: np.ndarray, max_length: int
) -> EncoderBatch:
    """Return texts, int64 [sequences, positions], as a batch of which every position is read."""
    padded = PaddedBatch(input_ids, np.zeros_like(input_ids), attention_mask)
    return encoder_batch(layout, padded, max_length, reads_all=True)


def _read_config(directory: Path) -> Any:
    read_config(directory, REMEDY)
    with refusing(directory, "this is no Hugging Face encoder", REMEDY):
        config = AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    config.num_labels = 1
    config.name_or_path = ""  # what names the directory has no place in results
    return config
