"""The linear layer, by oneDNN or not, equals torch's own, values and gradients; one that scores stays precise."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from irpretrain.models.linear import Linear, ScoreLayer, linear, onednn_is_faster, use_fast_linear

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN"
)


@pytest.mark.parametrize("by_onednn", [False, True])
@pytest.mark.parametrize("shape", [(5, 48), (3, 7, 48), (1, 48)])
def test_values_and_gradients_equal_double_precision(
    shape: tuple[int, ...], by_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irpretrain.models.linear.onednn_is_faster", lambda: by_onednn)
    torch.manual_seed(1)
    given = [torch.randn(*shape), torch.randn(96, 48), torch.randn(96)]
    single = [tensor.clone().requires_grad_() for tensor in given]
    double = [tensor.double().requires_grad_() for tensor in given]
    for inputs, function in ((single, linear), (double, nn.functional.linear)):
        torch.tanh(function(*inputs)).square().sum().backward()
    assert torch.allclose(linear(*given).double(), nn.functional.linear(*double), atol=1e-5)
    for a, b in zip(single, double, strict=True):
        assert a.grad is not None
        assert a.grad.shape == a.shape
        assert torch.allclose(a.grad.double(), b.grad, atol=1e-4)


def runs_onednn(layer: Linear, inputs: Tensor) -> bool:
    with torch.profiler.profile() as profile:
        layer(inputs)
    return any(event.name == "mkldnn::_linear_pointwise" for event in profile.events())


@needs_onednn
def test_it_is_used_where_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irpretrain.models.linear.onednn_is_faster", lambda: True)
    layer, inputs = Linear(8, 64), torch.ones(2, 8)
    assert runs_onednn(layer, inputs)
    assert not runs_onednn(Linear(8, 63), inputs)
    assert not runs_onednn(layer, inputs[:0])
    assert not runs_onednn(Linear(8, 64, dtype=torch.float64), inputs.double())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(inputs).dtype == torch.bfloat16
    with torch.backends.mkldnn.flags(enabled=False):
        assert not runs_onednn(layer, inputs)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not runs_onednn(layer, inputs)
    monkeypatch.undo()
    monkeypatch.setattr("irpretrain.models.linear.onednn_is_faster", lambda: False)
    assert not runs_onednn(layer, inputs)


@pytest.mark.parametrize(
    ("maker", "avx512", "faster"),
    [("AuthenticAMD", True, True), ("AuthenticAMD", False, False), ("GenuineIntel", True, False)],
    ids=["Zen 4", "Zen 3", "Intel"],
)
def test_onednn_is_for_processors_whose_avx512_mkl_does_not_use(
    maker: str, avx512: bool, faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: True)
    monkeypatch.setattr(Path, "read_text", lambda path, **_: f"vendor_id : {maker}")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": avx512})
    assert onednn_is_faster.__wrapped__() is faster


def test_frozen_inputs_get_no_gradient() -> None:
    layer = Linear(8, 64)
    layer.weight.requires_grad_(False)
    layer(torch.ones(2, 8)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad is not None


def test_scores_that_bf16_would_round_to_one_number_stay_apart() -> None:
    network = nn.Sequential(nn.Linear(3, 1))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[1.0, 1.0, 1.0]]))
        network[0].bias.zero_()
    rows = torch.tensor([[1.0, 2.0**-10, 0.0], [1.0, 0.0, 2.0**-11]])
    with torch.autocast("cpu", torch.bfloat16):
        assert len(set(network(rows).flatten().tolist())) == 1
        use_fast_linear(network)
        assert network(rows).flatten().tolist() == [1 + 2.0**-10, 1 + 2.0**-11]


def test_layers_with_more_outputs_take_the_fast_kernel() -> None:
    network = nn.Sequential(nn.Linear(3, 64), nn.Linear(64, 2), nn.Linear(2, 3, bias=False))
    use_fast_linear(network)
    assert [type(layer) for layer in network] == [Linear, ScoreLayer, nn.Linear]
