"""The end of every training: the model is checked, then all outputs appear together, then the checkpoints go.

A model whose last update broke it replaces nothing. A training that is killed among its outputs leaves its checkpoints
and, beside them, the names of these outputs: the same call goes on from there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from irpretrain.foundation.atomic import write_text, write_together
from irpretrain.foundation.errors import TrainingError
from irpretrain.models.length_batches import to_host
from irpretrain.training.leftovers import OUTPUTS_FILE

if TYPE_CHECKING:
    from irpretrain.training.checkpoints import Checkpoints
    from irpretrain.training.trainer import StepContext, StepTask

RATE_ADVICE = (
    "Lower optimiser.learning_rate (of a fine-tuning: learning_rates), raise optimiser.warmup, or compute in a wider "
    "precision (fp32, or bf16 instead of fp16)."
)


def check_outputs(model: nn.Module, tasks: Sequence["StepTask"], context: "StepContext", step: int) -> None:
    """Raise TrainingError unless all outputs of a model with finite weights are finite, for the batch of a step.

    Losses and gradients are looked at before each update, so nothing has seen what the last one made.
    """
    if _broken_outputs(model, tasks, context, step):
        raise TrainingError(_not_finite_message("model's scores are"))


def check_finite(model: nn.Module, optimiser: torch.optim.Optimizer | None = None) -> None:
    """Raise TrainingError unless all weights, and what the optimiser has gathered for them, are finite."""
    names: dict[Tensor, str] = {weight: name for name, weight in model.named_parameters()}
    gathered = {
        f"{names.get(weight, number)} (the optimiser's {key})": value
        for number, (weight, values) in enumerate(optimiser.state.items() if optimiser else ())
        for key, value in values.items()
    }
    tensors = {**model.state_dict(), **gathered}
    weights = {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()}
    # Together: a device is waited for once.
    finite_flags = to_host(torch.stack([tensor.isfinite().all() for tensor in weights.values()]))().tolist()
    if broken_names := [name for name, is_finite in zip(weights, finite_flags, strict=True) if not is_finite]:
        raise TrainingError(_not_finite_message(f"weights {broken_names[0]} are"))


def _not_finite_message(subject: str) -> str:
    return f"after the last update the {subject} not finite numbers, so nothing is written. {RATE_ADVICE}"


def _broken_outputs(model: nn.Module, tasks: Sequence["StepTask"], context: "StepContext", step: int) -> int:
    """Return how many outputs and losses of the step's batch are not finite, over all processes."""
    finite_checks = list[Tensor]()

    def check_outputs(module: nn.Module, inputs: Any, outputs: Any) -> None:
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            if isinstance(output, Tensor):
                finite_checks.append(output.isfinite().all())

    with ExitStack() as hooks, torch.inference_mode():
        hooks.callback(model.train, model.training)
        # Of the layers themselves: a packed batch does not pass through the model's `forward`.
        for module in model.eval().modules():
            if not any(module.children()):
                hooks.enter_context(module.register_forward_hook(check_outputs))
        for task in tasks:
            task_step = task.read(context, step)
            for batch in task_step.batches.values():
                micro_batch = task.micro_batch(model, context, step, task_step, batch)
                finite_checks.append(micro_batch.loss(*micro_batch.tensors)[0].isfinite().all())
    finite_flags = to_host(torch.stack(finite_checks))().tolist() if finite_checks else []
    return int(context.ranks.sums([finite_flags.count(False)])[0])


def publish(
    folders: Mapping[str | Path, Callable[[Path], object]],
    files: Mapping[str | Path, Callable[[Path], object]],
    checkpoints: "Checkpoints",
) -> None:
    """Write the outputs of a job together, in the first process: folders and files, with what writes each."""
    output_paths = json.dumps([str(path) for path in (*folders, *files)])
    marker = checkpoints.directory / OUTPUTS_FILE
    write_together(folders, files, before_replacing=lambda: write_text(marker, output_paths))
