"""Micro-batches: what dropout drops in each, and how the gradients of recorded ones add up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from tiny_training import lines, training_options
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.training.graphs import MicroBatch, RecordedPasses, _Graph
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.trainer import TaskStep, Trainer


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


@pytest.mark.parametrize("accumulation", [1, 2])
def test_steps_tasks_micro_batches_and_seeds_drop_other_units(accumulation: int) -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(64, 1))
    dropped: list[tuple[bool, ...]] = []

    def loss(ones: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        outputs = model[0](ones)
        dropped.append(tuple((outputs == 0).tolist()))
        return model[1](outputs).sum(), {}

    def task(name: str) -> Any:
        return SimpleNamespace(
            name=name,
            read=lambda *_: TaskStep(TaskMetrics(1, 0), 1, dict.fromkeys(range(accumulation))),
            micro_batch=lambda *_: MicroBatch([torch.ones(64)], loss),
        )

    def drops(seed: int, steps: range) -> list[tuple[bool, ...]]:
        dropped.clear()
        device, compute = torch.device("cpu"), ComputeConfig(device="cpu")
        trainer = Trainer(model, OptimiserConfig(), compute, device, seed, 2, accumulation)
        list(trainer.run(steps, [task("one"), task("two")]))
        return list(dropped)

    both_steps = drops(1, range(2))
    assert len(set(both_steps)) == 2 * 2 * accumulation
    assert drops(1, range(1, 2)) == both_steps[2 * accumulation :]
    assert not set(drops(2, range(2))) & set(both_steps)


class OnGpu(Tensor):
    is_cuda = True


def test_gradients_of_replayed_graphs_are_those_of_all_micro_batches_of_a_step() -> None:
    """Whatever the number of micro-batches of the steps before."""
    weight = torch.nn.Parameter(torch.zeros(2))
    passes = RecordedPasses([weight])
    gradient, graph_input, loss = torch.zeros(2), torch.zeros(2), torch.zeros(1)

    def replay() -> None:
        gradient.copy_(graph_input)
        loss.copy_(graph_input.sum())

    passes._gradients[weight] = gradient
    passes._graphs["shape"] = _Graph(SimpleNamespace(replay=replay), [graph_input], {"loss": loss}, [weight])
    for inputs in ([[3.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]], [[5.0, 6.0]]):
        weight.grad = None
        losses = [
            passes.run(
                MicroBatch([torch.tensor(values).as_subclass(OnGpu)], MagicMock(), "shape"),
                MagicMock(),
                is_alone=len(inputs) == 1,
            )["loss"]
            for values in inputs
        ]
        assert [value.item() for value in losses] == [sum(values) for values in inputs]
        assert weight.grad is not None
        assert weight.grad.tolist() == np.sum(inputs, 0).tolist()
