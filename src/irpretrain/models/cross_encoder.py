"""The cross-encoder: an encoder with a score head over [CLS] (or CEDR-KNRM) and an MLM head.

CEDR-KNRM: KNRM's kernels over every layer of the encoder, beside [CLS] (MacAvaney, Yates, Cohan, Goharian, "CEDR:
Contextualized Embeddings for Document Ranking", SIGIR 2019).

    M^l_ij = cos(h^l(q_i), h^l(d_j)),   l = 0 (embeddings) … layers
    φ_kl   = Σ_i log(Σ_j exp(−(M^l_ij − μ_k)² / 2σ_k²) + 10⁻⁶)
    f      = w · [φ, h^last([CLS])] + b

q_i and d_j are word pieces without special tokens. The kernels, whose means and deviations are trained too, and 10⁻⁶
are the released code's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification, BertConfig

from irpretrain.foundation.errors import ConfigError, InputError, refusing
from irpretrain.models.encoder_batches import EncoderBatch, PaddedBatch
from irpretrain.models.encoder_files import CEDR_FILE, REMEDY, read_config
from irpretrain.models.length_batches import padding_mask, to_device
from irpretrain.models.linear import use_fast_linear
from irpretrain.models.mlm_heads import MLM_HEAD_FILE, load_parameters, make_mlm_head, mlm_loss_sum
from irpretrain.models.neural.knrm import DEVIATIONS, MEANS
from irpretrain.models.packed import batch_of_tensors, classify_packed
from irpretrain.models.parameters import (
    HubModel,
    deviation_of,
    initialise,
    keep_layers,
    load_network,
    refuse_missing,
)
from irpretrain.text.pair_tokenizer import check_types, takes_types

# Added to a soft term frequency before its logarithm.
LOG_OFFSET = 1e-6


class CedrKnrmHead(nn.Module):
    """Scores from the hidden states of all layers."""

    def __init__(self, config: BertConfig, seed: int) -> None:
        super().__init__()
        self.means = nn.Parameter(torch.tensor(MEANS))
        self.deviations = nn.Parameter(torch.tensor(DEVIATIONS))
        feature_count = len(MEANS) * (config.num_hidden_layers + 1) + config.hidden_size
        with torch.random.fork_rng(devices=[]):  # the draws are replaced; see `initialise`
            self.combine = nn.Linear(feature_count, 1)
        initialise(self, {"combine.weight", "combine.bias"}, config.initializer_range, seed)

    def forward(
        self, layer_states: Sequence[Tensor], token_type_ids: Tensor, attention_mask: Tensor
    ) -> Tensor:
        """Return scores, float [sequences], in single precision; `layer_states` begins with the embeddings."""
        device = layer_states[0].device
        # Types and mask best lie on the host: otherwise the longest query's length has to be read from the GPU.
        query_mask, document_mask = text_masks(token_type_ids, attention_mask)
        query_mask = to_device(query_mask[:, 1 : 1 + int(query_mask.sum(1).max())], device)
        document_mask = to_device(document_mask, device)
        with torch.autocast(device.type, enabled=False):
            features = [self._pool(hidden.float(), query_mask, document_mask) for hidden in layer_states]
            return self.combine(torch.cat([*features, layer_states[-1][:, 0].float()], dim=1)).squeeze(-1)

    def _pool(self, hidden: Tensor, query_mask: Tensor, document_mask: Tensor) -> Tensor:
        unit_vectors = nn.functional.normalize(hidden, dim=-1, eps=1e-9)
        similarity = unit_vectors[:, 1 : 1 + query_mask.shape[1]] @ unit_vectors.transpose(1, 2)
        log_frequencies = []
        for mean, deviation in zip(self.means, self.deviations, strict=True):
            soft_matches = torch.exp(-0.5 * ((similarity - mean) / deviation) ** 2) * document_mask[:, None]
            log_frequencies.append(((soft_matches.sum(2) + LOG_OFFSET).log() * query_mask).sum(1))
        return torch.stack(log_frequencies, dim=1)


def text_masks(token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions of query and of document without special tokens, bool [sequences, positions] each."""
    is_token, is_second_text = attention_mask.bool(), token_type_ids.bool()
    query_mask, document_mask = is_token & ~is_second_text, is_token & is_second_text
    next_masks = nn.functional.pad(torch.stack([query_mask, document_mask]), (0, 1))[:, :, 1:]
    query_mask, document_mask = query_mask & next_masks[0], document_mask & next_masks[1]
    query_mask[:, 0] = False
    return query_mask, document_mask


# A saved model is a Hugging Face directory of a sequence classifier with one label, so that anything that loads such
# a model gives the same scores; the MLM head lies beside it in `mlm_head.safetensors`. With the head of CEDR-KNRM, in
# `cedr_knrm.safetensors`, only this class gives its scores.
#
# Of a BERT whose sequences are packed, the last layer is computed only where somebody reads it. Otherwise all is
# computed as transformers does, padding included.

