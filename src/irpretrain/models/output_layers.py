"""Encoders of pre-trained models under a fresh output layer, for the tasks beside retrieval.

They are Hugging Face's own models, so that a saved directory loads in `AutoModelForQuestionAnswering` or
`AutoModelForSequenceClassification` with equal logits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from torch import Tensor
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertPreTrainedModel,
)

from irpretrain.errors import InputError, refusing
from irpretrain.models.encoder_files import REMEDY, read_config
from irpretrain.models.hub_model import SavedHubModel
from irpretrain.models.linear import use_fast_linear
from irpretrain.models.padding_mask import padding_mask
from irpretrain.models.parameters import (
    initialise,
    load_network,
    refuse_missing,
)

NOT_OF_THE_ENCODER = (
    "_name_or_path",
    "architectures",
    "transformers_version",
    "torch_dtype",
    "dtype",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "sentence_transformers",
)
"""What a model's config.json says of its directory or of its own output layer."""


class OutputLayerModel(SavedHubModel):
    """An encoder and the output layer of a task.

    Attributes:
        network: both, in Hugging Face's shape.
        tokenizer_directory: where the tokenizer's files are copied from when the model is saved.
    """

    architecture: Any
    """Hugging Face's class."""
    layer: str
    """Prefix of the output layer's parameters."""

    def __init__(self, network: BertPreTrainedModel, tokenizer_directory: Path) -> None:
        super().__init__()
        self.network = network
        self.tokenizer_directory = tokenizer_directory
        use_fast_linear(self)

    @classmethod
    def from_model(
        cls, directory: str | Path, labels: list[str], dropout: float | None = None, seed: int = 1
    ) -> Self:
        """Take the encoder of a saved model of BERT's architecture, whatever its head, and draw an output layer.

        Args:
            directory: Hugging Face directory, weights as safetensors.
            labels: names of the outputs.
            dropout: of all layers and before the output layer; None keeps the model's own.
            seed: of the fresh parameters; they depend on nothing else.

        Raises:
            InputError: the directory holds no BERT as safetensors, or parts of the encoder are missing.
        """
        directory = Path(directory)
        given = read_config(directory)
        if (kind := given.get("model_type", "bert")) != "bert":
            raise InputError(
                directory,
                f"tasks beside retrieval are trained with BERT alone, this model is of type {kind!r}",
                remedy="Name models of BERT's architecture in `downstream`.",
            )
        options = {key: value for key, value in given.items() if key not in NOT_OF_THE_ENCODER}
        names: dict[str, Any] = {
            "id2label": dict(enumerate(labels)),
            "label2id": {n: i for i, n in enumerate(labels)},
        }
        with refusing(directory, "config.json cannot be used", REMEDY):
            config = BertConfig(**options, **names)
        if dropout is not None:
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
            config.classifier_dropout = dropout
        network, missing = load_network(cls.architecture, directory, REMEDY, config=config)
        fresh = {name for name, _ in network.named_parameters() if name.startswith(cls.layer)}
        refuse_missing(directory, missing - fresh)
        initialise(network, fresh, config.initializer_range, seed)
        return cls(network, directory)


class SpanReader(OutputLayerModel):
    """Predicts where an answer starts and ends: two linear outputs over every position (Devlin et al., 2019, 4.2)."""

    architecture = BertForQuestionAnswering
    layer = "qa_outputs."

    @classmethod
    def from_encoder(cls, directory: str | Path, dropout: float | None = None, seed: int = 1) -> Self:
        """See `from_model`; the outputs are start and end."""
        return cls.from_model(directory, ["start", "end"], dropout, seed)

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the logits of starts and of ends, float [sequences, positions], of int64 arguments of that shape; the
        mask best on the host."""
        mask = padding_mask(self.encoder, attention_mask, input_ids.device)
        output = self.network(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=mask)
        return output.start_logits, output.end_logits


class SentenceClassifier(OutputLayerModel):
    """Labels a sentence or a pair from the pooled [CLS]; with one label it is a regression."""

    architecture = BertForSequenceClassification
    layer = "classifier."

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return logits, float [sequences, labels], of int64 [sequences, positions]; the mask best on the host."""
        mask = padding_mask(self.encoder, attention_mask, input_ids.device)
        logits: Tensor = self.network(
            input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=mask
        ).logits
        return logits
