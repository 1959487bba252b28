"""BERT's layers over packed sequences in few kernels, forward and backward, for GPUs.

Matrix products and attention are torch's, in bf16 or fp16; what lies between them is one kernel each
(`irpretrain.models.kernels`). Hidden states are held in the narrow precision; sums, norms and gradients of weights are
in single precision. A layer is one function of autograd: torch would record, launch and free some 60 operations for it.

With h [rows, hidden size] a layer's input, and d dropout:

    a = attention(h W_q, h W_k, h W_v) W_o
    s = norm(h + d(a))
    output = norm(s + d(gelu(s W_u) W_d))
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from transformers import BertModel

from irpretrain.models import kernels
from irpretrain.models.encoder_batches import PackedSequences, SequenceBounds
from irpretrain.models.kernels import Seed, why_no_triton

# First compute capability with torch's attention of variable length (Ampere).
MIN_CAPABILITY = (8, 0)

# Its heads are multiples of HEAD_STEP up to MAX_HEAD_SIZE wide.
MAX_HEAD_SIZE, HEAD_STEP = 256, 8

# Above this share of a GPU's memory, what a layer would store for its gradient is computed again instead.
MAX_STORED_SHARE = 0.5


def why_not_fused(encoder: Any, device: torch.device, dtype: torch.dtype) -> str | None:
    """Return why a BERT's layers cannot be fused on a device in a precision, or None if they can."""
    config = encoder.config
    head_size = config.hidden_size // config.num_attention_heads
    if device.type not in ("cuda", "meta"):
        return "it needs a GPU"
    if dtype not in (torch.bfloat16, torch.float16):
        return "it has no single precision; set compute.precision to bf16 or fp16"
    if head_size > MAX_HEAD_SIZE or head_size % HEAD_STEP:
        return f"attention heads of {head_size} are none of its sizes"
    if config.hidden_act != "gelu":
        return f"the encoder's activation is {config.hidden_act}, not gelu"
    if device.type == "cuda":
        if not torch.backends.cuda.is_flash_attention_available():
            return "this torch was built without it"
        if torch.cuda.get_device_capability(device) < MIN_CAPABILITY:
            return f"{torch.cuda.get_device_name(device)} is older than Ampere"
    return None


def compute_dtype(operand: Any) -> torch.dtype:
    """Return the precision of matrix products with a tensor or an encoder: autocast's, or its own."""
    device_type = operand.device.type
    uses_autocast = torch.amp.is_autocast_available(device_type) and torch.is_autocast_enabled(device_type)
    dtype: torch.dtype = torch.get_autocast_dtype(device_type) if uses_autocast else operand.dtype
    return dtype


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    available = torch.amp.is_autocast_available(device.type)
    return torch.autocast(device.type, enabled=False) if available else nullcontext()


class NarrowLayer:
    """A layer's parameters, and their copies in a narrower precision: one matrix for query, key and value."""

    def __init__(self, layer: Any, dtype: torch.dtype) -> None:
        attention, attention_output = layer.attention.self, layer.attention.output
        up, down = layer.intermediate.dense, layer.output.dense
        self.norm, self.last_norm = attention_output.LayerNorm, layer.output.LayerNorm
        linears = [attention.query, attention.key, attention.value, attention_output.dense, up, down]
        norms = [self.norm, self.last_norm]
        self.head_count, self.head_size = attention.num_attention_heads, attention.attention_head_size
        self.attention_dropout, self.dropout = float(attention.dropout.p), float(attention_output.dropout.p)
        self.epsilon = float(self.norm.eps)
        # In the order of the gradients that `_LayerFunction` returns.
        self.parameters = [p for module in (*linears, *norms) for p in (module.weight, module.bias)]
        with torch.inference_mode(False):
            joint_weight = torch.empty(
                (3 * up.in_features, up.in_features), dtype=dtype, device=up.weight.device
            )
            joint_bias = joint_weight.new_empty(3 * up.in_features)
            linear_copies = [
                (torch.empty_like(m.weight, dtype=dtype), torch.empty_like(m.bias, dtype=dtype))
                for m in linears[3:]
            ]
        self.query_key_value = (joint_weight, joint_bias)
        self.projection, self.up, self.down = linear_copies
        copy_pairs = [*zip(joint_weight.chunk(3), joint_bias.chunk(3), strict=True), *linear_copies]
        self.copies = [copy for pair in copy_pairs for copy in pair]
        self.copied_parameters = self.parameters[: len(self.copies)]


