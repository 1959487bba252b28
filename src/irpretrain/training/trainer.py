"""The one training loop: a step over any number of tasks, from the last checkpoint to the last step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.randomness import integer_seed
from irpretrain.models.length_batches import to_device, to_host
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import autocast, use_fast_paths
from irpretrain.training.metrics import MetricsLog, StatusLine, StepMetrics, TaskMetrics
from irpretrain.training.outputs import LOWER_RATE, check_model
from irpretrain.training.ranks import ALONE, Ranks, here, share_of, sum_gradients

# One training step: where it is computed, and what each task adds. All tasks read their batches before it is computed.


@dataclass(frozen=True)
class Setting:
    """Where and how a step's losses are computed."""

    device: torch.device  # where
    compute: ComputeConfig  # in which precision
    accumulation: int  # micro-batches that a step is split into
    ranks: Ranks = ALONE  # this process among those that share them

    def share(self, items: int) -> dict[int, slice]:
        """Return what this process computes of a step: number of each micro-batch → its items."""
        return share_of(items, self.accumulation, self.ranks.rank, self.ranks.count)

    def tensor(self, array: np.ndarray) -> Tensor:
        return to_device(self.on_host(array), self.device)

    def on_host(self, array: np.ndarray) -> Tensor:
        """Return an array as a tensor on the host, for masks and sizes: a device would have to be waited for."""
        return torch.from_numpy(np.ascontiguousarray(array))

    def autocast(self) -> torch.autocast:
        return autocast(self.device, self.compute)


class MicroBatchLoss(NamedTuple):
    """What one micro-batch adds to a step."""

    loss: Tensor  # its share of the task's loss, with the graph
    # Name in the task's metrics → what is added there, a number on the device. They are fetched once for the
    # whole step: whoever asks for one waits until the device has done all that came before it.
    measured: Mapping[str, Tensor]


@dataclass
class StepPart:
    """What one task adds to one step, as far as this process computes it."""

    metrics: TaskMetrics  # complete when what `losses` measured has been added (`fetch_measured`)
    tokens: int  # word pieces and special tokens, without padding
    # Number of each micro-batch → its loss by a model; their sum over all processes is the task's loss.
    losses: Mapping[int, Callable[[nn.Module], MicroBatchLoss]]


class StepTask(Protocol):
    name: str

    def read(self, setting: Setting, step: int) -> StepPart:
        """Read what the task adds to a step; this does not touch the device."""


def fetch_measured(
    measured: list[tuple[TaskMetrics, Mapping[str, Tensor]]], also: Tensor
) -> Callable[[], float]:
    """Begin to copy measurements to the host; return a wait that adds them to the metrics and returns `also`."""
    tensors = [tensor for _, values in measured for tensor in values.values()]
    # All numbers come from the device together: a step waits once. With fp16 too: the fused optimiser reads on the
    # device whether a gradient is infinite.
    copied = to_host(
        torch.stack([tensor.detach().to(also.device, torch.float64) for tensor in (*tensors, also)])
    )

    def wait() -> float:
        *numbers, last = copied().tolist()
        coming = iter(numbers)
        for metrics, values in measured:
            for name in values:
                before = getattr(metrics, name)
                setattr(metrics, name, before + type(before)(next(coming)))
        return float(last)

    return wait


# One optimiser step over any number of tasks: what all trainings have in common.
#
# A task defines its losses; this adds them, and takes the step. Of ranking groups (pre-training and
# fine-tuning) the loss of a step is Σ over tasks of weight · mean over groups of the ranking loss + mlm_weight · mean
# over masked positions of the MLM loss. Both means are over the whole step, so splitting it into micro-batches, or
# sharing these out among processes, changes nothing but rounding. Dropout draws anew for each micro-batch.


