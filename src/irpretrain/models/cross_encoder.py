"""The cross-encoder of PROP and its kin: an encoder, a score head over [CLS], and an MLM head.

A saved model is a Hugging Face directory of a sequence classifier with one label, so that anything that loads such a
model gives the same scores; the MLM head lies beside it in `mlm_head.safetensors`. With the head of CEDR-KNRM, in
`cedr_knrm.safetensors`, only this class gives its scores.

Of a BERT the last layer is computed only where somebody reads it. Sequences of a BERT and of some other architectures
may be packed; the rest are computed as transformers does, padding included.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification

from irpretrain.config.compute import Packing
from irpretrain.errors import ConfigError, InputError, refusing
from irpretrain.models.cedr_knrm import CedrKnrmHead
from irpretrain.models.chosen_rows import encode_read
from irpretrain.models.encoder_files import CEDR_FILE, REMEDY, read_config
from irpretrain.models.hub_model import SavedHubModel
from irpretrain.models.linear import use_fast_linear
from irpretrain.models.mlm_heads import MLM_HEAD_FILE, load_parameters, make_mlm_head
from irpretrain.models.packed_encoder import attention_of
from irpretrain.models.packed_families import packed
from irpretrain.models.parameters import (
    deviation_of,
    initialise,
    keep_layers,
    load_network,
    refuse_missing,
)
from irpretrain.models.to_device import to_device
from irpretrain.text.pair_tokenizer import takes_types

# sentence-transformers puts a sigmoid over one-label models unless the configuration says otherwise.
IDENTITY_ACTIVATION = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.0"}

Head = Literal["mlp", "pooled", "cedr-knrm"]


class CrossEncoder(SavedHubModel):
    """Scores sequences of query and document (PROP, section 3.1, equation 4).

    Attributes:
        classifier: encoder and score head, in Hugging Face's shape.
        mlm_head: the MLM head.
        tokenizer_directory: where the tokenizer's files are copied from when the model is saved.
        packing: whether sequences are laid end to end, where the encoder can; see `ComputeConfig.packing`.
        cedr: the score head of CEDR-KNRM, in place of the classifier's; None without it.
    """

    packing: Packing = "off"

    def __init__(self, classifier: Any, mlm_head: nn.Module, tokenizer_directory: Path) -> None:
        super().__init__()
        self.classifier = classifier
        self.mlm_head = mlm_head
        self.cedr: CedrKnrmHead | None = None
        self.tokenizer_directory = tokenizer_directory
        self._takes_types = self.bert is not None or takes_types(classifier, tokenizer_directory)
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
            directory: Hugging Face directory of an encoder, weights as safetensors.
            head: mlp is all fresh: of BERT a hidden layer with tanh in the pooler's place, dropout, and a linear layer;
                of other architectures what transformers' sequence classifier has; pooled keeps the encoder's own pooler
                and draws the rest; cedr-knrm has KNRM's kernels over all layers beside it (BERT only).
            layers: keep only the first so many layers; None for all.
            dropout: dropout of all layers; None keeps the encoder's own.
            seed: names the random streams of the fresh parameters; they depend on nothing else.
            attention_dropout: dropout of the shares of attention; None for that of `dropout`.

        Raises:
            InputError: the directory holds no encoder as safetensors.
            ConfigError: more layers asked for than the encoder has, the pooled head without a pooler, or cedr-knrm
                without a BERT.
        """
        directory = Path(directory)
        config = _read_config(directory, dropout, attention_dropout)
        keep_layers(config, layers, directory)
        if head == "cedr-knrm" and config.model_type != "bert":
            raise ConfigError(
                f"pretraining.head: cedr-knrm tells query from document by BERT's token types, but {directory} is of "
                f"type {config.model_type!r}; use head: mlp"
            )
        classifier, missing = load_network(
            AutoModelForSequenceClassification, directory, REMEDY, config=config
        )
        inside = {
            name for name, _ in classifier.base_model.named_parameters(prefix=classifier.base_model_prefix)
        }
        pooler = {name for name in inside if ".pooler." in name}
        fresh = {name for name, _ in classifier.named_parameters()} - inside
        if head == "pooled" and (not pooler or pooler & missing):
            raise ConfigError(
                f"pretraining.head: pooled needs an encoder with a pooler, but {directory} has none; use head: mlp"
            )
        refuse_missing(directory, missing - fresh - pooler)
        if head == "mlp":
            fresh |= pooler
        initialise(classifier, fresh, deviation_of(config), seed)
        model = cls(classifier, make_mlm_head(directory, config, seed), directory)
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
        """Load a saved cross-encoder: one of ours, or any sequence classifier with one label.

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
        classifier, missing = load_network(
            AutoModelForSequenceClassification, directory, REMEDY, config=config
        )
        refuse_missing(directory, missing)
        model = cls(classifier, make_mlm_head(directory, config, seed), directory)
        if (path := directory / CEDR_FILE).exists():
            model.cedr = CedrKnrmHead(config, seed)
            with refusing(path, "these are not the weights of CEDR-KNRM's head"):
                load_parameters(model.cedr, path)
        return model

    @property
    def network(self) -> Any:
        """Encoder and score head: `classifier`, by which saved states name the weights."""
        return self.classifier

    @property
    def config(self) -> Any:
        """The encoder's configuration."""
        return self.classifier.config

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
            order of `masked` (None without `masked`).
        """
        bert = self.bert
        if bert is None:
            scores, chosen = self._of_another_family(input_ids, token_type_ids, attention_mask, masked)
        elif self.cedr is None:
            first, chosen = encode_read(bert, input_ids, token_type_ids, attention_mask, masked, self.packing)
            assert bert.pooler is not None
            pooled = self.classifier.dropout(bert.pooler(first[:, None]))
            scores = self.classifier.classifier(pooled).squeeze(-1)
        else:
            mask = to_device(attention_mask, input_ids.device)
            output = bert(input_ids, mask, token_type_ids, output_hidden_states=True)
            scores = self.cedr(output.hidden_states, token_type_ids, mask)
            chosen = _states_at(output.last_hidden_state, masked)
        if masked is None:
            return scores, None
        embeddings = self.classifier.get_input_embeddings().weight
        if not mlm_trains_encoder:
            chosen, embeddings = chosen.detach(), embeddings.detach()
        return scores, self.mlm_head(chosen, embeddings)

    def _of_another_family(
        self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor, masked: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return scores, and last hidden states at masked positions, of any architecture."""
        states: list[Tensor] = []
        hook = self.classifier.base_model.register_forward_hook(lambda *given: states.append(given[-1][0]))
        mask = to_device(attention_mask, input_ids.device)
        types = {"token_type_ids": token_type_ids} if self._takes_types else {}
        try:
            with packed(self.encoder, attention_of(self.encoder, self.packing), attention_mask):
                logits = self.classifier(input_ids=input_ids, attention_mask=mask, **types).logits
        finally:
            hook.remove()
        return logits.squeeze(-1), _states_at(states[0], masked)

    def write_files(self, folder: Path) -> None:
        """Write the model's files, with the MLM head and the head of CEDR-KNRM, into an existing folder."""
        for head, name in ((self.mlm_head, MLM_HEAD_FILE), (self.cedr, CEDR_FILE)):
            if head is not None:
                state = {key: tensor.detach().cpu().contiguous() for key, tensor in head.named_parameters()}
                save_file(state, folder / name, metadata={"format": "pt"})
        super().write_files(folder)


