"""The one training loop: a step over any number of tasks, from the last checkpoint to the last step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.randomness import integer_seed
from irpretrain.models.encoder_batches import PADDED, Layout
from irpretrain.models.length_batches import host_to_device, to_host
from irpretrain.models.packed import layout_of
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import autocast, use_fast_paths
from irpretrain.training.graphs import Measurements, MicroBatch, RecordedPasses
from irpretrain.training.metrics import MetricsLog, StatusLine, StepMetrics, TaskMetrics
from irpretrain.training.outputs import RATE_ADVICE, check_finite, check_outputs
from irpretrain.training.ranks import ALONE, Ranks, current_ranks, share_of, sum_gradients
from irpretrain.training.read_ahead import reading_ahead


@dataclass(frozen=True)
class StepContext:
    """Where and how a step's losses are computed."""

    device: torch.device  # where
    compute: ComputeConfig  # in which precision
    accumulation: int  # micro-batches that a step is split into
    ranks: Ranks = ALONE  # this process among those that share them
    layout: Layout = PADDED  # of the batches of an encoder

    def share(self, item_count: int) -> dict[int, slice]:
        """Return what this process computes of a step: number of each micro-batch → its items."""
        return share_of(item_count, self.accumulation, self.ranks.rank, self.ranks.count)

    def tensor(self, array: np.ndarray) -> Tensor:
        return host_to_device(array, self.device)

    def autocast(self) -> torch.autocast:
        return autocast(self.device, self.compute)


@dataclass
class TaskStep:
    """What one task adds to one step, as far as this process computes it: plain data, made in any process."""

    metrics: TaskMetrics  # complete when what the losses measured has been added (`fetch_measurements`)
    tokens: int  # word pieces and special tokens, without padding
    batches: Mapping[int, Any]  # number of each micro-batch → its sequences and labels, on the host
    # What the loss is a mean over: as far as this process computes it, and from the trainer in the whole step.
    loss_denominator: int = 0


class StepTask(Protocol):
    name: str

    def read(self, context: StepContext, step: int) -> TaskStep:
        """Read what the task adds to a step, which depends on nothing else; this does not touch the device."""

    def micro_batch(
        self, model: Any, context: StepContext, step: int, task_step: TaskStep, batch: Any
    ) -> MicroBatch:
        """Copy a batch to the device; return its loss. All losses, of all processes, add up to the task's."""


def fetch_measurements(
    measurements: list[tuple[TaskMetrics, Measurements]], gradient_norm: Tensor
) -> Callable[[], float]:
    """Begin to copy measurements to the host; return a wait that adds them to the metrics and returns the norm."""
    tensors = [tensor for _, task_measurements in measurements for tensor in task_measurements.values()]
    device = gradient_norm.device
    # All numbers come from the device together: a step waits once. With fp16 too: the fused optimiser reads on the
    # device whether a gradient is infinite.
    numbers = [tensor.detach().to(device, torch.float64) for tensor in (*tensors, gradient_norm)]
    wait_for_copy = to_host(torch.stack(numbers))

    def wait() -> float:
        *values, norm = wait_for_copy().tolist()
        remaining_values = iter(values)
        for metrics, task_measurements in measurements:
            for name in task_measurements:
                previous_value = getattr(metrics, name)
                setattr(metrics, name, previous_value + type(previous_value)(next(remaining_values)))
        return float(norm)

    return wait


# A task defines its losses; the trainer adds them, and takes the step. Of ranking groups (pre-training and
# fine-tuning) the loss of a step is Σ over tasks of weight · mean over groups of the ranking loss + mlm_weight · mean
# over masked positions of the MLM loss. Both means are over the whole step, so splitting it into micro-batches, or
# sharing these out among processes, changes nothing but rounding. Dropout draws anew for each micro-batch.


Model = TypeVar("Model", bound=nn.Module)

# Steps that the scaler of fp16 may skip one after the other. Each halves its scale, which begins at 65,536: after 16 it
# no longer helps.
MAX_SKIPPED_STEPS = 20