def kernels_for(device: torch.device) -> ModuleType:
    """Return the module of the fastest kernels that a device has."""
    if device.type != "cuda" or why_no_triton():
        return kernels
    from irpretrain.models import triton_kernels

    return triton_kernels


class NarrowLayers:
    """Narrow copies of an encoder's layers."""

    def __init__(self, encoder: Any, dtype: torch.dtype) -> None:
        self.layers = [NarrowLayer(layer, dtype) for layer in encoder.encoder.layer]
        self.dtype, self.device = dtype, encoder.device
        self.kernels = kernels_for(encoder.device)
        self._copies = [copy for layer in self.layers for copy in layer.copies]
        self._copied_parameters = [p for layer in self.layers for p in layer.copied_parameters]

    def copy_weights(self) -> None:
        # In every call: torch's fused optimiser changes parameters without a trace (`_version`).
        with torch.no_grad():
            torch._foreach_copy_(self._copies, self._copied_parameters)


_cached_layers: WeakKeyDictionary[Any, NarrowLayers] = WeakKeyDictionary()


def narrow_layers(encoder: Any, dtype: torch.dtype) -> NarrowLayers:
    layers = _cached_layers.get(encoder)
    if layers is None or (layers.dtype, layers.device) != (dtype, encoder.device):
        layers = _cached_layers[encoder] = NarrowLayers(encoder, dtype)
    layers.copy_weights()
    return layers


def embed(bert: BertModel, sequences: PackedSequences) -> Tensor:
    embedded: Tensor = bert.embeddings(
        input_ids=sequences.input_ids[None],
        token_type_ids=sequences.token_type_ids[None],
        position_ids=sequences.position_ids[None],
    )
    return embedded[0]


def encode_fused(bert: BertModel, sequences: PackedSequences) -> Tensor:
    """Return the last hidden states of the rows read, [rows read, hidden size], in the precision of products."""
    dtype = compute_dtype(bert)
    hidden = embed(bert, sequences).to(dtype)
    narrow_copies = narrow_layers(bert, dtype)
    trains = torch.is_grad_enabled()
    stores = not trains or _fits_in_memory(bert, hidden)
    *_, last_layer = narrow_copies.layers
    with without_autocast(hidden.device):  # everything is in its precision already
        for layer_index, layer in enumerate(narrow_copies.layers):
            read_rows = sequences.read_rows if layer is last_layer else None
            bounds = sequences.bounds if read_rows is None else sequences.read_bounds
            # The two dropouts of a layer draw from streams of their own.
            seeds = (sequences.seed, 2 * layer_index), (sequences.seed, 2 * layer_index + 1)
            dropouts = (layer.attention_dropout, layer.dropout) if bert.training else (0.0, 0.0)
            call = _Call(
                layer, narrow_copies.kernels, sequences.bounds, bounds, read_rows, *dropouts, stores, seeds
            )
            hidden = (
                _LayerFunction.apply(call, hidden, *layer.parameters) if trains else _forward(call, hidden)[0]
            )
    return hidden


def _fits_in_memory(bert: BertModel, hidden: Tensor) -> bool:
    """Whether everything that the layers need for their gradients may be stored, or some is computed again."""
    if hidden.device.type != "cuda":
        return True
    config = bert.config
    # Of each row: input, query, key, value, attended, two sums, the norm between them; before and after GELU.
    numbers_per_row = 8 * config.hidden_size + 2 * config.intermediate_size
    stored_bytes = len(hidden) * numbers_per_row * hidden.dtype.itemsize * config.num_hidden_layers
    return stored_bytes <= MAX_STORED_SHARE * torch.cuda.get_device_properties(hidden.device).total_memory