def _states_at(states: Tensor, masked: Tensor | None) -> Tensor:
    """Return the states, float [sequences, positions, hidden size], where `masked` says, in row-major order."""
    if masked is None:
        return states[0, :0]
    # By numbers, which a mask on the host gives without waiting for a GPU; indexing by the mask would ask the device.
    rows = masked.reshape(-1).nonzero().squeeze(-1)
    return states.reshape(-1, states.shape[-1]).index_select(0, to_device(rows, states.device))


def _read_config(directory: Path, dropout: float | None, attention_dropout: float | None) -> Any:
    """The configuration for a one-label classifier, without anything that names the directory."""
    options = read_config(directory)
    kind = options.pop("model_type", "bert")
    architectures = options.get("architectures") or []
    for name in ("_name_or_path", "architectures", "transformers_version", "torch_dtype", "dtype"):
        options.pop(name, None)
    if not any(str(name).endswith("ForSequenceClassification") for name in architectures):
        for name in ("id2label", "label2id", "num_labels", "problem_type"):
            options.pop(name, None)
        options["num_labels"] = 1
    with refusing(directory, "config.json cannot be used", REMEDY):
        config = AutoConfig.for_model(kind, **options)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False):
        raise InputError(
            directory, f"a model of type {kind!r} is no encoder, or set to decode", remedy=REMEDY
        )
    config.sentence_transformers = dict(IDENTITY_ACTIVATION)
    for name in [name for name in config.to_dict() if "dropout" in name]:
        share = attention_dropout if name.startswith("attention") else None
        if (chosen := dropout if share is None else share) is not None:
            setattr(config, name, chosen)
    return config