class Trainer(Generic[Model]):
    """A model, its optimiser and schedule; where several processes train, the same in each of them."""

    def __init__(
        self,
        model: Model,  # trained in place; moved to `device`
        optimiser: OptimiserConfig,  # options of AdamW and the schedule
        compute: ComputeConfig,  # precision
        device: torch.device,  # where to compute
        # Of dropout; each step, and each micro-batch of one that is split, has a stream of its own, so that a
        # resumed run, and any number of processes, drop the same units.
        seed: int,
        steps: int,  # length of the schedule
        accumulation: int = 1,  # micro-batches per step
    ) -> None:
        self.model: Model = model.to(device)
        use_fast_paths(model, compute, device)
        self.optimiser = make_optimiser(model, optimiser)
        self.steps = steps
        self.ranks = current_ranks()
        self._options, self._seed = optimiser, seed
        with autocast(device, compute):
            layout = layout_of(model)
        self.context = StepContext(device, compute, accumulation, self.ranks, layout)
        # Whether a step is given to the device while it computes the one before.
        self.overlaps = device.type != "cpu" and self.ranks.count == 1
        self._parameters = list(model.parameters())
        self._scaler = torch.amp.GradScaler(device.type, enabled=compute.precision == "fp16")
        self._passes = RecordedPasses(self._parameters)
        self._skipped_steps = 0  # by the scaler, one after the other

    @property
    def graph_count(self) -> int:
        """Number of shapes whose passes are recorded."""
        return self._passes.graph_count

    def step(self, step: int, tasks: Sequence[StepTask]) -> StepMetrics:
        """Do optimiser step `step`, counted from 0, alone; see `run`."""
        return next(self.run(range(step, step + 1), tasks))

    def run(
        self,
        steps: range,  # steps to do, counted from 0: they decide rate, dropout and masking
        tasks: Sequence[StepTask],
        # Whether step `n`, counted from 1, must be done, and no later one begun, when its metrics are yielded: then
        # `StepMetrics.pauses` is true, and the model may be read. Asked once for each step, after it was begun.
        pauses: Callable[[int], bool] = lambda step: True,
    ) -> Iterator[StepMetrics]:
        """Do optimiser steps; yield what was measured in each.

        A GPU is given a step while it computes the one before, whose numbers come back meanwhile; other processes read
        batches ahead. On a processor, and where several processes share the steps, one is done after the other.

        Raises:
            TrainingError: loss or gradient of a step is NaN; the weights are then of no use.
        """
        read_step = partial(self._read, tasks)
        started_at = time.perf_counter()
        begun_step: _BegunStep | None = None
        with reading_ahead(read_step, steps, self.overlaps and len(steps) > 1) as batches:
            for step in steps:
                wait_start = time.perf_counter()
                task_steps = next(batches)
                waited_seconds = time.perf_counter() - wait_start
                previous_step, begun_step = begun_step, self.begin(step, tasks, task_steps, waited_seconds)
                if previous_step is not None:
                    started_at, metrics = self._end(previous_step, started_at)
                    yield metrics
                is_paused = pauses(step + 1) or step == steps[-1]
                if is_paused or not self.overlaps:
                    started_at, metrics = self._end(begun_step, started_at)
                    begun_step = None
                    yield replace(metrics, pauses=is_paused)

    def _read(self, tasks: Sequence[StepTask], step: int) -> dict[str, TaskStep]:
        return {task.name: task.read(self.context, step) for task in tasks}

    def begin(
        self, step: int, tasks: Sequence[StepTask], task_steps: dict[str, TaskStep], waited_seconds: float
    ) -> _BegunStep:
        """Give the device a step; it is not waited for."""
        self.model.train()
        torch.manual_seed(integer_seed(self._seed, "dropout", str(step)))
        step_rate = learning_rate(self._options, step, self.steps)
        for parameter_group in self.optimiser.param_groups:
            parameter_group["lr"] = step_rate
        self.optimiser.zero_grad(set_to_none=True)
        denominators = self.ranks.sums([task_step.loss_denominator for task_step in task_steps.values()])
        is_alone = sum(len(task_step.batches) for task_step in task_steps.values()) == 1
        measurements = list[tuple[TaskMetrics, Measurements]]()
        for task_index, (task, denominator) in enumerate(zip(tasks, denominators, strict=True)):
            task_step = task_steps[task.name]
            task_step.loss_denominator = int(denominator)
            for batch_number, batch in task_step.batches.items():
                # A micro-batch has a stream of its own; a step that is not split continues that of the step.
                if max(self.context.accumulation, self.ranks.count) > 1:
                    torch.manual_seed(
                        integer_seed(self._seed, "dropout", f"{step}/{task_index}/{batch_number}")
                    )
                micro_batch = task.micro_batch(self.model, self.context, step, task_step, batch)
                backward = partial(self._gradients, micro_batch.loss)
                measured = self._passes.run(micro_batch, backward, is_alone)
                measurements.append((task_step.metrics, measured))
        sum_gradients(self._parameters, self.ranks)
        self._scaler.unscale_(self.optimiser)
        finish = fetch_measurements(measurements, clip_gradients(self._parameters, self._options))
        self._scaler.step(self.optimiser)
        self._scaler.update()
        return _BegunStep(step, task_steps, finish, step_rate, waited_seconds)

    def _gradients(self, loss: Callable[..., tuple[Tensor, Measurements]], *tensors: Tensor) -> Measurements:
        loss_value, measurements = loss(*tensors)
        if loss_value.requires_grad:
            self._scaler.scale(loss_value).backward()
        return measurements

    def _end(self, begun_step: _BegunStep, started_at: float) -> tuple[float, StepMetrics]:
        """Wait for a step's numbers; return the time, and what was measured since `started_at`."""
        gradient_norm = begun_step.finish()
        tokens = self._add_up(begun_step.task_steps.values())
        metrics = {name: task_step.metrics for name, task_step in begun_step.task_steps.items()}
        self._refuse_broken(begun_step.step, metrics, gradient_norm)
        now = time.perf_counter()
        return now, StepMetrics(
            step=begun_step.step + 1,
            loss=math.fsum(task.weighted_loss for task in metrics.values()),
            tasks=metrics,
            learning_rate=begun_step.learning_rate,
            gradient_norm=gradient_norm,
            tokens=tokens,
            seconds=now - started_at,
            waited_seconds=begun_step.waited_seconds,
        )

    def _add_up(self, task_steps: Collection[TaskStep]) -> int:
        """Put the sums over all processes into the tasks' metrics; return that of their tokens."""
        numbers = [number for step in task_steps for number in (step.tokens, *step.metrics.summed())]
        sums, tokens = iter(self.ranks.sums(numbers)), 0
        for task_step in task_steps:
            tokens += int(next(sums))
            task_step.metrics.put_summed(sums)
        return tokens

    def _refuse_broken(self, step: int, metrics: Mapping[str, TaskMetrics], gradient_norm: float) -> None:
        """Raise TrainingError on a NaN: nobody may save broken weights. Losses are of all processes, which so agree."""
        broken_values = [
            f"loss of {name}" for name, task in metrics.items() if not math.isfinite(task.weighted_loss)
        ]
        # With fp16 an infinite gradient is expected now and then: the scaler skips the step and lowers its scale.
        self._skipped_steps = 0 if math.isfinite(gradient_norm) else self._skipped_steps + 1
        if self._skipped_steps >= (min(MAX_SKIPPED_STEPS, self.steps) if self._scaler.is_enabled() else 1):
            broken_values.append("gradient of all tasks")
        if broken_values:
            raise TrainingError(
                f"the {broken_values[0]} is not a finite number at step {step + 1}. {RATE_ADVICE}"
            )

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint holds; TrainingError where a finite loss and gradient made it infinite or NaN."""
        check_finite(self.model, self.optimiser)
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self._scaler.state_dict(),
            "skipped_steps": self._skipped_steps,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])
        self._skipped_steps = state.get("skipped_steps", 0)  # earlier code did not count them


class _BegunStep(NamedTuple):
    """A step that the device has been given."""

    step: int
    task_steps: dict[str, TaskStep]  # by the task's name
    finish: Callable[[], float]  # completes the tasks' metrics and returns the norm of the gradients
    learning_rate: float
    waited_seconds: float  # seconds until its batches were read


def run_steps(
    trainer: Trainer[Model],  # model, optimiser and schedule
    tasks: Sequence[StepTask],  # of each step
    log_every: int,  # steps between status lines
    checkpoints: Checkpoints,  # the job's; they decide when to save
    log: MetricsLog,  # has one record per step in the end, whenever it was interrupted
    title: str,  # name of the job in status lines
    snapshots: Collection[int] = (),  # steps, counted from 1, after which `snapshot` is called
    # Called with the number of a step, also that of the resumed checkpoint: make it idempotent.
    snapshot: Callable[[int], None] = lambda step: None,
) -> int:
    """Do all steps after the newest checkpoint; return the word pieces of all steps. The first process logs."""
    steps_done, tokens = 0, 0
    if (state := checkpoints.load(lambda state: log.holds(state["step"], state.get("metrics")))) is not None:
        trainer.restore(state)
        steps_done, tokens = int(state["step"]), int(state["tokens"])
    leads = trainer.ranks.leads
    if leads:
        log.truncate(steps_done)
        if steps_done in snapshots:
            snapshot(steps_done)
    status = StatusLine(title, trainer.steps, log_every)

    def pauses(step: int) -> bool:
        return leads and (checkpoints.clock.due() or step in snapshots)

    for metrics in trainer.run(range(steps_done, trainer.steps), tasks, pauses):
        tokens += metrics.tokens
        if metrics.step == trainer.steps:
            check_finite(trainer.model, trainer.optimiser)
            check_outputs(trainer.model, tasks, trainer.context, metrics.step - 1)
        if not leads:
            continue
        log.append(metrics.record())
        status.add(metrics)
        if metrics.pauses:
            log.flush()
            checkpoints.save(metrics.step, {**trainer.state(), "tokens": tokens, "metrics": log.digest})
            if metrics.step in snapshots:
                snapshot(metrics.step)
    return tokens


# AdamW as BERT uses it: no decay of biases and LayerNorm, warm-up, decay, clipping.

# A step count at which Adam's bias correction, 1 − βᵗ, is 1 in floating point. Adding 1 to it changes nothing in
# single precision, so torch's fused kernel serves for Adam without bias correction too.
NEVER_CORRECTED = 1e9


BETAS = (0.9, 0.999)  # BERT's, A.2 of Devlin et al. (2019); no paper here names others


class AdamW(torch.optim.AdamW):
    """Torch's fused AdamW, with the option of no bias correction (BERT's own optimiser has none)."""

    def __init__(self, groups: list[dict[str, object]], options: OptimiserConfig) -> None:
        super().__init__(groups, lr=options.learning_rate, betas=BETAS, eps=options.epsilon, fused=True)
        if not options.bias_correction:
            for group in self.param_groups:
                for parameter in group["params"]:
                    self.state[parameter] = {
                        "step": torch.tensor(NEVER_CORRECTED, dtype=torch.float32, device=parameter.device),
                        "exp_avg": torch.zeros_like(parameter),
                        "exp_avg_sq": torch.zeros_like(parameter),
                    }


def make_optimiser(model: nn.Module, options: OptimiserConfig) -> AdamW:
    """Decay applies to weights of two dimensions, not to biases and LayerNorm."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    decayed = [parameter for parameter in parameters if parameter.dim() > 1]
    undecayed = [parameter for parameter in parameters if parameter.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": undecayed, "weight_decay": 0.0},
    ]
    return AdamW(groups, options)


