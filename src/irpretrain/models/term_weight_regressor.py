"""DeepCT's model: an encoder, dropout, and one linear output over every position (section 3.1, equation 1).

It is saved as a Hugging Face token classifier with one label. There is no activation: weights are any real numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForTokenClassification

from irpretrain.foundation.errors import InputError, refusing
from irpretrain.models.encoder_files import read_config
from irpretrain.models.length_batches import padding_mask
from irpretrain.models.packed import attention_of, encode_packed, unpacked
from irpretrain.models.parameters import (
    HubModel,
    deviation_of,
    initialise,
    keep_layers,
    load_network,
    refuse_missing,
)

# Where a token classifier keeps its output layer, in every architecture that has one so called.
HEAD = "classifier."
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
        classifier, missing = load_network(AutoModelForTokenClassification, directory, REMEDY, config=config)
        fresh = {name for name, _ in classifier.named_parameters() if name.startswith(HEAD)}
        if not fresh:
            raise InputError(
                directory,
                f"token classifiers of type {config.model_type!r} have no output layer called {HEAD}",
                remedy="Take an encoder of another architecture, such as BERT's.",
            )
        refuse_missing(directory, missing - fresh)
        initialise(classifier, fresh, deviation_of(config), seed)
        return cls(classifier, directory)

    @classmethod
    def load(cls, directory: str | Path) -> TermWeightRegressor:
        """Load a token classifier with one label; InputError if there is none, or parts of it are missing."""
        directory = Path(directory)
        config = _read_config(directory)
        # The output layers of BERT's classifiers of sequences and of tokens have the same names and shapes.
        if "ForSequenceClassification" in str(config.architectures):
            raise InputError(directory, "this is a sequence classifier, no token classifier", remedy=REMEDY)
        classifier, missing = load_network(AutoModelForTokenClassification, directory, REMEDY, config=config)
        refuse_missing(directory, missing)
        return cls(classifier, directory)

    def set_dropout(self, encoder: float | None, head: float) -> None:
        """Set the dropout of the encoder's layers (None: as they are) and that before the output layer."""
        for name, module in self.classifier.named_modules():
            if isinstance(module, nn.Dropout):
                if name == "dropout":
                    module.p = head
                elif encoder is not None:
                    module.p = encoder
            elif encoder is not None and isinstance(getattr(module, "attention_dropout", None), float):
                module.attention_dropout = encoder  # ModernBERT's is no layer

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the weight of every position, float [sequences, positions]; arbitrary at padding."""
        attend = attention_of(self.encoder, self.packing)
        if attend is not None:
            states = encode_packed(self.encoder, input_ids, None, attention_mask, attend)
            weights = self.classifier.classifier(self.classifier.dropout(states)).squeeze(-1)
            return unpacked(weights, attention_mask)
        mask = padding_mask(self.encoder, attention_mask, input_ids.device)
        logits: Tensor = self.classifier(input_ids=input_ids, attention_mask=mask).logits
        return logits.squeeze(-1)


def _read_config(directory: Path) -> Any:
    read_config(directory, REMEDY)
    with refusing(directory, "this is no Hugging Face encoder", REMEDY):
        config = AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    config.num_labels = 1
    config.name_or_path = ""  # what names the directory has no place in results
    return config