class _Call(NamedTuple):
    """A layer's call: everything but its input and parameters."""

    layer: NarrowLayer
    kernels: ModuleType
    bounds: SequenceBounds  # of the rows
    read_bounds: SequenceBounds  # of the rows read
    read_rows: Tensor | None  # the rows whose output is computed; None: all
    attention_dropout: float
    dropout: float
    stores: bool  # whether the inner layer's values are stored for the gradient
    seeds: tuple[Seed, Seed]  # of dropout, before either norm


def _attend(call: _Call, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    """Return what rows read of their sequences [rows, heads, size of a head], and what the gradient needs."""
    attention_output, *attention_state, _ = torch.ops.aten._flash_attention_forward(
        query, key, value, call.read_bounds.ends, call.bounds.ends, call.read_bounds.max_length, call.bounds.max_length,
        call.attention_dropout, False, False,
    )  # fmt: skip
    return attention_output, *attention_state


def _attend_gradient(
    call: _Call,
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_output: Tensor,
    attention_state: Sequence[Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    logsumexp, rng_state, unused = attention_state
    gradients: tuple[Tensor, Tensor, Tensor] = torch.ops.aten._flash_attention_backward(
        gradient, query, key, value, attention_output, logsumexp, call.read_bounds.ends, call.bounds.ends,
        call.read_bounds.max_length, call.bounds.max_length, call.attention_dropout, False, rng_state, unused,
    )  # fmt: skip
    return gradients


def _linear(x: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
    return torch.addmm(weights[1], x, weights[0].t())


def _weight_gradient(gradient: Tensor, x: Tensor) -> Tensor:
    """Return gradientᵀ x in single precision, float [outputs, inputs], of [rows, outputs] and [rows, inputs]."""
    if gradient.device.type == "cuda":
        return torch.mm(gradient.t(), x, out_dtype=torch.float32)
    return torch.mm(gradient.t(), x).float()


def _query_key_value(call: _Call, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the rows read, their queries, and keys and values of all rows; the last three [rows, heads, size]."""
    layer, (weight, bias) = call.layer, call.layer.query_key_value
    head_shape = (layer.head_count, layer.head_size)
    if call.read_rows is None:
        joint_states = torch.addmm(bias, hidden, weight.t()).view(len(hidden), 3, *head_shape)
        query, key, value = joint_states.unbind(1)
        return hidden, query, key, value
    hidden_size = hidden.shape[1]
    read_rows = hidden.index_select(0, call.read_rows)
    query = torch.addmm(bias[:hidden_size], read_rows, weight[:hidden_size].t()).view(-1, *head_shape)
    joint_states = torch.addmm(bias[hidden_size:], hidden, weight[hidden_size:].t())
    key, value = joint_states.view(len(hidden), 2, *head_shape).unbind(1)
    return read_rows, query, key, value


def _forward(call: _Call, hidden: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Return a layer's output and what its gradient needs."""
    layer, kernels = call.layer, call.kernels
    read_rows, query, key, value = _query_key_value(call, hidden)
    attention_output, *attention_state = _attend(call, query, key, value)
    projected = _linear(attention_output.flatten(1), layer.projection)
    norm_options = (layer.epsilon, call.dropout)
    norm, last_norm = layer.norm, layer.last_norm
    inner, total, *moments = kernels.residual_norm(
        projected, read_rows, norm.weight, norm.bias, *norm_options, call.seeds[0]
    )
    del projected
    up = _linear(inner, layer.up)
    activated = torch.nn.functional.gelu(up)
    down = _linear(activated, layer.down)
    output, last_total, *last_moments = kernels.residual_norm(
        down, inner, last_norm.weight, last_norm.bias, *norm_options, call.seeds[1]
    )
    stored_activations = [up, activated] if call.stores else []
    attention_tensors = [query, key, value, attention_output, *attention_state]
    return output, [
        hidden,
        read_rows,
        *attention_tensors,
        total,
        *moments,
        inner,
        last_total,
        *last_moments,
        *stored_activations,
    ]


class _LayerFunction(torch.autograd.Function):
    """A layer with its gradient, of its input and its parameters."""

    @staticmethod
    def forward(context: Any, call: _Call, hidden: Tensor, *parameters: nn.Parameter) -> Tensor:
        output, saved_tensors = _forward(call, hidden)
        context.call = call
        context.save_for_backward(*saved_tensors)
        return output

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        call: _Call = context.call
        layer, kernels = call.layer, call.kernels
        (
            hidden, read_rows, query, key, value, attention_output, logsumexp, rng_state, unused,
            total, mean, deviation, inner, last_total, last_mean, last_deviation, *stored_activations,
        ) = context.saved_tensors  # fmt: skip
        total_gradient, down_gradient, last_norm_gradients = kernels.residual_norm_gradient(
            gradient,
            last_total,
            last_mean,
            last_deviation,
            layer.last_norm.weight,
            call.dropout,
            call.seeds[1],
        )
        up = stored_activations[0] if stored_activations else _linear(inner, layer.up)
        activated_gradient = torch.mm(down_gradient, layer.down[0])
        up_gradient, up_bias_gradient, activated = kernels.gelu_gradient(
            activated_gradient, up, not stored_activations
        )
        down_weight_gradient = _weight_gradient(
            down_gradient, stored_activations[1] if activated is None else activated
        )
        del activated_gradient, activated, up, stored_activations, down_gradient
        inner_gradient = torch.addmm(total_gradient, up_gradient, layer.up[0])
        up_weight_gradient = _weight_gradient(up_gradient, inner)
        del up_gradient, total_gradient
        total_gradient, projected_gradient, norm_gradients = kernels.residual_norm_gradient(
            inner_gradient, total, mean, deviation, layer.norm.weight, call.dropout, call.seeds[0]
        )
        del inner_gradient
        projection_weight_gradient = _weight_gradient(projected_gradient, attention_output.flatten(1))
        attention_gradient = torch.mm(projected_gradient, layer.projection[0]).view_as(attention_output)
        query_gradient, key_gradient, value_gradient = (
            tensor.flatten(1)
            for tensor in _attend_gradient(
                call, attention_gradient, query, key, value, attention_output, (logsumexp, rng_state, unused)
            )
        )
        weight, hidden_size = layer.query_key_value[0], hidden.shape[1]
        if call.read_rows is None:
            joint_gradient = torch.cat([query_gradient, key_gradient, value_gradient], 1)
            hidden_gradient = torch.addmm(total_gradient, joint_gradient, weight)
            weight_gradients = _weight_gradient(joint_gradient, hidden).chunk(3)
            bias_gradients = joint_gradient.sum(0, dtype=torch.float32).chunk(3)
        else:
            joint_gradient = torch.cat([key_gradient, value_gradient], 1)
            hidden_gradient = torch.mm(joint_gradient, weight[hidden_size:])
            hidden_gradient.index_add_(
                0, call.read_rows, torch.addmm(total_gradient, query_gradient, weight[:hidden_size])
            )
            weight_gradients = (
                _weight_gradient(query_gradient, read_rows),
                *_weight_gradient(joint_gradient, hidden).chunk(2),
            )
            bias_gradients = (
                query_gradient.sum(0, dtype=torch.float32),
                *joint_gradient.sum(0, dtype=torch.float32).chunk(2),
            )
        attention_gradients = [
            tensor for pair in zip(weight_gradients, bias_gradients, strict=True) for tensor in pair
        ]
        linear_gradients = [
            projection_weight_gradient,
            norm_gradients[2],
            up_weight_gradient,
            up_bias_gradient,
            down_weight_gradient,
            last_norm_gradients[2],
        ]
        return (
            None,
            hidden_gradient,
            *attention_gradients,
            *linear_gradients,
            norm_gradients[0],
            norm_gradients[1],
            last_norm_gradients[0],
            last_norm_gradients[1],
        )