def learning_rate(options: OptimiserConfig, step: int, steps: int) -> float:
    """Return the rate of optimiser step `step` (from 0) of `steps`.

    It rises linearly to the peak over the first round(warmup · steps) steps, none of which is idle. Then it falls
    linearly so that it would reach 0 one step after the last (decay linear); or stays (none); or stays until
    `later_from` steps are done, and is `later_rate` after that (step).
    """
    warmup_steps = round(options.warmup * steps)
    if step < warmup_steps:
        return options.learning_rate * (step + 1) / (warmup_steps + 1)
    if options.later_from is not None and options.later_rate is not None and step >= options.later_from:
        return options.later_rate
    if options.decay != "linear":
        return options.learning_rate
    return options.learning_rate * (steps - step) / (steps - warmup_steps)


def clip_gradients(parameters: Iterable[Tensor], options: OptimiserConfig) -> Tensor:
    """Clip the gradients in place; return the Euclidean norm of all of them before."""
    trained_parameters = [p for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm([p.grad for p in trained_parameters if p.grad is not None])
    if options.clip is None:
        return norm
    if options.clip_by == "all":
        torch.nn.utils.clip_grads_with_norm_(trained_parameters, options.clip, norm)
    else:
        # As in the released PROP: each parameter by itself.
        for parameter in trained_parameters:
            torch.nn.utils.clip_grad_norm_(parameter, options.clip)
    return norm
