"""What all models over a Hugging Face network share: where it computes, how long its sequences may be, its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from irpretrain.atomic import atomic_directory
from irpretrain.errors import ConfigError
from irpretrain.models.parameters import bert_of, copy_tokenizer, open_weights, positions, quiet

if TYPE_CHECKING:
    from transformers import BertModel


class HubModel(nn.Module):
    """A model over a Hugging Face network, which a subclass holds as `network` or returns by a property `network`."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    @property
    def encoder(self) -> Any:
        """The encoder."""
        network: Any = self.network
        return network.base_model

    @property
    def bert(self) -> BertModel | None:
        """The encoder, if it is a BERT."""
        return bert_of(self.network)

    def check_length(self, max_length: int, key: str) -> None:
        """Raise ConfigError, naming the configuration's `key`, if sequences may exceed the encoder's positions."""
        most = positions(self.network)
        if most is not None and max_length > most:
            raise ConfigError(f"{key}: {max_length} is longer than the encoder's {most} positions; lower it")


class SavedHubModel(HubModel):
    """A model that is saved as a Hugging Face directory.

    Attributes:
        tokenizer_directory: where the tokenizer's files are copied from.
    """

    tokenizer_directory: Path

    def save(self, directory: str | Path) -> None:
        """Write the model and its tokenizer as a Hugging Face directory, atomically."""
        with atomic_directory(directory) as folder:
            self.write_files(folder)

    def write_files(self, folder: Path) -> None:
        """Write the model's files into an existing folder; equal weights give equal bytes."""
        network: Any = self.network
        with quiet():
            network.save_pretrained(folder)
        copy_tokenizer(self.tokenizer_directory, folder)
        open_weights(folder)
