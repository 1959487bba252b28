"""Fused layers give what transformers' layers give: states and all gradients, whether a batch is filled up or not.

Attention of variable length needs a GPU; on a processor a call for each sequence takes its place. Plain kernels are
compared here; with Triton in its interpreter, or on a GPU, the same tests compare Triton's.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from transformers import BertConfig, BertModel

from irpretrain.models import fused_layers, kernels
from irpretrain.models.encoder_batches import READ_SIZE_CLASSES, PackedBatch, PaddedBatch, filled_size
from irpretrain.models.fused_layers import encode_fused, kernels_for, why_not_fused
from irpretrain.models.kernels import uniform
from irpretrain.models.mlm_heads import IGNORED, BertMlmHead, _VocabularyLoss
from irpretrain.models.packed import attend_by_sequence, encode_by_sequence

CPU = torch.device("cpu")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LENGTHS = [3, 12, 1, 7, 12]


@pytest.fixture(scope="module")
def bert() -> BertModel:
    """Its weights are large, so that what one position reads of another shows."""
    torch.manual_seed(1)
    options = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertModel(BertConfig(vocab_size=50, initializer_range=0.2, **options, **dropout)).train()


@pytest.fixture
def on_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call for each sequence attend, as there is no attention of variable length."""

    def attend(call: Any, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        nothing = torch.zeros(())
        bounds = call.read_bounds, call.bounds
        return attend_by_sequence(query, key, value, *bounds, 0.0), nothing, nothing, nothing

    def gradient(call: Any, into: Tensor, query: Tensor, key: Tensor, value: Tensor, *_: Any) -> Any:
        with torch.enable_grad():
            inputs = [each.detach().clone().requires_grad_() for each in (query, key, value)]
            attended = attend_by_sequence(*inputs, call.read_bounds, call.bounds, 0.0)
        return torch.autograd.grad(attended, inputs, into)

    monkeypatch.setattr(fused_layers, "_attend", attend)
    monkeypatch.setattr(fused_layers, "_attend_gradient", gradient)


def batch_of(lengths: Sequence[int], reads_all: bool = False, fills_up: bool = False) -> PackedBatch:
    draw = np.random.default_rng(3)
    mask = (np.arange(max(lengths))[None] < np.array(lengths)[:, None]).astype(np.int64)
    ids, types = draw.integers(5, 50, mask.shape) * mask, draw.integers(0, 2, mask.shape) * mask
    masked = (draw.random(mask.shape) < 0.3) & (mask == 1)
    return PackedBatch.of(PaddedBatch(ids, types, mask, masked), max(lengths), reads_all, fills_up)


def results(
    bert: BertModel, encode: Callable[..., Tensor], batch: PackedBatch, rows: int
) -> dict[str, Tensor]:
    """The states of the first rows that are read, and all gradients of a loss of them."""
    bert.zero_grad(set_to_none=True)
    states = encode(bert, batch.on(CPU))[:rows]
    states.sin().sum().backward()
    gradients = {name: p.grad for name, p in bert.named_parameters() if p.grad is not None}
    return {name: value.detach().clone() for name, value in ({"states": states} | gradients).items()}


@pytest.mark.usefixtures("on_a_processor")
@pytest.mark.parametrize("reads_all", [True, False])
@pytest.mark.parametrize("fills_up", [True, False])
@pytest.mark.parametrize("stores", [True, False])
def test_states_and_gradients_are_those_of_transformers_layers(
    bert: BertModel, monkeypatch: pytest.MonkeyPatch, reads_all: bool, fills_up: bool, stores: bool
) -> None:
    monkeypatch.setattr(fused_layers, "_fits_in_memory", lambda *_: stores)
    plain = batch_of(LENGTHS, reads_all)
    rows = sum(LENGTHS) if reads_all else len(plain.read_rows if plain.read_rows is not None else [])
    expected = results(bert, encode_by_sequence, plain, rows)
    found = results(bert, encode_fused, batch_of(LENGTHS, reads_all, fills_up), rows)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        torch.testing.assert_close(
            value, expected[name], rtol=1e-4, atol=1e-4, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.usefixtures("on_a_processor")
def test_layers_read_the_weights_as_they_are_now(bert: BertModel) -> None:
    """Torch's fused optimiser changes weights without a trace."""
    batch = batch_of(LENGTHS)
    weights = {name: tensor.clone() for name, tensor in bert.state_dict().items()}
    parameters = list(bert.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=0.1, fused=True)
    try:
        results(bert, encode_fused, batch, 1)
        optimiser.step()
        with torch.no_grad():
            changed = encode_fused(bert, batch.on(CPU))
            torch.testing.assert_close(changed, encode_by_sequence(bert, batch.on(CPU)), rtol=1e-4, atol=1e-4)
    finally:
        bert.load_state_dict(weights)


@pytest.mark.usefixtures("on_a_processor")
def test_every_dropout_draws_from_a_stream_of_its_own(
    bert: BertModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams: list[int] = []

    def note(positions: Tensor, seed: kernels.Seed) -> Tensor:
        streams.append(seed[1])
        return uniform(positions, seed)

    monkeypatch.setattr(kernels, "uniform", note)
    sequences = replace(batch_of(LENGTHS).on(CPU), seed=torch.tensor([5]))
    with_dropout = copy.deepcopy(bert)
    for layer in with_dropout.encoder.layer:
        layer.attention.output.dropout.p = 0.5
    encode_fused(with_dropout, sequences)
    assert len(streams) == len(set(streams)) == 2 * len(bert.encoder.layer)


@given(data=st.data())
def test_a_filled_up_batch_has_few_sizes_and_valid_sequences(data: st.DataObject) -> None:
    longest = data.draw(st.sampled_from([8, 64, 100, 512]))
    lengths = data.draw(st.lists(st.integers(2, longest), min_size=1, max_size=40))
    share = data.draw(st.sampled_from([0.0, 0.15, 0.6]))
    mask = (np.arange(max(lengths))[None] < np.array(lengths)[:, None]).astype(np.int64)
    masked = (np.random.default_rng(1).random(mask.shape) < share) & (mask == 1)
    plain, filled = (
        PackedBatch.of(PaddedBatch(mask, mask, mask, masked), longest, False, fills_up)
        for fills_up in (False, True)
    )
    assert plain.read_rows is not None
    assert filled.read_rows is not None
    rows, read = np.diff(filled.sequence_ends), np.diff(filled.read_ends)
    assert filled.max_length <= longest
    assert max(rows.max(), read.max()) <= filled.max_length
    # Attention leaves gradients of rows unwritten whose sequence nobody reads.
    assert ((rows > 0) == (read > 0)).all()
    owners = np.searchsorted(filled.sequence_ends, filled.read_rows, "right") - 1
    assert (owners == np.repeat(np.arange(len(read)), read)).all()
    for name in ("input_ids", "position_ids", "sequence_ends", "read_rows", "read_ends", "masked_rows"):
        first, whole = getattr(plain, name), getattr(filled, name)
        assert (whole[: len(first)] == first).all(), name
    assert filled.masked_rows is not None
    assert len(filled.input_ids) == filled_size(len(filled.input_ids))
    for numbers in (filled.read_rows, filled.masked_rows):
        assert len(numbers) == filled_size(len(numbers), READ_SIZE_CLASSES)
    assert (filled.position_ids < filled.max_length).all()


def test_the_step_between_sizes_grows_with_the_size() -> None:
    sizes = {1: 64, 64: 64, 65: 128, 2048: 2048, 2049: 2176, 4097: 4352, 62_300: 63_488}
    assert {rows: filled_size(rows) for rows in sizes} == sizes
    assert len({filled_size(rows) for rows in range(60_000, 64_000)}) <= 3


# What lies between matrix products and attention.


FASTEST: Any = kernels_for(DEVICE)


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


@pytest.mark.parametrize("columns", [32, 130])
def test_residual_norm_is_torch_s(columns: int) -> None:
    x, residual, weight, bias = drawn(9, columns), drawn(9, columns, seed=2), drawn(columns), drawn(columns)
    seed = torch.tensor([5], dtype=torch.int32, device=DEVICE), 1
    normal, total, mean, deviation = FASTEST.residual_norm(x, residual, weight, bias, 1e-6, 0.0, seed)
    inputs = [each.double().requires_grad_() for each in (x, weight, bias)]
    expected = functional.layer_norm(inputs[0] + residual.double(), (columns,), *inputs[1:], 1e-6)
    torch.testing.assert_close(normal.double(), expected, rtol=1e-4, atol=1e-4)
    gradient = drawn(9, columns, seed=3)
    expected.backward(gradient.double())
    into_total, into_x, sums = FASTEST.residual_norm_gradient(
        gradient, total, mean, deviation, weight, 0.0, seed
    )
    assert torch.equal(into_total, into_x)
    gradients = [*(each.grad for each in inputs), inputs[0].grad.sum(0)]
    for found, right in zip((into_x, *sums), gradients, strict=True):
        torch.testing.assert_close(found.double(), right, rtol=1e-4, atol=1e-4)


def test_dropout_of_a_residual_norm_drops_the_same_in_its_gradient() -> None:
    x, zeros, ones = (
        drawn(50, 64).abs() + 0.1,
        torch.zeros(50, 64, device=DEVICE),
        torch.ones(64, device=DEVICE),
    )
    masks = []
    for seed, stream in ((5, 1), (5, 2), (6, 1), (5, 1)):
        key = torch.tensor([seed], dtype=torch.int32, device=DEVICE), stream
        _, total, mean, deviation = FASTEST.residual_norm(x, zeros, ones, ones, 1e-6, 0.25, key)
        masks.append(total != 0)
        torch.testing.assert_close(total[masks[-1]], x[masks[-1]] / 0.75)
        into_total, into_x, _ = FASTEST.residual_norm_gradient(
            drawn(50, 64, seed=3), total, mean, deviation, ones, 0.25, key
        )
        torch.testing.assert_close(into_x, torch.where(masks[-1], into_total / 0.75, 0.0))
    assert 0.7 < float(masks[0].float().mean()) < 0.8
    assert torch.equal(masks[0], masks[3])
    for other in masks[1:3]:  # two streams agree as often as chance has it: 0.75² + 0.25²
        assert 0.58 < float((masks[0] == other).float().mean()) < 0.67


def test_draws_are_uniform_and_independent_of_their_neighbours() -> None:
    numbers = uniform(torch.arange(200_000), (torch.tensor([123]), 4)).double()
    assert float(numbers.min()) >= 0
    assert float(numbers.max()) < 1
    assert torch.histc(numbers, 10, 0, 1).sub(20_000).abs().max() < 600  # 4.5 standard deviations
    centred = numbers - 0.5
    for lag in (1, 2, 64, 768):
        correlation = float((centred[:-lag] * centred[lag:]).mean() / centred.square().mean())
        assert abs(correlation) < 0.012, lag


def test_gelu_s_gradient_is_torch_s() -> None:
    x, gradient = 3 * drawn(11, 96), drawn(11, 96, seed=2)
    into_x, sums, value = FASTEST.gelu_gradient(gradient, x, True)
    number = x.double().requires_grad_()
    expected = functional.gelu(number)
    expected.backward(gradient.double())
    for found, right in ((into_x, number.grad), (sums, number.grad.sum(0)), (value, expected)):
        torch.testing.assert_close(found.double(), right.detach(), rtol=1e-4, atol=1e-4)
    assert FASTEST.gelu_gradient(gradient, x, False)[2] is None


def test_the_loss_of_masked_pieces_is_cross_entropy_and_so_are_its_gradients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some positions at a time, the last of which only fill up."""
    monkeypatch.setattr("irpretrain.models.mlm_heads.MAX_LOGIT_BYTES", 50 * 4 * 5)
    monkeypatch.setattr("irpretrain.models.mlm_heads.CPU_SOFTMAX_BYTES", 50 * 4 * 2)
    torch.manual_seed(1)
    head = BertMlmHead(BertConfig(hidden_size=16, vocab_size=50))
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    embeddings, states = torch.randn(50, 16, requires_grad=True), torch.randn(11, 16, requires_grad=True)
    labels = torch.cat([torch.arange(7), torch.full((4,), IGNORED)])
    inputs = [embeddings, states, *head.parameters()]
    found = 3 * _VocabularyLoss.apply(head.transform(states), embeddings, head.bias, labels)
    expected = 3 * functional.cross_entropy(head(states[:7], embeddings), labels[:7], reduction="sum")
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for one, other in zip(*(torch.autograd.grad(loss, inputs) for loss in (found, expected)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


# Which encoders are fused.


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, None),
        ({"dtype": torch.float16}, None),
        ({"dtype": torch.float32}, "no single precision"),
        ({"hidden_size": 40, "num_attention_heads": 2}, "heads of 20"),
        ({"hidden_size": 528, "num_attention_heads": 2}, "heads of 264"),
        ({"hidden_act": "relu"}, "activation is relu"),
        ({"attention_probs_dropout_prob": 0.1}, None),
        ({"capability": (7, 5)}, "NVIDIA Made-up is older than Ampere"),
    ],
)
def test_why_layers_are_not_fused(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], reason: str | None
) -> None:
    choice = {
        "dtype": torch.bfloat16,
        "capability": (9, 0),
        "hidden_size": 64,
        "num_attention_heads": 2,
    } | options
    dtype, capability = choice.pop("dtype"), choice.pop("capability")
    monkeypatch.setattr(torch.backends.cuda, "is_flash_attention_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA Made-up")
    encoder, gpu = SimpleNamespace(config=BertConfig(**choice)), SimpleNamespace(type="cuda")
    found = why_not_fused(encoder, gpu, dtype)  # type: ignore[arg-type]
    assert found is None if reason is None else found is not None and reason in found
    assert why_not_fused(encoder, CPU, torch.bfloat16) == "it needs a GPU"


def test_a_processor_has_plain_kernels() -> None:
    assert kernels_for(CPU) is kernels
