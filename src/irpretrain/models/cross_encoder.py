"""The cross-encoder of PROP and its kin: a BERT encoder, a score head over [CLS], and an MLM head.

A saved model is a Hugging Face directory of a `BertForSequenceClassification` with one label, so that anything
that loads such a model gives the same scores; the MLM head lies beside it in `mlm_head.safetensors`. With the head
of CEDR-KNRM, in `cedr_knrm.safetensors`, only this class gives its scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import BertConfig, BertForSequenceClassification, BertModel
from transformers.activations import ACT2FN

from irpretrain.atomic import atomic_directory
from irpretrain.config.compute import Packing
from irpretrain.errors import ConfigError, InputError, refusing
from irpretrain.models.cedr_knrm import CEDR_FILE, CedrKnrmHead
from irpretrain.models.chosen_rows import encode_read
from irpretrain.models.encoder_files import REMEDY, read_config
from irpretrain.models.linear import linear, use_fast_linear
from irpretrain.models.parameters import (
    copy_tokenizer,
    initialise,
    keep_layers,
    load_bert,
    open_weights,
    quiet,
    refuse_missing,
)
from irpretrain.models.to_device import to_device

MLM_HEAD_FILE = "mlm_head.safetensors"

# sentence-transformers puts a sigmoid over one-label models unless the configuration says otherwise.
IDENTITY_ACTIVATION = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.0"}

Head = Literal["mlp", "pooled", "cedr-knrm"]


class MaskedLanguageModelHead(nn.Module):
    """BERT's MLM head: linear, activation, LayerNorm, then a decoder that is the word embeddings with a bias.

    The embeddings are handed over at each call, so that the tie cannot be lost by copying or loading.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the draws are replaced; see `initialise`
            self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """Return logits [masked positions, vocabulary] of hidden states [masked positions, hidden size]."""
        transformed = self.layer_norm(self.activation(self.dense(hidden)))
        return linear(transformed, embeddings, self.bias)


