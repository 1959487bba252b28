"""Scores under autocast: a layer that scores stays in single precision."""

from __future__ import annotations

import torch
from torch import nn

from irpretrain.models.linear import Linear, ScoreLayer, use_fast_linear


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
