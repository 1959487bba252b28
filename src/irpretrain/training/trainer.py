"""One optimiser step over any number of tasks: what all trainings have in common.

A task says what its losses are; this adds them, and takes the step. Of ranking groups (pre-training and fine-tuning)
the loss of a step is Σ over tasks of weight · mean over groups of the ranking loss + mlm_weight · mean over masked
positions of the MLM loss. Both means are over the whole step, so splitting it into micro-batches, or sharing these out
among processes, changes nothing but rounding. Dropout draws anew for each micro-batch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from irpretrain.config.compute import TrainingComputeConfig
from irpretrain.config.training import OptimiserConfig
from irpretrain.errors import TrainingError
from irpretrain.models.arithmetic import EncoderSize
from irpretrain.randomness import integer_seed
from irpretrain.training.compute import SMALLER, free_memory, memory_ran_out
from irpretrain.training.fast_paths import use_fast_paths
from irpretrain.training.gpu_rates import peak_rate
from irpretrain.training.gradient_sums import sum_gradients
from irpretrain.training.metrics import StepMetrics, TaskMetrics
from irpretrain.training.optimiser import clip_gradients, learning_rate, make_optimiser, set_learning_rate
from irpretrain.training.ranks import here
from irpretrain.training.read_ahead import read_ahead
from irpretrain.training.steps import PartOf, Setting, StepPart, StepTask, fetch_measured

Model = TypeVar("Model", bound=nn.Module)


class Trainer(Generic[Model]):
    """A model, its optimiser and schedule; where several processes train, the same in each of them.

    Args:
        model: trained in place; moved to `device`.
        optimiser: options of AdamW and the schedule.
        compute: precision; how batches are read, and how many word pieces a micro-batch may have.
        device: where to compute.
        seed: of dropout; each step, and each micro-batch of one that is split, has a stream of its own, so that a
            resumed run, and any number of processes, drop the same units.
        steps: length of the schedule.
        accumulation: micro-batches a step is split into, by groups; where `compute.micro_batch_tokens` does not split
            it.

    Attributes:
        peak: rate of the devices of all processes in floating-point operations a second; None where it is not known.
    """

    def __init__(
        self,
        model: Model,
        optimiser: OptimiserConfig,
        compute: TrainingComputeConfig,
        device: torch.device,
        seed: int,
        steps: int,
        accumulation: int = 1,
    ) -> None:
        self.model: Model = model.to(device)
        use_fast_paths(model, compute, device, training=True)
        self.optimiser = make_optimiser(model, optimiser)
        self.steps = steps
        self.ranks = here()
        self._options, self._seed = optimiser, seed
        self._setting = Setting(device, compute, accumulation, self.ranks, compute.micro_batch_tokens)
        self._reads_ahead = compute.reads_ahead(device.type)
        self._read_before: Callable[[int], list[PartOf]] | None = None
        self._parameters = list(model.parameters())
        self._size = EncoderSize.of(model)
        rate = peak_rate(device, compute)
        self.peak = None if rate is None else rate * self.ranks.count
        self._scaler = torch.amp.GradScaler(device.type, enabled=compute.precision == "fp16")

    @contextmanager
    def reading_ahead(
        self, tasks_of: Callable[[int], tuple[Sequence[StepTask], int]], steps: range
    ) -> Iterator[None]:
        """Inside, do these steps and no other, in their order; batches of coming ones may be read meanwhile.

        Args:
            tasks_of: step → what is given to `step` with it; called in another thread too.
            steps: all steps that are done inside.
        """
        if not self._reads_ahead:
            yield
            return
        with read_ahead(lambda step: self._read(step, *tasks_of(step)), steps) as self._read_before:
            try:
                yield
            finally:
                self._read_before = None

    def step(self, step: int, tasks: Sequence[StepTask], batch: int | None = None) -> StepMetrics:
        """Do optimiser step `step`, counted from 0, and return what was measured.

        Args:
            step: which step; decides rate, dropout and masking.
            tasks: whose losses are added.
            batch: which batch of the tasks' groups; by default that of the step's number.

        Raises:
            TrainingError: loss or gradient is not a number, or memory ran out; the weights are then of no use.
        """
        try:
            return self._step(step, tasks, step if batch is None else batch)
        except RuntimeError as error:
            if memory_ran_out(error):
                raise TrainingError(_out_of_memory(step, error)) from None
            raise

    def _step(self, step: int, tasks: Sequence[StepTask], number: int) -> StepMetrics:
        start = time.perf_counter()
        read = self._read(step, tasks, number) if self._read_before is None else self._read_before(step)
        waited = time.perf_counter() - start
        self.model.train()
        torch.manual_seed(integer_seed(self._seed, "dropout", str(step)))
        rate = learning_rate(self._options, step, self.steps)
        set_learning_rate(self.optimiser, rate)
        self.optimiser.zero_grad(set_to_none=True)
        parts, measured = [], list[tuple[TaskMetrics, Mapping[str, Tensor]]]()
        for place, part_of in enumerate(read):
            part = part_of(self.model)
            measured += self._backward(part, step, place)
            parts.append(part)
        sum_gradients(self._parameters, self.ranks)
        self._scaler.unscale_(self.optimiser)
        wait = fetch_measured(measured, clip_gradients(self._parameters, self._options))
        # Updated before the losses are looked at: so a GPU has work while the host reads them and begins the next step.
        self._scaler.step(self.optimiser)
        self._scaler.update()
        # From here on the device is waited for; up to here it was only given work.
        norm = wait()
        tokens, operations = self._add_up(parts)
        metrics = {task.name: part.metrics for task, part in zip(tasks, parts, strict=True)}
        self._refuse_broken(step, metrics, norm)
        seconds = time.perf_counter() - start
        loss = math.fsum(task.weighted_loss for task in metrics.values())
        return StepMetrics(step + 1, loss, metrics, rate, norm, tokens, seconds, operations, waited)

    def _read(self, step: int, tasks: Sequence[StepTask], number: int) -> list[PartOf]:
        return [task.read(self._setting, step, number) for task in tasks]

    def _backward(
        self, part: StepPart, step: int, place: int
    ) -> Iterator[tuple[TaskMetrics, Mapping[str, Tensor]]]:
        """Add the gradients of one task's losses, and yield what each of its micro-batches measured; `place` is its own
        among the step's tasks."""
        for number in part.share.numbers:
            self._seed_dropout(step, place, number)
            loss, measured = next(part.losses)
            if loss.requires_grad:
                self._scaler.scale(loss).backward()
            yield part.metrics, measured

    def _seed_dropout(self, step: int, place: int, number: int) -> None:
        """Begin the stream of a micro-batch; a step that is not split goes on with its own."""
        if self._setting.splits:
            torch.manual_seed(integer_seed(self._seed, "dropout", f"{step}/{place}/{number}"))

    def _add_up(self, parts: Sequence[StepPart]) -> tuple[int, int]:
        """Put what all processes measured into the metrics of each; return how many tokens they read, and how many
        operations that took."""
        numbers = [
            number
            for part in parts
            for number in (part.tokens, self._operations(part), *part.metrics.summed())
        ]
        sums = iter(self.ranks.sums(numbers))
        tokens = operations = 0
        for part in parts:
            tokens += int(next(sums))
            operations += int(next(sums))
            part.metrics.put_summed(sums)
        return tokens, operations

    def _operations(self, part: StepPart) -> int:
        """Floating-point operations of one task's share; 0 where they are not counted."""
        return 0 if self._size is None or part.work is None else self._size.operations(part.work)

    def _refuse_broken(self, step: int, metrics: Mapping[str, TaskMetrics], norm: float) -> None:
        """Raise TrainingError if a loss or gradient is not a number: the weights are then broken, and nobody may save
        them. Losses are those of all processes, which so agree."""
        for name, task in metrics.items():
            if not math.isfinite(task.weighted_loss):
                raise TrainingError(_not_a_number("loss", name, step))
        # With fp16 an infinite gradient is expected now and then: the scaler skips the step and lowers its scale.
        if not math.isfinite(norm) and not self._scaler.is_enabled():
            raise TrainingError(_not_a_number("gradient", "all tasks", step))

    def state(self) -> dict[str, Any]:
        """Return everything that the next step depends on."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self._scaler.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put a state back; the inverse of `state`."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])


def _not_a_number(what: str, task: str, step: int) -> str:
    return (
        f"the {what} of {task} is not a finite number at step {step + 1}. Lower optimiser.learning_rate, raise "
        "optimiser.warmup, or compute in a wider precision (fp32, or bf16 instead of fp16)."
    )


def _out_of_memory(step: int, error: RuntimeError) -> str:
    return f"memory ran out at step {step + 1}{free_memory(error)}. To need less, {SMALLER}"