class CrossEncoder(nn.Module):
    """Scores [CLS] query [SEP] document [SEP] sequences (PROP, section 3.1, equation 4).

    Attributes:
        classifier: encoder and score head, in Hugging Face's shape.
        mlm_head: the MLM head.
        tokenizer_directory: where the tokenizer's files are copied from when the model is saved.
        packing: whether sequences are laid end to end; see `ComputeConfig.packing`.
        cedr: the score head of CEDR-KNRM, in place of the classifier's; None without it.
    """

    packing: Packing = "off"

    def __init__(
        self,
        classifier: BertForSequenceClassification,
        mlm_head: MaskedLanguageModelHead,
        tokenizer_directory: Path,
    ) -> None:
        super().__init__()
        self.classifier = classifier
        self.mlm_head = mlm_head
        self.cedr: CedrKnrmHead | None = None
        self.tokenizer_directory = tokenizer_directory
        use_fast_linear(self)

    @classmethod
    def from_encoder(
        cls,
        directory: str | Path,
        head: Head = "mlp",
        layers: int | None = None,
        dropout: float | None = None,
        seed: int = 1,
        attention_dropout: float | None = None,
    ) -> CrossEncoder:
        """Put fresh heads on a pre-trained encoder.

        Args:
            directory: Hugging Face directory of a BERT-architecture encoder, weights as safetensors.
            head: mlp is a fresh hidden layer with tanh in the pooler's place, dropout, and a fresh linear layer;
                pooled keeps the encoder's own pooler, followed by dropout and a fresh linear layer; cedr-knrm has
                KNRM's kernels over all layers beside it.
            layers: keep only the first so many layers; None for all.
            dropout: dropout of all layers; None keeps the encoder's own.
            seed: names the random streams of the fresh parameters; they depend on nothing else.
            attention_dropout: dropout of the shares of attention; None for that of `dropout`.

        Raises:
            InputError: the directory holds no BERT encoder as safetensors.
            ConfigError: more layers asked for than the encoder has, or the pooled head without a pooler.
        """
        directory = Path(directory)
        config = _read_config(directory, dropout, attention_dropout)
        keep_layers(config, layers, directory)
        classifier, missing = load_bert(BertForSequenceClassification, directory, config)
        fresh = {name for name in missing if name.startswith("classifier.")} | {
            "classifier.weight",
            "classifier.bias",
        }
        pooler = {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}
        if head == "pooled" and pooler & missing:
            raise ConfigError(
                f"pretraining.head: pooled needs an encoder with a pooler, but {directory} has none; use head: mlp"
            )
        refuse_missing(directory, missing - fresh - pooler)
        if head == "mlp":
            fresh |= pooler
        initialise(classifier, fresh, config.initializer_range, seed)
        mlm_head = MaskedLanguageModelHead(config)
        if not _load_own_mlm_head(mlm_head, directory):
            _initialise_mlm_head(mlm_head, config.initializer_range, seed)
        model = cls(classifier, mlm_head, directory)
        if head == "cedr-knrm":
            model.cedr = CedrKnrmHead(config, seed)
        return model

    @classmethod
    def load(
        cls,
        directory: str | Path,
        dropout: float | None = None,
        seed: int = 1,
        attention_dropout: float | None = None,
    ) -> CrossEncoder:
        """Load a saved cross-encoder: one of ours, or any BERT sequence classifier with one label.

        Args:
            directory: Hugging Face directory, weights as safetensors.
            dropout: dropout of all layers; None keeps the model's own.
            seed: of the MLM head, should the directory have none.
            attention_dropout: dropout of the shares of attention; None for that of `dropout`.

        Raises:
            InputError: the directory holds no such model, or parts of it are missing.
        """
        directory = Path(directory)
        config = _read_config(directory, dropout, attention_dropout)
        if config.num_labels != 1:
            raise InputError(directory, f"a cross-encoder has one label, this model has {config.num_labels}")
        classifier, missing = load_bert(BertForSequenceClassification, directory, config)
        refuse_missing(directory, missing)
        mlm_head = MaskedLanguageModelHead(config)
        path = directory / MLM_HEAD_FILE
        if path.exists():
            with refusing(path, "these are not the weights of an MLM head"):
                mlm_head.load_state_dict(_read_weights(path))
        elif not _load_own_mlm_head(mlm_head, directory):
            _initialise_mlm_head(mlm_head, config.initializer_range, seed)
        model = cls(classifier, mlm_head, directory)
        if (path := directory / CEDR_FILE).exists():
            model.cedr = CedrKnrmHead(config, seed)
            with refusing(path, "these are not the weights of CEDR-KNRM's head"):
                model.cedr.load_state_dict(_read_weights(path))
        return model

    @property
    def config(self) -> BertConfig:
        """The encoder's configuration."""
        return self.classifier.config

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.classifier.classifier.weight.device

    @property
    def bert(self) -> BertModel:
        """The encoder."""
        return self.classifier.bert

    def check_length(self, max_length: int, key: str) -> None:
        """Raise ConfigError, naming the configuration's `key`, if sequences may exceed the encoder's positions."""
        if max_length > self.config.max_position_embeddings:
            raise ConfigError(
                f"{key}: {max_length} is longer than the encoder's {self.config.max_position_embeddings} positions; "
                "lower it"
            )

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor,
        attention_mask: Tensor,
        masked: Tensor | None = None,
        mlm_trains_encoder: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Score sequences and, where asked, predict masked word pieces.

        Args:
            input_ids, token_type_ids: int64 [sequences, positions].
            attention_mask: int64 [sequences, positions]; with `masked` on the host, so that a GPU need not be asked
                how many positions there are, or on the device.
            masked: bool [sequences, positions]; which positions to predict. None for none.
            mlm_trains_encoder: whether gradients of the MLM logits reach the encoder, or only the MLM head.

        Returns:
            Raw scores, float [sequences], and MLM logits, float [masked positions, vocabulary], in row-major
            order of `masked` (None without `masked`). Logits are projected for those positions only: for a small
            encoder the projection costs as much as the encoder itself.
        """
        bert = self.classifier.bert
        if self.cedr is None:
            first, chosen = encode_read(bert, input_ids, token_type_ids, attention_mask, masked, self.packing)
            assert bert.pooler is not None
            pooled = self.classifier.dropout(bert.pooler(first[:, None]))
            scores = self.classifier.classifier(pooled).squeeze(-1)
        else:
            mask = to_device(attention_mask, input_ids.device)
            output = bert(input_ids, mask, token_type_ids, output_hidden_states=True)
            scores = self.cedr(output.hidden_states, token_type_ids, mask)
            read = torch.zeros_like(mask) if masked is None else to_device(masked, mask.device)
            chosen = output.last_hidden_state[read.bool()]
        if masked is None:
            return scores, None
        embeddings = bert.embeddings.word_embeddings.weight
        if not mlm_trains_encoder:
            chosen, embeddings = chosen.detach(), embeddings.detach()
        return scores, self.mlm_head(chosen, embeddings)

    def save(self, directory: str | Path) -> None:
        """Write the model, its tokenizer and its MLM head as a Hugging Face directory, atomically."""
        with atomic_directory(directory) as folder:
            self.write_files(folder)

    def write_files(self, folder: Path) -> None:
        """Write the model's files into an existing folder; equal weights give equal bytes."""
        with quiet():
            self.classifier.save_pretrained(folder)
        for head, name in ((self.mlm_head, MLM_HEAD_FILE), (self.cedr, CEDR_FILE)):
            if head is not None:
                state = {key: tensor.detach().cpu().contiguous() for key, tensor in head.state_dict().items()}
                save_file(state, folder / name, metadata={"format": "pt"})
        copy_tokenizer(self.tokenizer_directory, folder)
        open_weights(folder)


