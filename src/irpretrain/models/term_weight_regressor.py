"""DeepCT's model: an encoder, dropout, and one linear output over every position (section 3.1, equation 1).

A saved model is a Hugging Face directory of a token classifier with one label, so that anything that loads such a model
gives the same weights. There is no activation: weights are any real numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForTokenClassification,
    PreTrainedModel,
)

from irpretrain.config.compute import Packing
from irpretrain.errors import InputError, refusing
from irpretrain.models.hub_model import SavedHubModel
from irpretrain.models.linear import use_fast_linear
from irpretrain.models.packed_encoder import attention_of, encode_packed, unpacked
from irpretrain.models.packed_families import packed
from irpretrain.models.padding_mask import padding_mask
from irpretrain.models.parameters import (
    deviation_of,
    initialise,
    keep_layers,
    load_network,
    refuse_missing,
)

HEAD = "classifier."
"""Where a token classifier keeps its output layer, in every architecture that has one so called."""
REMEDY = "Give an encoder that can be a token classifier: config.json, model.safetensors and tokenizer.json."


class TermWeightRegressor(SavedHubModel):
    """Weights of word pieces in their text.

    Attributes:
        classifier: encoder and output layer, in Hugging Face's shape.
        tokenizer_directory: where the tokenizer's files are copied from when the model is saved.
        packing: whether sequences are laid end to end, where the encoder can; see `ComputeConfig.packing`.
    """

    packing: Packing = "off"

    def __init__(self, classifier: PreTrainedModel, tokenizer_directory: Path) -> None:
        super().__init__()
        self.classifier = classifier
        self.tokenizer_directory = tokenizer_directory
        use_fast_linear(self)

    @classmethod
    def from_encoder(
        cls, directory: str | Path, layers: int | None = None, seed: int = 1
    ) -> TermWeightRegressor:
        """Put a fresh output layer on a pre-trained encoder.

        Args:
            directory: Hugging Face directory of an encoder, weights as safetensors.
            layers: keep only the first so many layers; None for all.
            seed: of the fresh parameters; they depend on nothing else.

        Raises:
            InputError: the directory holds no encoder that a token classifier can be made of.
            ConfigError: more layers are asked for than the encoder has.
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
        """Load a saved model: one of ours, or any token classifier with one label.

        Raises:
            InputError: the directory holds no such model, or parts of it are missing.
        """
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

    @property
    def network(self) -> Any:
        """Encoder and output layer: `classifier`, by which saved states name the weights."""
        return self.classifier

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the weight of every position, float [sequences, positions]; int64 arguments of that shape.

        What stands at padding means nothing. A GPU need not be waited for if the mask lies on the host.
        """
        bert, attend = self.bert, attention_of(self.encoder, self.packing)
        if bert is not None and attend is not None:
            classifier: Any = self.classifier
            states = encode_packed(bert, input_ids, None, attention_mask, attend)
            return unpacked(classifier.classifier(classifier.dropout(states)).squeeze(-1), attention_mask)
        mask = padding_mask(self.encoder, attention_mask, input_ids.device)
        with packed(self.encoder, attend, attention_mask):
            logits: Tensor = self.classifier(input_ids=input_ids, attention_mask=mask).logits
        return logits.squeeze(-1)


def _read_config(directory: Path) -> Any:
    with refusing(directory, "this is no Hugging Face encoder", REMEDY):
        config = AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    config.num_labels = 1
    config.name_or_path = ""  # what names the directory has no place in results
    return config
