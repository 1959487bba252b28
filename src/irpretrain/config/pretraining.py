"""Section `pretraining`: tasks and budget."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from irpretrain.config.base import LISTED_ONCE, Section, deep_merge, explain, option
from irpretrain.config.references import unknown_names
from irpretrain.config.training import (
    ACCUMULATION_TEXT,
    LOSS_TEXT,
    Loss,
    MaskingConfig,
    OptimiserConfig,
    SequenceConfig,
    SharedComputeConfig,
)


class TaskConfig(Section):
    """One objective of a model and the weight of its losses."""

    objective: str = option(..., "Key of `objectives`.")
    weight: float = option(1.0, "Weight of the ranking loss.", ge=0)
    mlm_weight: float = option(1.0, "Weight of the masked-language-model loss on these sequences.", ge=0)
    max_length: int | None = option(
        None, "For this task; null: `pretraining.max_length`.", unit="word pieces", ge=8
    )
    query_length: int | None = option(
        None,
        "For this task; null: `pretraining.query_length` (Wikiformer: 255 for LTM, else 30).",
        unit="word pieces",
        ge=1,
    )
    loss: Loss | None = option(None, "For this task; null: `pretraining.loss`.")
    masking: dict[str, Any] | None = option(None, "Changes to `pretraining.masking` for this task.")


class PretrainingConfig(SequenceConfig):
    """Pre-training; each model may override any of these keys."""

    steps: int | None = option(None, "Optimiser steps; null with `epochs`.", unit="steps", ge=1)
    epochs: float | None = option(
        None,
        "Instead of `steps`: passes of every task over its ranking groups (PHP: HP 1, SHP 1, MRDS 2).",
        unit="epochs",
        gt=0,
    )
    epochs_of: str | None = option(
        None, "The one objective whose groups `epochs` counts; null: every task's."
    )
    batch_groups: int = option(
        ...,
        "Ranking groups per optimiser step: 64 pairs are PROP's batch of 128 sequences.",
        unit="groups",
        ge=1,
    )
    accumulation: int = option(1, ACCUMULATION_TEXT, ge=1)
    held_out_share: float = option(
        0.05,
        "Share of documents whose ranking groups test the model and do not train it. 0: none.",
        ge=0,
        le=0.5,
    )
    loss: Loss = option(..., LOSS_TEXT)
    margin: float = option(1.0, "Margin of the hinge loss.", gt=0)
    head: Literal["mlp", "pooled", "cedr-knrm", "kept"] = option(
        ...,
        "Score head over [CLS]: a fresh hidden and a linear layer; or the encoder's pooler and a fresh "
        "linear layer. cedr-knrm (BERT): [CLS] and KNRM's kernels over all layers. kept: that of the encoder, "
        "which is a cross-encoder with one label.",
    )
    mlm_head_steps: int = option(
        0,
        "First steps in which the MLM loss trains only a fresh MLM head.",
        unit="steps",
        ge=0,
    )
    dropout: float | None = option(None, "Dropout of all layers; null: the encoder's own.", ge=0, lt=1)
    attention_dropout: float | None = option(
        None,
        "Dropout of attention weights, in fine-tuning too; null: as `dropout`.",
        ge=0,
        lt=1,
    )
    optimiser: OptimiserConfig = option(OptimiserConfig(), "Optimiser and schedule.")
    masking: MaskingConfig = option(MaskingConfig(), "Masked language modelling.")
    compute: SharedComputeConfig = option(SharedComputeConfig(), "Threads, precision, device, processes.")
    snapshots: Annotated[list[int], LISTED_ONCE] = option(
        [], "Steps whose weights are kept as separate models (learning curves).", unit="steps"
    )
    log_every: int = option(10, "Steps between status lines.", unit="steps", decides=False, ge=1)

    def snapshot_steps(self, with_last: bool) -> list[int]:
        """Return the steps that are kept as models of their own, on request with the last, if it is known."""
        last_steps = [self.steps] if with_last and self.steps is not None else []
        return sorted({*self.snapshots, *last_steps})

    def faults(self) -> Iterator[str]:
        yield from super().faults()
        yield from self._length_faults()
        if fault := self.compute.too_few(self.batch_groups, "batch_groups"):
            yield fault
        if self.steps is not None:
            yield from self._step_faults(self.steps)

    def _length_faults(self) -> Iterator[str]:
        if self.steps is None and self.epochs is None:
            yield "neither steps nor epochs are given; give one of them"
        if self.steps is not None and self.epochs is not None:
            yield f"both steps {self.steps} and epochs {self.epochs:g} are given; set one of them to null"
        if self.epochs_of is not None and self.epochs is None:
            yield f"epochs_of {self.epochs_of}: has no use with steps; give epochs, or set epochs_of to null"
        if self.epochs is not None:
            for name, is_set, empty_value in (
                ("snapshots", bool(self.snapshots), "[]"),
                ("optimiser.later_from", self.optimiser.later_from is not None, "null and decay to linear"),
            ):
                if is_set:
                    yield (
                        f"{name}: counts steps, but with epochs {self.epochs:g} their number is known only "
                        f"when the groups exist; set it to {empty_value}, or give steps instead of epochs"
                    )

    def _step_faults(self, steps: int) -> Iterator[str]:
        if wrong_steps := [step for step in self.snapshots if not 1 <= step <= steps]:
            yield f"snapshots: {wrong_steps[0]} is not a step of 1 to {steps}; lower it or raise steps"
        later_from, warmup_steps = self.optimiser.later_from, round(self.optimiser.warmup * steps)
        if later_from is not None and not warmup_steps <= later_from < steps:
            yield (
                f"optimiser: later_from {later_from} is not between the end of warm-up, step {warmup_steps}, and "
                f"the last of {steps} steps; change it, or set decay to none"
            )

    def head_start_fault(self, tasks: Sequence[TaskConfig]) -> str | None:
        """Return why the MLM head's own steps leave none for the encoder, or None; None if steps are not known."""
        if self.steps is None or self.mlm_head_steps < self.steps or not any(t.mlm_weight > 0 for t in tasks):
            return None
        return (
            f"with mlm_head_steps {self.mlm_head_steps} and steps {self.steps} the MLM loss would train the MLM head "
            "alone, never the encoder; lower mlm_head_steps or raise steps"
        )

    def task_faults(
        self,
        tasks: Sequence[TaskConfig],
        segment_words_by_objective: Mapping[str, int],
        key_path: str = "tasks",
    ) -> Iterator[str]:
        """Yield the faults of one model's tasks under these options, for configuration and library.

        `segment_words_by_objective`: objective whose queries are segments of the link graph → words of a segment.
        """
        model_prefix = f"{key_path.rpartition('.')[0]}: ".removeprefix(": ")
        if fault := self.head_start_fault(tasks):
            yield f"{model_prefix}{fault}"
        objectives = dict.fromkeys(task.objective for task in tasks)
        if tasks and self.epochs_of is not None:
            yield from unknown_names(f"{model_prefix}epochs_of", [self.epochs_of], objectives, key_path)
        for task in tasks:
            yield from self._faults_of_task(task, key_path, segment_words_by_objective.get(task.objective, 0))

    def _faults_of_task(self, task: TaskConfig, key_path: str, segment_words: int) -> Iterator[str]:
        name = task.objective
        try:
            options = self.of_task(task)
        except ValueError as error:
            yield f"{key_path}: {error}"
            return
        masking = options.masking
        if task.mlm_weight > 0 and masking.ratio == 0 and not masking.anchor_ratio:
            yield (
                f"{key_path}: {name} has mlm_weight {task.mlm_weight:g}, but masking.ratio 0 masks nothing to predict; "
                "raise masking.ratio, or set mlm_weight to 0"
            )
        if options.query_length < segment_words:
            # A word is a word piece or more.
            yield (
                f"{key_path}: {name} reads query_length {options.query_length} word pieces of segments of "
                f"graph.segment_words {segment_words} words, so anchors beyond them would decide unread; lower "
                "graph.segment_words or raise query_length"
            )

    def of_task(self, task: TaskConfig) -> Self:
        """Return these options with the task's own lengths, loss and masking; ValueError if they contradict."""
        keys = ("max_length", "query_length", "loss", "masking")
        overrides = {name: value for name in keys if (value := getattr(task, name)) is not None}
        if not overrides:
            return self
        return explain(type(self), deep_merge(self.model_dump(), overrides), f"task {task.objective}")
