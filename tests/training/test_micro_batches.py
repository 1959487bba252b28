"""Micro-batches: what dropout drops in each, and how the gradients of recorded ones add up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from tiny_training import lines, training_options

from irpretrain.training.graphs import RecordedPasses, _Graph


def test_with_dropout_what_is_dropped_belongs_to_the_micro_batch(
    run_pretraining: Callable[..., Path],
) -> None:
    """So a step that is split drops other units than a whole one."""
    options: dict[str, Any] = {"steps": 1, "dropout": 0.3, "batch_groups": 4}
    losses = [
        lines(run_pretraining(name, training_options(**options, **more)))[0]["loss"]
        for name, more in (
            ("whole", {}),
            ("halves", {"accumulation": 2}),
            ("each", {"accumulation": 4}),
        )
    ]
    assert len(set(losses)) == 3


@pytest.mark.parametrize("alone", [True, False])
def test_gradients_of_a_replayed_graph_are_added_to_those_before(alone: bool) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    passes = RecordedPasses([weight], alone)
    passes._gradients[weight] = torch.tensor([2.0])
    passes._graphs["shape"] = _Graph(MagicMock(), [MagicMock()], {}, [weight])
    batch: Any = SimpleNamespace(shape="shape", tensors=[MagicMock(is_cuda=True)])
    for total in (2.0, 4.0):
        passes.run(batch, MagicMock())
        assert weight.grad is not None
        assert weight.grad.item() == total
