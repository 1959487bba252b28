"""One optimiser step over any number of tasks: what all trainings have in common.

A task says what its losses are; this adds them, and takes the step. Of ranking groups (pre-training and fine-tuning)
the loss of a step is Σ over tasks of weight · mean over groups of the ranking loss + mlm_weight · mean over masked
positions of the MLM loss. Both means are over the whole step, so splitting it into micro-batches, or sharing these out
among processes, changes nothing but rounding. Dropout draws anew for each micro-batch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from irpretrain.config.training import ComputeConfig, Loss, OptimiserConfig
from irpretrain.errors import TrainingError
from irpretrain.models.arithmetic import EncoderSize
from irpretrain.randomness import integer_seed
from irpretrain.training.batches import Batch, BatchBuilder, GroupSource
from irpretrain.training.compute import free_memory, memory_ran_out
from irpretrain.training.fast_paths import use_fast_paths
from irpretrain.training.gpu_rates import peak_rate
from irpretrain.training.gradient_sums import GradientSums
from irpretrain.training.group_work import group_work
from irpretrain.training.losses import count_correct_pairs, mlm_loss_sum, ranking_loss
from irpretrain.training.masking import Masked, Masker
from irpretrain.training.metrics import StepMetrics, TaskMetrics
from irpretrain.training.optimiser import clip_gradients, learning_rate, make_optimiser, set_learning_rate
from irpretrain.training.ranks import here
from irpretrain.training.shares import Share
from irpretrain.training.steps import Setting, StepPart, StepTask

Model = TypeVar("Model", bound=nn.Module)


@dataclass
class Task:
    """One objective on ranking groups in the training of a cross-encoder.

    Attributes:
        name: as in the configuration.
        source: the groups of each step.
        builder: makes batches of them.
        loss, margin: the ranking loss.
        weight: of the ranking loss; with 0 it is not computed.
        mlm_weight: of the MLM loss; with 0 nothing is masked.
        masker: needed where mlm_weight is not 0.
        mlm_head_steps: in the first so many steps the MLM loss trains only the MLM head.
    """

    name: str
    source: GroupSource
    builder: BatchBuilder
    loss: Loss
    margin: float = 1.0
    weight: float = 1.0
    mlm_weight: float = 0.0
    masker: Masker | None = None
    mlm_head_steps: int = 0

    def part(self, model: nn.Module, setting: Setting, step: int, number: int) -> StepPart:
        """Return the task's losses at a step; see `StepTask`."""
        groups = self.source.groups(number)
        share = setting.share(len(groups))
        batch = self.builder.build(groups[share.items])
        masked = None
        if self.masker and self.mlm_weight > 0:
            before = sum(len(group) for group in groups[: share.items.start])
            masked = self.masker.apply(batch, step, before)
        metrics = TaskMetrics(self.weight, self.mlm_weight if masked else 0.0)
        losses = self._losses(model, setting, step, _Part(len(groups), share, batch, masked), metrics)
        work = group_work(batch, masked, self.weight > 0, step >= self.mlm_head_steps)
        return StepPart(metrics, batch.tokens, share, losses, work)

    def _losses(
        self,
        model: nn.Module,
        setting: Setting,
        step: int,
        part: _Part,
        metrics: TaskMetrics,
    ) -> Iterator[Tensor]:
        positions = max(setting.ranks.total(len(part.masked.labels)), 1) if part.masked else 1
        for micro in self._micro_batches(setting, part):
            with setting.autocast():
                scores, logits = model(
                    micro.input_ids,
                    micro.token_type_ids,
                    micro.attention_mask,
                    micro.chosen,
                    mlm_trains_encoder=step >= self.mlm_head_steps,
                )
                loss = scores.new_zeros((), dtype=torch.float32)
                if self.weight > 0:
                    ranking = (
                        ranking_loss(self.loss, scores, micro.sizes, self.margin).sum() / part.step_groups
                    )
                    metrics.ranking_loss += float(ranking.detach())
                    loss = loss + self.weight * ranking
                    right, pairs = count_correct_pairs(scores, micro.sizes)
                    metrics.correct_pairs += right
                    metrics.pairs += pairs
                if logits is not None and micro.labels is not None and len(micro.labels):
                    mlm = mlm_loss_sum(logits, micro.labels) / positions
                    metrics.mlm_loss += float(mlm.detach())
                    loss = loss + self.mlm_weight * mlm
            yield loss

    def _micro_batches(self, setting: Setting, part: _Part) -> Iterator[_MicroBatch]:
        """Split by groups; each micro-batch is cut to its own longest sequence."""
        batch, masked = part.batch, part.masked
        used = 0
        for groups in part.share.own_slices:
            rows, length = batch.groups(groups.start, groups.stop)
            cut = (rows, slice(0, length))
            chosen = labels = None
            if masked is not None:
                chosen = masked.chosen[cut]
                count = int(chosen.sum())
                labels = setting.tensor(masked.labels[used : used + count])
                used += count
            yield _MicroBatch(
                setting.tensor((masked or batch).input_ids[cut]),
                setting.tensor(batch.token_type_ids[cut]),
                setting.tensor(batch.attention_mask[cut]),
                torch.from_numpy(batch.sizes[groups]),
                setting.tensor(chosen) if chosen is not None else None,
                labels,
            )