# sentence-transformers puts a sigmoid over one-label models unless the configuration says otherwise.
IDENTITY_ACTIVATION = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.0"}

Head = Literal["mlp", "pooled", "cedr-knrm", "kept"]


class CrossEncoderModel(HubModel):
    """Scores sequences of query and document (PROP, section 3.1, equation 4).

    Attributes:
        classifier: encoder and score head, as a Hugging Face sequence classifier.
        cedr: the score head of CEDR-KNRM, in place of the classifier's; None without it.
    """

    def __init__(self, classifier: Any, mlm_head: nn.Module, tokenizer_directory: Path) -> None:
        super().__init__(classifier, tokenizer_directory)
        self.mlm_head = mlm_head
        self.cedr: CedrKnrmHead | None = None
        self.takes_types = takes_types(classifier, tokenizer_directory)
        if self.takes_types:
            check_types(classifier, tokenizer_directory)
        use_fast_linear(mlm_head)

    @classmethod
    def from_encoder(
        cls,
        directory: str | Path,  # Hugging Face directory of an encoder, weights as safetensors
        # Mlp is all fresh: of BERT a hidden layer with tanh in the pooler's place, dropout, and a linear
        # layer; of other architectures what transformers' sequence classifier has; pooled keeps the encoder's
        # own pooler and draws the rest; cedr-knrm has KNRM's kernels over all layers beside it (BERT only); kept
        # is that of the directory, a cross-encoder.
        head: Head = "mlp",
        layers: int | None = None,  # number of first layers to keep; None for all
        dropout: float | None = None,  # dropout of all layers; None keeps the encoder's own
        seed: int = 1,  # names the random streams of the fresh parameters; they depend on nothing else
        # Dropout of the shares of attention; None for that of `dropout`.
        attention_dropout: float | None = None,
    ) -> CrossEncoderModel:
        """Put fresh heads on a pre-trained encoder.

        Raises:
            InputError: the directory has no encoder as safetensors.
            ConfigError: too many layers, the pooled head without a pooler, cedr-knrm without a BERT, or kept with
                fewer layers.
        """
        directory = Path(directory)
        if head == "kept":
            if layers is not None:
                raise ConfigError(
                    "pretraining.head: kept reads the encoder's last layer; leave encoder.layers out"
                )
            return cls.load(directory, dropout, seed, attention_dropout)
        config = _read_config(directory, dropout, attention_dropout)
        keep_layers(config, layers, directory)
        if head == "cedr-knrm" and config.model_type != "bert":
            raise ConfigError(
                f"pretraining.head: cedr-knrm tells query from document by BERT's token types, but {directory} is of "
                f"type {config.model_type!r}; use head: mlp"
            )
        classifier, missing_names = load_network(
            AutoModelForSequenceClassification, directory, REMEDY, config=config
        )
        encoder_names = {
            name for name, _ in classifier.base_model.named_parameters(prefix=classifier.base_model_prefix)
        }
        pooler_names = {name for name in encoder_names if ".pooler." in name}
        fresh_names = {name for name, _ in classifier.named_parameters()} - encoder_names
        if head == "pooled" and (not pooler_names or pooler_names & missing_names):
            raise ConfigError(
                f"pretraining.head: pooled needs an encoder with a pooler, but {directory} has none; use head: mlp"
            )
        refuse_missing(directory, missing_names - fresh_names - pooler_names)
        if head == "mlp":
            fresh_names |= pooler_names
        initialise(classifier, fresh_names, deviation_of(config), seed)
        model = cls(classifier, make_mlm_head(directory, config, seed), directory)
        if head == "cedr-knrm":
            model.put_cedr(config, seed)
        return model

    @classmethod
    def load(
        cls,
        directory: str | Path,  # Hugging Face directory, weights as safetensors
        dropout: float | None = None,  # dropout of all layers; None keeps the model's own
        seed: int = 1,  # of the MLM head, should the directory have none
        # Dropout of the shares of attention; None for that of `dropout`.
        attention_dropout: float | None = None,
    ) -> CrossEncoderModel:
        """Load a saved cross-encoder, or any sequence classifier with one label; InputError if parts are missing."""
        directory = Path(directory)
        config = _read_config(directory, dropout, attention_dropout)
        if config.num_labels != 1:
            raise InputError(directory, f"a cross-encoder has one label, this model has {config.num_labels}")
        classifier, missing_names = load_network(
            AutoModelForSequenceClassification, directory, REMEDY, config=config
        )
        refuse_missing(directory, missing_names)
        model = cls(classifier, make_mlm_head(directory, config, seed), directory)
        if (path := directory / CEDR_FILE).exists():
            cedr = model.put_cedr(config, seed)
            with refusing(path, "these are not the weights of CEDR-KNRM's head"):
                load_parameters(cedr, path)
        return model

    def put_cedr(self, config: BertConfig, seed: int) -> CedrKnrmHead:
        """Put a fresh head of CEDR-KNRM in the classifier's place, and return it."""
        self.cedr, self.reads_all_layers = CedrKnrmHead(config, seed), True
        return self.cedr

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return raw scores, float [sequences], of int64 [sequences, positions]."""
        return self.encode(batch_of_tensors(self, input_ids, token_type_ids, attention_mask))[0]

    def encode(self, batch: EncoderBatch, flat: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return raw scores, float [sequences], and the last hidden states at masked positions, row-major.

        States of a batch that is filled up have rows behind those of its masked positions.

        Args:
            batch: the sequences.
            flat: what `PackedBatch.flat` has copied to the model's device; by default it is copied now.
        """
        if isinstance(batch, PaddedBatch):
            return self._encode_padded(batch)
        sequences = batch.on(self.device, flat)
        logits, states = classify_packed(self, sequences)
        scores = logits.squeeze(-1)
        if sequences.masked_rows is None:
            return scores, states[:0]
        return scores, states.index_select(0, sequences.masked_rows)

    def mlm_loss(self, states: Tensor, labels: Tensor, trains_encoder: bool = True) -> Tensor:
        """Return the summed cross-entropy (nats; PROP, equation 6) of the word pieces at masked positions.

        Args:
            states: of `encode`.
            labels: the word pieces, int64 [masked positions].
            trains_encoder: whether its gradient reaches the encoder, or only the MLM head.
        """
        embeddings = self.classifier.get_input_embeddings().weight
        if not trains_encoder:
            states, embeddings = states.detach(), embeddings.detach()
        return mlm_loss_sum(self.mlm_head, states, embeddings, labels)

    def _encode_padded(self, batch: PaddedBatch) -> tuple[Tensor, Tensor]:
        # Types and mask stay on the host too, where sizes are known at once: a GPU would have to be waited for.
        host_types, host_mask = (
            torch.from_numpy(array) for array in (batch.token_type_ids, batch.attention_mask)
        )
        ids = to_device(torch.from_numpy(batch.input_ids), self.device)
        types = to_device(host_types, self.device)
        mask = padding_mask(self.encoder, host_mask, self.device)
        if self.cedr is not None:
            types = types if self.takes_types else torch.zeros_like(types)
            output = self.encoder(ids, mask, types, output_hidden_states=True)
            scores = self.cedr(output.hidden_states, host_types, host_mask)
            return scores, _states_at(output.last_hidden_state, batch.mlm_mask)
        states: list[Tensor] = []
        token_types = {"token_type_ids": types} if self.takes_types else {}
        with self.encoder.register_forward_hook(lambda *call: states.append(call[-1][0])):
            logits = self.classifier(input_ids=ids, attention_mask=mask, **token_types).logits
        return logits.squeeze(-1), _states_at(states[0], batch.mlm_mask)

    def write_files(self, folder: Path) -> None:
        """Write the model's files, with the MLM head and the head of CEDR-KNRM, into an existing folder."""
        for head, name in ((self.mlm_head, MLM_HEAD_FILE), (self.cedr, CEDR_FILE)):
            if head is not None:
                state = {key: tensor.detach().cpu().contiguous() for key, tensor in head.named_parameters()}
                save_file(state, folder / name, metadata={"format": "pt"})
        super().write_files(folder)


