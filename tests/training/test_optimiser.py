"""AdamW, schedule and clipping against plain formulas."""

import math

import pytest
import torch
from torch import nn

from irpretrain.config.training import OptimiserConfig
from irpretrain.training.trainer import clip_gradients, learning_rate, make_optimiser


def test_schedule_rises_and_falls() -> None:
    options = OptimiserConfig(learning_rate=1.0, warmup=0.4)
    rates = [learning_rate(options, step, 10) for step in range(10)]
    assert rates == pytest.approx([1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])


def test_schedule_without_warmup_or_decay() -> None:
    flat = OptimiserConfig(learning_rate=3.0, warmup=0, decay="none")
    assert [learning_rate(flat, step, 4) for step in range(4)] == [3.0] * 4
    falling = OptimiserConfig(learning_rate=1.0, warmup=0)
    assert [learning_rate(falling, step, 4) for step in range(4)] == [1, 0.75, 0.5, 0.25]
    rising = OptimiserConfig(learning_rate=1.0, warmup=1)
    assert [learning_rate(rising, step, 3) for step in range(3)] == [0.25, 0.5, 0.75]


def test_schedule_in_two_steps() -> None:
    """Wikiformer: 1e-5 for the first 50k steps, 5e-6 in the following; here a hundredth of the steps."""
    options = OptimiserConfig(learning_rate=1e-5, warmup=0.1, decay="step", later_rate=5e-6, later_from=500)
    rates = {step: learning_rate(options, step, 1000) for step in (0, 49, 99, 100, 499, 500, 999)}
    expected = {0: 1 / 101, 49: 50 / 101, 99: 100 / 101, 100: 1, 499: 1, 500: 0.5, 999: 0.5}
    assert rates == pytest.approx({step: 1e-5 * share for step, share in expected.items()})


def test_a_second_rate_needs_its_step() -> None:
    with pytest.raises(ValueError, match=r"later_from: is missing; .* later_from and decay step, or neither"):
        OptimiserConfig(decay="step", later_rate=1e-6)


class Toy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)
        self.norm = nn.LayerNorm(2)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.fill_(0.5)


@pytest.mark.parametrize("correct", [True, False])
def test_adamw_by_its_formula(correct: bool) -> None:
    options = OptimiserConfig(learning_rate=0.1, epsilon=1e-6, weight_decay=0.2, bias_correction=correct)
    model = Toy()
    optimiser = make_optimiser(model, options)
    weight, bias, m, v = 0.5, 0.5, 0.0, 0.0
    for step, gradient in enumerate([0.3, -0.1, 0.7], 1):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, gradient)
        optimiser.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        first, second = (m / (1 - 0.9**step), v / (1 - 0.999**step)) if correct else (m, v)
        update = 0.1 * first / (math.sqrt(second) + 1e-6)
        weight, bias = weight * (1 - 0.1 * 0.2) - update, bias - update
        assert model.linear.weight[0].tolist() == pytest.approx([weight] * 2, abs=1e-6)
        assert model.linear.bias.tolist() == pytest.approx([bias], abs=1e-6)
        assert model.norm.weight.tolist() == pytest.approx([bias] * 2, abs=1e-6)


def test_by_default_the_first_step_has_the_size_of_the_rate_whatever_the_gradient() -> None:
    model = Toy()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 1e-5)
    make_optimiser(model, OptimiserConfig(learning_rate=0.1)).step()
    assert model.linear.bias.tolist() == pytest.approx([0.5 - 0.1], rel=1e-3)


def gradients(*values: list[float]) -> list[nn.Parameter]:
    made = []
    for value in values:
        parameter = nn.Parameter(torch.zeros(len(value)))
        parameter.grad = torch.tensor(value)
        made.append(parameter)
    return made


def test_clipping_all_together_or_each_tensor() -> None:
    together = gradients([3.0], [4.0])
    assert float(clip_gradients(together, OptimiserConfig(clip=1.0))) == pytest.approx(5)
    assert [float(p.grad) for p in together] == pytest.approx([0.6, 0.8], rel=1e-5)
    each = gradients([3.0, 4.0], [0.5])
    norm = clip_gradients(each, OptimiserConfig(clip=1.0, clip_by="tensor"))
    assert float(norm) == pytest.approx(math.sqrt(25.25))
    assert each[0].grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)
    assert float(each[1].grad) == 0.5
    free = gradients([3.0], [4.0])
    assert float(clip_gradients(free, OptimiserConfig(clip=None))) == pytest.approx(5)
    assert float(free[0].grad) == 3.0
