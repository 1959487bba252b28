"""Micro-batches: what dropout drops in each, and how the gradients of recorded ones add up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.foundation.errors import TrainingError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import Layout, PackedBatch, PaddedBatch
from irpretrain.models.packed import layout_of
from irpretrain.retrieval.term_weights.train import RegressionMetrics, TokenRegression
from irpretrain.training.graphs import MicroBatch, RecordedPasses, _Graph
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranking_tasks import GroupBatch, SequenceReader
from irpretrain.training.trainer import StepContext, TaskStep, Trainer


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


def test_a_pass_is_recorded_only_where_the_device_reads_where_sequences_end(tiny_encoder: Path) -> None:
    """Else a recorded one reads the sequences of the batch that it was recorded of."""
    mask = (np.arange(24) < np.array([[20], [6], [9]])).astype(np.int64)
    inputs = PackedBatch.of(PaddedBatch(mask, np.zeros_like(mask), mask), 24, fills_up=True)
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    model.packing = "on"
    own_layout = layout_of(model)
    assert own_layout.packs
    for layout, is_recorded in ((own_layout, False), (Layout(True, True, ends_on_device=True), True)):
        context = StepContext(torch.device("cpu"), ComputeConfig(device="cpu"), 1, layout=layout)
        groups = GroupBatch(np.array([3]), 35, inputs, None)
        scorer = SequenceReader(SimpleNamespace()).scorer(model, context, groups, 0)  # type: ignore[arg-type]
        regression = TokenRegression(SimpleNamespace(), 3, "mean", 1)  # type: ignore[arg-type]
        step = TaskStep(RegressionMetrics(1.0, 0.0, target_count=35), 35, {})
        targets = np.zeros(len(inputs.input_ids), np.float32)
        micro_batch = regression.micro_batch(SimpleNamespace(), context, 0, step, (inputs, targets))  # type: ignore[arg-type]
        assert [found.shape is not None for found in (scorer, micro_batch)] == [is_recorded] * 2


@pytest.mark.parametrize(("steps", "finite_step", "refused_step"), [(3, 9, 3), (60, 99, 20), (60, 19, 39)])
def test_with_fp16_a_gradient_that_is_never_finite_is_refused(
    steps: int, finite_step: int, refused_step: int
) -> None:
    """Its scaler skips such steps, so the weights would stay as they are; also where each step is of a resumed run."""
    model = nn.Linear(2, 1)
    compute = ComputeConfig(device="cpu", precision="fp16")

    def new_trainer() -> Trainer[nn.Linear]:
        return Trainer(model, OptimiserConfig(), compute, torch.device("cpu"), 1, steps)

    trainer = new_trainer()
    step_number = 0

    def loss(ones: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return model(ones).sum(), {}

    task: Any = SimpleNamespace(
        name="one",
        read=lambda *_: TaskStep(TaskMetrics(1, 0), 1, {0: None}),
        micro_batch=lambda *_: MicroBatch([torch.ones(2)], loss),
    )
    model.bias.register_hook(
        lambda gradient: gradient if step_number == finite_step else gradient * torch.nan
    )
    for step_number in range(1, refused_step):
        norm = trainer.step(step_number - 1, [task]).record()["gradient_norm"]
        assert (norm is not None) == (step_number == finite_step)
        state, trainer = trainer.state(), new_trainer()
        trainer.restore(state)
    step_number = refused_step
    with pytest.raises(TrainingError, match=f"gradient of all tasks .* at step {refused_step}"):
        trainer.step(step_number - 1, [task])


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