def _read_config(directory: Path, dropout: float | None, attention_dropout: float | None) -> BertConfig:
    """The configuration for a one-label classifier, without anything that names the directory."""
    options = read_config(directory)
    architectures = options.get("architectures") or []
    for name in ("_name_or_path", "architectures", "transformers_version", "torch_dtype", "dtype"):
        options.pop(name, None)
    if "BertForSequenceClassification" not in architectures:
        for name in ("id2label", "label2id", "num_labels", "problem_type"):
            options.pop(name, None)
        options["num_labels"] = 1
    with refusing(directory, "config.json cannot be used", REMEDY):
        config = BertConfig(**options)
    config.sentence_transformers = dict(IDENTITY_ACTIVATION)
    if dropout is not None:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        config.classifier_dropout = dropout
    if attention_dropout is not None:
        config.attention_probs_dropout_prob = attention_dropout
    return config


def _initialise_mlm_head(head: MaskedLanguageModelHead, deviation: float, seed: int) -> None:
    initialise(head, {"dense.weight", "dense.bias", "bias"}, deviation, seed)
    with torch.no_grad():
        head.layer_norm.weight.fill_(1.0)
        head.layer_norm.bias.zero_()


OWN_MLM_HEAD = {
    "dense.weight": ("cls.predictions.transform.dense.weight",),
    "dense.bias": ("cls.predictions.transform.dense.bias",),
    "layer_norm.weight": (
        "cls.predictions.transform.LayerNorm.weight",
        "cls.predictions.transform.LayerNorm.gamma",
    ),
    "layer_norm.bias": (
        "cls.predictions.transform.LayerNorm.bias",
        "cls.predictions.transform.LayerNorm.beta",
    ),
    "bias": ("cls.predictions.bias", "cls.predictions.decoder.bias"),
}
"""Our names of the MLM head's parameters → those of Hugging Face's BERT with an MLM head."""


def _load_own_mlm_head(head: MaskedLanguageModelHead, directory: Path) -> bool:
    """Take the MLM head that an encoder brings along; return whether it has a whole one."""
    path = directory / "model.safetensors"
    if not path.exists():
        return False
    weights = _read_weights(path, prefix="cls.predictions.")
    tensors = {
        name: next((weights[n] for n in names if n in weights), None) for name, names in OWN_MLM_HEAD.items()
    }
    if any(tensor is None for tensor in tensors.values()):
        return False
    with refusing(path, "the weights of its MLM head do not fit its config.json"):
        head.load_state_dict({name: tensor.float() for name, tensor in tensors.items() if tensor is not None})
    return True


def _read_weights(path: Path, prefix: str = "") -> dict[str, Tensor]:
    try:
        if not prefix:
            return load_file(path)
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys() if name.startswith(prefix)}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(path, f"the weights cannot be read: {error}") from None