Model = TypeVar("Model", bound=nn.Module)


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
        use_fast_paths(model, compute, device, training=True)
        self.optimiser = make_optimiser(model, optimiser)
        self.steps = steps
        self.ranks = here()
        self._options, self._seed = optimiser, seed
        self._setting = Setting(device, compute, accumulation, self.ranks)
        self._parameters = list(model.parameters())
        self._scaler = torch.amp.GradScaler(device.type, enabled=compute.precision == "fp16")

    def step(self, step: int, tasks: Sequence[StepTask]) -> StepMetrics:
        """Do optimiser step `step`, counted from 0, which decides rate, dropout and masking; return what was measured.

        Raises:
            TrainingError: loss or gradient is NaN; the weights are then of no use.
        """
        start = time.perf_counter()
        parts = [task.read(self._setting, step) for task in tasks]
        waited = time.perf_counter() - start
        self.model.train()
        torch.manual_seed(integer_seed(self._seed, "dropout", str(step)))
        rate = learning_rate(self._options, step, self.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        measured = list[tuple[TaskMetrics, Mapping[str, Tensor]]]()
        for position, part in enumerate(parts):
            for number, loss_by in part.losses.items():
                # A micro-batch has a stream of its own; a step that is not split continues that of the step.
                if max(self._setting.accumulation, self.ranks.count) > 1:
                    torch.manual_seed(integer_seed(self._seed, "dropout", f"{step}/{position}/{number}"))
                micro = loss_by(self.model)
                if micro.loss.requires_grad:
                    self._scaler.scale(micro.loss).backward()
                measured.append((part.metrics, micro.measured))
        sum_gradients(self._parameters, self.ranks)
        self._scaler.unscale_(self.optimiser)
        wait = fetch_measured(measured, clip_gradients(self._parameters, self._options))
        # Updated before the losses are looked at: so a GPU has work while the host reads them and begins the next step.
        self._scaler.step(self.optimiser)
        self._scaler.update()
        # From here on the device is waited for; up to here it was only given work.
        norm = wait()
        tokens = self._add_up(parts)
        metrics = {task.name: part.metrics for task, part in zip(tasks, parts, strict=True)}
        self._refuse_broken(step, metrics, norm)
        seconds = time.perf_counter() - start
        loss = math.fsum(task.weighted_loss for task in metrics.values())
        return StepMetrics(step + 1, loss, metrics, rate, norm, tokens, seconds, waited)

    def _add_up(self, parts: Sequence[StepPart]) -> int:
        sums = iter(
            self.ranks.sums([number for part in parts for number in (part.tokens, *part.metrics.summed())])
        )
        tokens = 0
        for part in parts:
            tokens += int(next(sums))
            part.metrics.put_summed(sums)
        return tokens

    def _refuse_broken(self, step: int, metrics: Mapping[str, TaskMetrics], norm: float) -> None:
        """Raise TrainingError on a NaN: nobody may save broken weights. Losses are of all processes, which so agree."""
        broken = [
            f"loss of {name}" for name, task in metrics.items() if not math.isfinite(task.weighted_loss)
        ]
        # With fp16 an infinite gradient is expected now and then: the scaler skips the step and lowers its scale.
        if not math.isfinite(norm) and not self._scaler.is_enabled():
            broken.append("gradient of all tasks")
        if broken:
            raise TrainingError(f"the {broken[0]} is not a finite number at step {step + 1}. {LOWER_RATE}")

    def check_result(self, step: int, tasks: Sequence[StepTask]) -> None:
        """Raise TrainingError unless the weights after the last step, and scores by them, are finite."""
        check_model(self.model, tasks, self._setting, step)

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self._scaler.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])


# A training from its last checkpoint to its last step: steps, the log, status lines, checkpoints.


def run_steps(
    trainer: Trainer[Model],  # model, optimiser and schedule
    tasks: Sequence[StepTask],  # of each step
    log_every: int,  # steps between status lines
    checkpoints: Checkpoints,  # the job's; they decide when to save
    log: MetricsLog,  # has one record per step in the end, whenever it was interrupted
    title: str,  # name of the job in status lines
    # Called after each step with its number, counted from 1, also for that of the resumed checkpoint:
    # make it idempotent.
    after: Callable[[int], None] = lambda step: None,
) -> int:
    """Do all steps after the newest checkpoint; return the word pieces of all steps. The first process logs."""
    done, tokens = 0, 0
    if (state := checkpoints.load(lambda state: log.holds(state["step"], state.get("metrics")))) is not None:
        trainer.restore(state)
        done, tokens = int(state["step"]), int(state["tokens"])
    leads = trainer.ranks.leads
    if leads:
        log.truncate(done)
        if done:
            after(done)
    status = StatusLine(title, trainer.steps, log_every)
    for step in range(done, trainer.steps):
        measured = trainer.step(step, tasks)
        tokens += measured.tokens
        done = measured.step
        if done == trainer.steps:
            trainer.check_result(step, tasks)
        if not leads:
            continue
        log.append(measured.record())
        status.add(measured)
        if checkpoints.clock.due() or done == trainer.steps:
            log.flush()
            checkpoints.save(done, {**trainer.state(), "tokens": tokens, "metrics": log.digest})
        after(done)
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
    others = [parameter for parameter in parameters if parameter.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return AdamW(groups, options)


def learning_rate(options: OptimiserConfig, step: int, steps: int) -> float:
    """Return the rate of optimiser step `step` (from 0) of `steps`.

    It rises linearly to the peak over the first round(warmup · steps) steps, none of which is idle. Then it falls
    linearly so that it would reach 0 one step after the last (decay linear); or stays (none); or stays until
    `later_from` steps are done, and is `later_rate` after that (step).
    """
    rising = round(options.warmup * steps)
    if step < rising:
        return options.learning_rate * (step + 1) / (rising + 1)
    if options.later_from is not None and options.later_rate is not None and step >= options.later_from:
        return options.later_rate
    if options.decay != "linear":
        return options.learning_rate
    return options.learning_rate * (steps - step) / (steps - rising)


def clip_gradients(parameters: Iterable[Tensor], options: OptimiserConfig) -> Tensor:
    """Clip the gradients in place; return the Euclidean norm of all of them before."""
    with_gradient = [p for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm([p.grad for p in with_gradient if p.grad is not None])
    if options.clip is None:
        return norm
    if options.clip_by == "all":
        torch.nn.utils.clip_grads_with_norm_(with_gradient, options.clip, norm)
    else:
        # As in the released PROP: each parameter by itself.
        for parameter in with_gradient:
            torch.nn.utils.clip_grad_norm_(parameter, options.clip)
    return norm
