"""How much an encoder's first position attends to every other one in the last layer: what B-PROP draws words by."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn
from transformers import AutoModel

from irpretrain.errors import InputError
from irpretrain.models.length_batches import padding_mask
from irpretrain.models.parameters import (
    HubModel,
    keep_layers,
    load_network,
    read_network_config,
    refuse_missing,
)

# How transformers' classes of attention are called whose second output is what each position attends to.
ATTENTION = "SelfAttention"
REMEDY = "Give an encoder such as BERT: config.json, model.safetensors and tokenizer.json."


class ClsAttention(HubModel):
    """The attention of the first position ([CLS]), averaged over the heads of the last layer."""

    def __init__(self, network: nn.Module, attention: nn.Module) -> None:
        super().__init__()
        self.network = network
        self._last: Tensor | None = None
        attention.register_forward_hook(self._keep)

    @classmethod
    def from_encoder(cls, directory: str | Path, layers: int | None = None) -> ClsAttention:
        """Load a Hugging Face encoder (safetensors) with its first `layers` layers.

        Raises:
            InputError: there is no encoder, or one whose attention cannot be read.
            ConfigError: the encoder has fewer layers.
        """
        directory = Path(directory)
        config = read_network_config(directory, REMEDY)
        keep_layers(config, layers, directory)
        # Other implementations compute no matrix of attention.
        encoder, missing = load_network(
            AutoModel, directory, REMEDY, config=config, attn_implementation="eager"
        )
        refuse_missing(directory, {name for name in missing if not name.startswith("pooler.")})
        layers_of_attention = [part for part in encoder.modules() if type(part).__name__.endswith(ATTENTION)]
        if not layers_of_attention:
            raise InputError(
                directory,
                f"what {type(encoder).__name__} attends to cannot be read",
                remedy="Take an encoder of another architecture, such as BERT's.",
            )
        return cls(encoder, layers_of_attention[-1])

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return what the first position attends to, float [sequences, positions]; each row adds up to 1."""
        mask = padding_mask(self.network, attention_mask, input_ids.device)
        self.network(input_ids=input_ids, attention_mask=mask)
        assert self._last is not None
        return self._last

    def _keep(self, attention: nn.Module, given: object, made: tuple[Tensor, Tensor]) -> None:
        self._last = made[1][:, :, 0].mean(dim=1)
