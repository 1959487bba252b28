"""MLM heads, BERT's and those of other architectures in transformers; they predict chosen positions only.

Word embeddings are arguments of each call: copying or loading cannot break the tie. For a small encoder the projection
to the vocabulary costs as much as the encoder itself.
"""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModelForMaskedLM, BertConfig
from transformers.activations import ACT2FN
from transformers.modeling_outputs import BaseModelOutput

from irpretrain.foundation.errors import InputError, refusing
from irpretrain.models.fused_layers import compute_dtype, without_autocast
from irpretrain.models.linear import linear
from irpretrain.models.parameters import deviation_of, initialise, load_network, refuse_broken

MLM_HEAD_FILE = "mlm_head.safetensors"
REMEDY = "Take an encoder of another architecture, such as BERT's."

# Our names of the parameters of BERT's MLM head → those of Hugging Face's BERT with an MLM head.
MLM_HEAD_NAMES = {
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


class BertMlmHead(nn.Module):
    """BERT's MLM head: linear, activation, LayerNorm, then a decoder that is the word embeddings with a bias."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the draws are replaced; see `initialise`
            self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        return linear(self.transform(hidden), embeddings, self.bias)

    def transform(self, hidden: Tensor) -> Tensor:
        """Return what the word embeddings are multiplied by."""
        transformed: Tensor = self.layer_norm(self.activation(self.dense(hidden)))
        return transformed

    def load_pretrained(self, directory: Path) -> bool:
        """Take the MLM head that an encoder brings along; return whether it has a whole one."""
        path = directory / "model.safetensors"
        if not path.exists():
            return False
        weights = read_weights(path, prefix="cls.predictions.")
        tensors = {
            name: next(
                (weights[name_in_file] for name_in_file in names_in_file if name_in_file in weights), None
            )
            for name, names_in_file in MLM_HEAD_NAMES.items()
        }
        if any(tensor is None for tensor in tensors.values()):
            return False
        with refusing(path, "the weights of its MLM head do not fit its config.json"):
            self.load_state_dict(
                {name: tensor.float() for name, tensor in tensors.items() if tensor is not None}
            )
        refuse_broken(path, self)
        return True


class _EmbeddingsAsStates(nn.Module):
    """In an encoder's place: its last hidden states are what it is given for embeddings."""

    def forward(self, *_: Any, inputs_embeds: Tensor, **unread: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=inputs_embeds)


class TransformersMlmHead(nn.Module):
    """The MLM head of another architecture: transformers' model for it without the encoder.

    Raises:
        InputError: the architecture has no MLM head, or one that cannot be separated from its encoder.
    """

    def __init__(self, directory: Path, config: Any) -> None:
        super().__init__()
        network, missing_names = load_network(AutoModelForMaskedLM, directory, REMEDY, config=config)
        decoder, embeddings = network.get_output_embeddings(), network.get_input_embeddings().weight
        if decoder is None or decoder.weight.shape != embeddings.shape:
            raise InputError(
                directory,
                f"the MLM head of {type(network).__name__} does not end in a layer of the size of its word embeddings",
                remedy=REMEDY,
            )
        self._is_tied = decoder.weight is embeddings
        setattr(network, network.base_model_prefix, _EmbeddingsAsStates())
        if self._is_tied:
            del decoder._parameters["weight"]
        self.network = network
        self.decoder_name = next(name for name, module in network.named_modules() if module is decoder)
        self._is_pretrained = not missing_names.intersection(name for name, _ in network.named_parameters())

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        decoder_attributes = vars(self.network.get_submodule(self.decoder_name))
        if self._is_tied:
            decoder_attributes["weight"] = embeddings
        try:
            logits: Tensor = self.network(inputs_embeds=hidden[None]).logits[0]
        finally:
            decoder_attributes.pop("weight", None)
        return logits

    def load_pretrained(self, directory: Path) -> bool:
        """Return whether the directory that the head was made from has a whole one."""
        return self._is_pretrained


# The MLM loss. The logits of all masked positions, in single precision, would take more memory than the rest of a
# step. So in narrow precision they are computed, and their gradients taken, some positions at a time.

# Bytes that the logits of the positions computed at a time may take.
MAX_LOGIT_BYTES = 1 << 28

# Of these, what a processor takes the softmax of at a time: it stays in the caches.
CPU_SOFTMAX_BYTES = 1 << 21


def mlm_loss_sum(head: nn.Module, states: Tensor, embeddings: Tensor, labels: Tensor) -> Tensor:
    """Return the summed cross-entropy of a head's predictions, in nats, float32.

    Args:
        head: of this module.
        states: last hidden states, [positions, hidden size]; those beyond the labels are left out.
        embeddings: of word pieces, [vocabulary, hidden size].
        labels: word pieces, int64 [positions].
    """
    on_cpu = states.device.type == "cpu"
    if not isinstance(head, BertMlmHead) or (on_cpu and compute_dtype(states) == torch.float32):
        return functional.cross_entropy(
            head(states[: len(labels)], embeddings).float(), labels, reduction="sum"
        )
    labels = functional.pad(labels, (0, len(states) - len(labels)), value=IGNORED)
    loss: Tensor = _VocabularyLoss.apply(head.transform(states), embeddings, head.bias, labels)
    return loss


# Of the vocabulary, in matrix products of a GPU, which are slow otherwise.
VOCABULARY_MULTIPLE = 64

# Label of a position that is not predicted.
IGNORED = -100


class _VocabularyLoss(torch.autograd.Function):
    """Summed cross-entropy of logits x Eᵀ + b, whose gradients are computed with it.

    x is [positions, hidden size], E [vocabulary, hidden size], b [vocabulary], labels int64 [positions] or `IGNORED`.
    """

    @staticmethod
    def forward(context: Any, x: Tensor, embeddings: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
        dtype, on_cpu = compute_dtype(x), x.device.type == "cpu"
        with without_autocast(x.device):
            narrow_embeddings, narrow_bias, rows = embeddings.to(dtype), bias.to(dtype), x.to(dtype)
            padding = 0 if on_cpu else -len(bias) % VOCABULARY_MULTIPLE
            if padding:
                narrow_embeddings = functional.pad(narrow_embeddings, (0, 0, 0, padding))
                narrow_bias = functional.pad(narrow_bias, (0, padding), value=-torch.inf)
            loss = x.new_zeros((), dtype=torch.float32)
            x_gradient = torch.empty_like(rows)
            embeddings_gradient: Tensor | None = None
            bias_gradient = torch.zeros_like(narrow_bias, dtype=torch.float32)
            bytes_per_position = 4 * len(narrow_embeddings)
            chunk_rows = max(MAX_LOGIT_BYTES // bytes_per_position, 1)
            softmax_rows = max(CPU_SOFTMAX_BYTES // bytes_per_position, 1) if on_cpu else chunk_rows
            for rows_chunk, labels_chunk, gradient_chunk in zip(
                *(tensor.split(chunk_rows) for tensor in (rows, labels, x_gradient)), strict=True
            ):
                logits = torch.addmm(narrow_bias, rows_chunk, narrow_embeddings.t())
                for some_logits, some_labels in zip(
                    logits.split(softmax_rows), labels_chunk.split(softmax_rows), strict=True
                ):
                    loss += _replace_by_gradients(some_logits, some_labels, bias_gradient)
                logit_gradients = logits
                torch.mm(logit_gradients, narrow_embeddings, out=gradient_chunk)
                if context.needs_input_grad[1]:
                    product = torch.mm(logit_gradients.t(), rows_chunk)
                    embeddings_gradient = (
                        product if embeddings_gradient is None else embeddings_gradient.float().add_(product)
                    )
        context.dtypes = (x.dtype, embeddings.dtype, bias.dtype)
        context.save_for_backward(
            x_gradient,
            None if embeddings_gradient is None else embeddings_gradient[: len(bias)],
            bias_gradient[: len(bias)],
        )
        return loss

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x_gradient, embeddings_gradient, bias_gradient = (
            None if tensor is None else tensor.to(dtype, copy=True).mul_(gradient)
            for tensor, dtype in zip(context.saved_tensors, context.dtypes, strict=True)
        )
        return x_gradient, embeddings_gradient, bias_gradient, None


def _replace_by_gradients(logits: Tensor, labels: Tensor, bias_gradient: Tensor) -> Tensor:
    """Put the gradients of the summed cross-entropy into the place of the logits; return the sum, float32."""
    log_softmax = torch.log_softmax(logits, 1, dtype=torch.float32)
    loss = functional.nll_loss(log_softmax, labels, reduction="sum", ignore_index=IGNORED)
    gradients = log_softmax.exp_()
    is_predicted = (labels != IGNORED)[:, None].to(gradients.dtype)
    gradients.scatter_add_(1, labels.clamp(min=0)[:, None], -is_predicted)
    bias_gradient += gradients.mul_(is_predicted).sum(0)
    logits.copy_(gradients)
    return loss


def make_mlm_head(directory: Path, config: Any, seed: int) -> nn.Module:
    """Return the MLM head that a directory has, a saved model's or an encoder's, or else a fresh one."""
    head = BertMlmHead(config) if config.model_type == "bert" else TransformersMlmHead(directory, config)
    path = directory / MLM_HEAD_FILE
    if path.exists():
        with refusing(path, "these are not the weights of an MLM head"):
            load_parameters(head, path)
    elif not head.load_pretrained(directory):
        initialise(head, {name for name, _ in head.named_parameters()}, deviation_of(config), seed)
    return head


def load_parameters(module: nn.Module, path: Path) -> None:
    """Load all parameters of a module from a file that has no others."""
    weights, names = read_weights(path), {name for name, _ in module.named_parameters()}
    if unmatched_names := sorted(weights.keys() ^ names):
        raise InputError(path, f"parameters are missing or too many, such as {unmatched_names[0]}")
    module.load_state_dict(weights, strict=False)  # a parameter of two names has one in the file
    refuse_broken(path, module)


def read_weights(path: Path, prefix: str = "") -> dict[str, Tensor]:
    """Return the tensors of a file whose names begin with `prefix`."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys() if name.startswith(prefix)}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(path, f"the weights cannot be read: {error}") from None
