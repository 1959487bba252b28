"""One optimiser step over any number of tasks: what pre-training and fine-tuning have in common.

The loss of a step is Σ over tasks of weight · mean over groups of the ranking loss + mlm_weight · mean over
masked positions of the MLM loss. Both means are over the whole step, so splitting it into micro-batches changes
nothing but rounding.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from irpretrain.config.training import ComputeConfig, Loss, OptimiserConfig
from irpretrain.errors import TrainingError
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.randomness import integer_seed
from irpretrain.training.batches import Batch, BatchBuilder, GroupSource
from irpretrain.training.compute import autocast
from irpretrain.training.losses import count_correct_pairs, mlm_loss_sum, ranking_loss
from irpretrain.training.masking import Masked, Masker
from irpretrain.training.metrics import StepMetrics, TaskMetrics
from irpretrain.training.optimiser import clip_gradients, learning_rate, make_optimiser, set_learning_rate


@dataclass
class Task:
    """One objective in a training.

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


class Trainer:
    """A model, its optimiser and schedule.

    Args:
        model: trained in place; moved to `device`.
        optimiser: options of AdamW and the schedule.
        compute: precision.
        device: where to compute.
        seed: of dropout; each step has a stream of its own, so that a resumed run drops the same units.
        steps: length of the schedule.
        accumulation: micro-batches a step is split into, by groups.
    """

    def __init__(
        self,
        model: CrossEncoder,
        optimiser: OptimiserConfig,
        compute: ComputeConfig,
        device: torch.device,
        seed: int,
        steps: int,
        accumulation: int = 1,
    ) -> None:
        self.model = model.to(device)
        self.optimiser = make_optimiser(model, optimiser)
        self.steps = steps
        self._options, self._compute, self._device = optimiser, compute, device
        self._seed, self._accumulation = seed, accumulation
        self._parameters = list(model.parameters())
        self._scaler = torch.amp.GradScaler(device.type, enabled=compute.precision == "fp16")

    def step(self, step: int, tasks: Sequence[Task], batch: int | None = None) -> StepMetrics:
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
        except torch.OutOfMemoryError:
            raise TrainingError(_out_of_memory(step)) from None
        except RuntimeError as error:
            if "can't allocate memory" in str(error):
                raise TrainingError(_out_of_memory(step)) from None
            raise

    def _step(self, step: int, tasks: Sequence[Task], number: int) -> StepMetrics:
        start = time.perf_counter()
        self.model.train()
        torch.manual_seed(integer_seed(self._seed, "dropout", str(step)))
        rate = learning_rate(self._options, step, self.steps)
        set_learning_rate(self.optimiser, rate)
        self.optimiser.zero_grad(set_to_none=True)
        measured, tokens = {}, 0
        for task in tasks:
            batch = task.builder.build(task.source.groups(number))
            masked = task.masker.apply(batch, step) if task.masker and task.mlm_weight > 0 else None
            measured[task.name] = self._backward(task, batch, masked, step)
            tokens += batch.tokens
        norm = self._update(step)
        seconds = time.perf_counter() - start
        loss = math.fsum(m.weighted_loss for m in measured.values())
        return StepMetrics(step + 1, loss, measured, rate, norm, tokens, seconds)

    def _backward(self, task: Task, batch: Batch, masked: Masked | None, step: int) -> TaskMetrics:
        """Add the gradients of one task's losses."""
        metrics = TaskMetrics(task.weight, task.mlm_weight if masked else 0.0)
        positions = max(len(masked.labels), 1) if masked else 1
        for micro in self._micro_batches(batch, masked):
            with autocast(self._device, self._compute):
                scores, logits = self.model(
                    micro.input_ids,
                    micro.token_type_ids,
                    micro.attention_mask,
                    micro.chosen,
                    mlm_trains_encoder=step >= task.mlm_head_steps,
                )
                loss = scores.new_zeros((), dtype=torch.float32)
                if task.weight > 0:
                    ranking = ranking_loss(task.loss, scores, micro.sizes, task.margin).sum() / len(
                        batch.sizes
                    )
                    metrics.ranking_loss += float(ranking.detach())
                    loss = loss + task.weight * ranking
                    right, pairs = count_correct_pairs(scores, micro.sizes)
                    metrics.correct_pairs += right
                    metrics.pairs += pairs
                if logits is not None and micro.labels is not None and len(micro.labels):
                    mlm = mlm_loss_sum(logits, micro.labels) / positions
                    metrics.mlm_loss += float(mlm.detach())
                    loss = loss + task.mlm_weight * mlm
            if not math.isfinite(float(loss.detach())):
                raise TrainingError(_not_a_number("loss", task.name, step))
            if loss.requires_grad:
                self._scaler.scale(loss).backward()
        return metrics

    def _micro_batches(self, batch: Batch, masked: Masked | None) -> Iterator[_MicroBatch]:
        """Split by groups; each part is cut to its own longest sequence."""
        parts = min(self._accumulation, len(batch.sizes))
        bounds = np.linspace(0, len(batch.sizes), parts + 1).round().astype(int)
        used = 0
        for first, last in itertools.pairwise(bounds):
            rows, length = batch.groups(int(first), int(last))
            part = (rows, slice(0, length))
            chosen = labels = None
            if masked is not None:
                chosen = masked.chosen[part]
                count = int(chosen.sum())
                labels = self._tensor(masked.labels[used : used + count])
                used += count
            yield _MicroBatch(
                self._tensor((masked or batch).input_ids[part]),
                self._tensor(batch.token_type_ids[part]),
                self._tensor(batch.attention_mask[part]),
                torch.from_numpy(batch.sizes[first:last]),
                self._tensor(chosen) if chosen is not None else None,
                labels,
            )

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device, non_blocking=True)

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
            "random_state": torch.get_rng_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put a state back; the inverse of `state`."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])
        torch.set_rng_state(state["random_state"].cpu())


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


def _out_of_memory(step: int) -> str:
    return (
        f"memory ran out at step {step + 1}. Raise accumulation, or lower batch_groups or max_length; raising "
        "accumulation changes results by rounding only."
    )