def _states_at(states: Tensor, mlm_mask: np.ndarray | None) -> Tensor:
    if mlm_mask is None:
        return states[0, :0]
    # By numbers, which a mask on the host gives without waiting for a GPU; indexing by the mask would ask the device.
    rows = torch.from_numpy(np.flatnonzero(mlm_mask))
    return states.flatten(0, 1).index_select(0, to_device(rows, states.device))


def _read_config(directory: Path, dropout: float | None, attention_dropout: float | None) -> Any:
    """The configuration for a one-label classifier, without anything that names the directory."""
    model_config = read_config(directory)
    model_type = model_config.pop("model_type", "bert")
    architectures = model_config.get("architectures") or []
    for name in ("_name_or_path", "architectures", "transformers_version", "torch_dtype", "dtype"):
        model_config.pop(name, None)
    if not any(str(name).endswith("ForSequenceClassification") for name in architectures):
        for name in ("id2label", "label2id", "num_labels", "problem_type"):
            model_config.pop(name, None)
        model_config["num_labels"] = 1
    with refusing(directory, "config.json cannot be used", REMEDY):
        config = AutoConfig.for_model(model_type, **model_config)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False):
        raise InputError(
            directory, f"a model of type {model_type!r} is no encoder, or set to decode", remedy=REMEDY
        )
    config.sentence_transformers = dict(IDENTITY_ACTIVATION)
    for name in [name for name in config.to_dict() if "dropout" in name]:
        specific_dropout = attention_dropout if name.startswith("attention") else None
        if (value := dropout if specific_dropout is None else specific_dropout) is not None:
            setattr(config, name, value)
    return config