class Trainer(Generic[Model]):
    """A model, its optimiser and schedule; where several processes train, the same in each of them.

    Args:
        model: trained in place; moved to `device`.
        optimiser: options of AdamW and the schedule.
        compute: precision.
        device: where to compute.
        seed: of dropout; each step, and each micro-batch of one that is split, has a stream of its own, so that a
            resumed run, and any number of processes, drop the same units.
        steps: length of the schedule.
        accumulation: micro-batches a step is split into, by groups.

    Attributes:
        peak: rate of the devices of all processes in floating-point operations a second; None where it is not known.
    """

    def __init__(
        self,
        model: Model,
        optimiser: OptimiserConfig,
        compute: ComputeConfig,
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
        self._setting = Setting(device, compute, accumulation, self.ranks)
        self._parameters = list(model.parameters())
        self._gradients = GradientSums(self._parameters, self.ranks)
        self._size = EncoderSize.of(model)
        rate = peak_rate(device, compute)
        self.peak = None if rate is None else rate * self.ranks.count
        self._scaler = torch.amp.GradScaler(device.type, enabled=compute.precision == "fp16")

    def step(self, step: int, tasks: Sequence[StepTask], batch: int | None = None) -> StepMetrics:
        """Do optimiser step `step`, counted from 0, and return what was measured.

        Args:
            step: which step; decides rate, dropout and masking.
            tasks: whose losses are added.
            batch: which batch of the tasks' groups; by default that of the step's number.

        Raises:
            TrainingError: loss or gradient is not a number, or memory ran out.
        """
        try:
            return self._step(step, tasks, step if batch is None else batch)
        except RuntimeError as error:
            if memory_ran_out(error):
                raise TrainingError(_out_of_memory(step, error)) from None
            raise

    def _step(self, step: int, tasks: Sequence[StepTask], number: int) -> StepMetrics:
        start = time.perf_counter()
        self.model.train()
        torch.manual_seed(integer_seed(self._seed, "dropout", str(step)))
        rate = learning_rate(self._options, step, self.steps)
        set_learning_rate(self.optimiser, rate)
        self.optimiser.zero_grad(set_to_none=True)
        parts = []
        for place, task in enumerate(tasks):
            part = task.part(self.model, self._setting, step, number)
            self._backward(task, part, step, place, last=place == len(tasks) - 1)
            parts.append(part)
        self._gradients.finish()
        norm = self._update(step)
        tokens, operations = self._add_up(parts)
        measured = {task.name: part.metrics for task, part in zip(tasks, parts, strict=True)}
        seconds = time.perf_counter() - start
        loss = math.fsum(m.weighted_loss for m in measured.values())
        return StepMetrics(step + 1, loss, measured, rate, norm, tokens, seconds, operations)

    def _backward(self, task: StepTask, part: StepPart, step: int, place: int, last: bool) -> None:
        """Add the gradients of one task's losses; `place` is its own among the step's tasks."""
        for number in part.share.numbers:
            self._seed_dropout(step, place, number)
            loss = next(part.losses)
            if not math.isfinite(float(loss.detach())):
                raise TrainingError(_not_a_number("loss", task.name, step))
            if last and number == part.share.numbers[-1]:
                self._gradients.begin_last()
            if loss.requires_grad:
                self._scaler.scale(loss).backward()

    def _seed_dropout(self, step: int, place: int, number: int) -> None:
        """Begin the stream of a micro-batch; a step that is not split goes on with its own."""
        if max(self._setting.accumulation, self.ranks.count) > 1:
            torch.manual_seed(integer_seed(self._seed, "dropout", f"{step}/{place}/{number}"))

    def _add_up(self, parts: Sequence[StepPart]) -> tuple[int, int]:
        """Put what all processes measured into the metrics of each; return how many tokens they read, and how many
        operations that took."""
        own = [
            number
            for part in parts
            for number in (part.tokens, self._operations(part), *part.metrics.summed())
        ]
        sums = iter(self.ranks.sums(own))
        tokens = operations = 0
        for part in parts:
            tokens += int(next(sums))
            operations += int(next(sums))
            part.metrics.put_summed(sums)
        return tokens, operations

    def _operations(self, part: StepPart) -> int:
        """Floating-point operations of one task's share; 0 where they are not counted."""
        return 0 if self._size is None or part.work is None else self._size.operations(part.work)

    def _update(self, step: int) -> float:
        """Clip, step, and return the gradient norm before clipping."""
        self._scaler.unscale_(self.optimiser)
        norm = float(clip_gradients(self._parameters, self._options))
        # With fp16 an infinite gradient is expected now and then: the scaler skips the step and lowers its scale.
        if not math.isfinite(norm) and not self._scaler.is_enabled():
            raise TrainingError(_not_a_number("gradient", "all tasks", step))
        self._scaler.step(self.optimiser)
        self._scaler.update()
        return norm

    def state(self) -> dict[str, Any]:
        """Return everything that the next step depends on."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self._scaler.state_dict(),
            "gradients": self._gradients.state(),
            "random_state": torch.get_rng_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put a state back; the inverse of `state`."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])
        self._gradients.restore(state["gradients"])
        torch.set_rng_state(state["random_state"].cpu())


@dataclass
class _Part:
    """A share of a step's groups, read and masked, and how many groups the whole step has."""

    step_groups: int
    share: Share
    batch: Batch
    masked: Masked | None


@dataclass
class _MicroBatch:
    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    sizes: Tensor
    chosen: Tensor | None
    labels: Tensor | None


def _not_a_number(what: str, task: str, step: int) -> str:
    return (
        f"the {what} of {task} is not a finite number at step {step + 1}. Lower optimiser.learning_rate, raise "
        "optimiser.warmup, or compute in a wider precision (fp32, or bf16 instead of fp16)."
    )


def _out_of_memory(step: int, error: RuntimeError) -> str:
    return (
        f"memory ran out at step {step + 1}{free_memory(error)}. Raise accumulation, which changes results by rounding "
        "only, or lower the batch (batch_groups, batch_size, or batch_sizes of a grid) or max_length."
    )
