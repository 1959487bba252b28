"""Sections `pretraining` and `finetuning`: optimisation, masking, losses, budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from irpretrain.config.base import Section, deep_merge
from irpretrain.config.explain import explain
from irpretrain.papers.files import read_recipe, recipe_names

Positive = Annotated[int, Field(ge=1)]
Loss = Literal["hinge", "pair-softmax", "listwise"]
Packing = Literal["auto", "on", "off"]
Prefetch = Literal["auto", "on", "off"]
LOSS_TEXT = (
    "hinge: max(0, margin - s+ + s-) on raw scores, averaged over the other sequences. pair-softmax: softmax over "
    "the scores, then a margin of 1, i.e. 2(1 - p+), as in PROP's code. listwise: cross-entropy of the first sequence "
    "(LCE)."
)
ACCUMULATION_TEXT = (
    "Micro-batches per optimiser step. Processes that share a step share these; each has at least one."
)


def _known_recipe(name: str) -> str:
    if name != "none" and read_recipe(name) is None:
        *names, last = (repr(known) for known in ("none", *recipe_names()))
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(names)} or {last}"})
    return name


class OptimiserConfig(Section):
    """AdamW with linear warm-up, and decay."""

    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate.")
    warmup: float = Field(0.1, ge=0, le=1, description="Share of the steps with a linearly rising rate.")
    decay: Literal["linear", "none", "step"] = Field(
        "linear",
        description="After warm-up the rate falls to 0 (linear), stays (none), or stays and then becomes "
        "`later_rate` (step).",
    )
    later_rate: float | None = Field(
        None, gt=0, description="For decay step: rate from step `later_from` on (Wikiformer: 5e-6)."
    )
    later_from: int | None = Field(
        None,
        ge=1,
        description="For decay step: number of first steps at the peak rate, warm-up included (Wikiformer: "
        "50000).",
        json_schema_extra={"unit": "steps"},
    )
    weight_decay: float = Field(
        0.01, ge=0, description="Decoupled weight decay; not for biases and LayerNorm."
    )
    betas: tuple[float, float] = Field((0.9, 0.999), description="Adam's decay rates.")
    epsilon: float = Field(1e-8, gt=0, description="Adam's epsilon.")
    bias_correction: bool = Field(True, description="Adam's bias correction; BERT's own optimiser has none.")
    clip: float | None = Field(1.0, gt=0, description="Maximum gradient norm; null: no clipping.")
    clip_by: Literal["all", "tensor"] = Field(
        "all", description="Norm of all gradients together, or of each tensor alone (released PROP)."
    )

    @model_validator(mode="after")
    def _check_later(self) -> Self:
        for name in ("later_rate", "later_from"):
            given = getattr(self, name) is not None
            if given != (self.decay == "step"):
                fault = (
                    f"has no use with decay {self.decay}" if given else "is missing, which decay step needs"
                )
                raise ValueError(f"{name}: {fault}; set both {name} and decay step, or neither")
        return self


class MaskingConfig(Section):
    """Masked language modelling. Special tokens and padding are never masked."""

    scope: Literal["document", "sequence"] = Field(
        "document", description="Mask the document's units alone, or the query's too."
    )
    ratio: float = Field(0.15, ge=0, lt=1, description="Share of units (tokens or whole words) to mask.")
    anchor_ratio: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Share of the units of the query's anchor to the document, counted apart (PHP: 0.5); "
        "needs scope sequence. null: treated as other units.",
    )
    unit: Literal["token", "word"] = Field(
        "token", description="Choose word pieces, or whole words with all their pieces."
    )
    most: int | None = Field(
        None,
        ge=1,
        description="Maximum predictions per sequence; null: no cap.",
        json_schema_extra={"unit": "word pieces"},
    )
    replace_by_mask: float = Field(0.8, ge=0, le=1, description="Share of chosen pieces that become [MASK].")
    replace_by_random: float = Field(
        0.1, ge=0, le=1, description="Share that become a random piece; the rest stay."
    )

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        if self.anchor_ratio is not None and self.scope == "document":
            raise ValueError(
                "anchor_ratio: anchors stand in queries, and scope document leaves queries alone; set scope to "
                "sequence, or anchor_ratio to null"
            )
        if self.replace_by_mask + self.replace_by_random > 1 + 1e-9:
            raise ValueError("replace_by_mask and replace_by_random add up to more than 1; lower one of them")
        return self


COMPUTE_WITHOUT_EFFECT = {"gpus": True, "processes": True, "prefetch": True, "checkpoint_minutes": True}
"""Keys of `compute` that change no result; how many processes they make is named apart where it does."""


class ComputeConfig(Section):
    """Computing of a job. Part of the job's hash, because float sums depend on it."""

    threads: int = Field(
        1,
        ge=1,
        description="Compute threads of a job, or of each of its processes, independent of --cores.",
        json_schema_extra={"unit": "threads"},
    )
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "fp32",
        description="Arithmetic of matrix products. fp16 needs a GPU. auto: bf16 where the processor or the GPU "
        "multiplies it in hardware, which takes about half the time, and fp32 elsewhere.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto takes a GPU where torch finds one."
    )
    gpus: int = Field(
        0,
        ge=0,
        description="GPUs that a job requests from Snakemake (resource `gpu`): 0 or 1. With 1, a job without "
        "a GPU stops unless `device` is cpu.",
    )
    packing: Packing = Field(
        "auto",
        description="Lay sequences end to end, so no padding is computed (BERT only). auto: on a CPU, and on "
        "a GPU with torch's attention of variable length (bf16 or fp16, Ampere or newer, no "
        "attention dropout in training). on: always; slow on a GPU without that kernel. off: pad. "
        "Results differ by rounding and, with dropout, by other draws.",
    )
    compile: bool = Field(
        False,
        description="Compile BERT's layers except attention with torch.compile; needs a C++ compiler, and "
        "Triton on a GPU. Results differ by rounding and, with dropout, by other draws.",
    )
    checkpoint_minutes: float = Field(
        10,
        ge=0,
        description="Maximum time between two checkpoints. The first comes after five seconds, each next one "
        "after twice the time. 0: after every step or batch. Does not change results.",
        json_schema_extra={"unit": "minutes"},
    )

    @model_validator(mode="after")
    def _check_gpus(self) -> Self:
        if self.gpus > 1 and not isinstance(self, SharedComputeConfig):
            raise ValueError(
                f"gpus: {self.gpus}: a job of this stage computes on one GPU; its models, folds, seeds and shards are "
                "jobs of their own, which run side by side on several. Set gpus to 1; pretraining and "
                "term_weights.*.training alone share a job out"
            )
        return self


class TrainingComputeConfig(ComputeConfig):
    """Computing of a training job."""

    micro_batch_tokens: int | None = Field(
        None,
        ge=1,
        description="Split a step into micro-batches of at most this many word pieces (special tokens "
        "included, padding not), in the order of ranking groups or sequences; a larger group is "
        "one micro-batch. Replaces `accumulation`, which must then be 1.",
        json_schema_extra={"unit": "word pieces"},
    )
    prefetch: Prefetch = Field(
        "auto",
        description="Read the next three steps' batches in a separate thread. auto: only with a GPU, because "
        "on a CPU it takes core time beside `threads`. Does not change results.",
    )

    def reads_ahead(self, device: str) -> bool:
        """Whether batches are read ahead by a training on this kind of device."""
        return self.prefetch == "on" or (self.prefetch == "auto" and device == "cuda")

    def split_twice(self, accumulation: int) -> str | None:
        """Return why steps cannot be split into so many micro-batches too, or None."""
        if accumulation == 1 or self.micro_batch_tokens is None:
            return None
        return (
            f"accumulation {accumulation} and compute.micro_batch_tokens {self.micro_batch_tokens} both split a step; "
            "set accumulation to 1, or compute.micro_batch_tokens to null"
        )


class SharedComputeConfig(TrainingComputeConfig):
    """Computing of a training job that several processes can share."""

    gpus: int = Field(
        0,
        ge=0,
        description="GPUs that a job requests from Snakemake (resource `gpu`). With any, a job without a GPU "
        "stops unless `device` is cpu. Several: one process each, which share the micro-batches "
        "of every step ([how](cluster.md#several-gpus-for-one-training)).",
    )
    processes: int = Field(
        1,
        ge=1,
        description="CPU processes (`device` cpu, without `gpus`) that share the micro-batches of every step, "
        "each with `threads` threads.",
    )

    @property
    def process_count(self) -> int:
        """Processes of one job."""
        return max(self.processes, self.gpus)

    @model_validator(mode="after")
    def _check_processes(self) -> Self:
        if self.processes > 1 and (self.gpus or self.device != "cpu"):
            raise ValueError(
                f"processes: {self.processes}: these compute on a processor; set device to cpu and gpus to 0, or for "
                "GPUs give gpus alone: each has a process"
            )
        return self

    def too_few(self, items: int, what: str) -> str | None:
        """Return why so many items a step cannot be shared out among the processes, or None."""
        if items >= self.process_count:
            return None
        return (
            f"{what} {items} is less than the {self.process_count} processes that share a step (compute.gpus or "
            f"compute.processes); raise it, or lower these"
        )


class SequenceConfig(Section):
    """Lengths of the sequences that a cross-encoder reads."""

    max_length: int = Field(
        512,
        ge=8,
        description="Maximum length of query and document with their three special tokens.",
        json_schema_extra={"unit": "word pieces"},
    )
    query_length: int = Field(
        64,
        ge=1,
        description="Maximum query length; the document gets the rest of max_length.",
        json_schema_extra={"unit": "word pieces"},
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.query_length + 3 >= self.max_length:
            raise ValueError(
                f"query_length {self.query_length} and three special tokens leave no room for a document in "
                f"max_length {self.max_length}; lower query_length or raise max_length"
            )
        return self


class TaskConfig(Section):
    """One objective of a model and the weight of its losses."""

    objective: str = Field(description="Key of `objectives`.")
    weight: float = Field(1.0, ge=0, description="Weight of the ranking loss.")
    mlm_weight: float = Field(
        1.0, ge=0, description="Weight of the masked-language-model loss on these sequences."
    )
    max_length: int | None = Field(
        None,
        ge=8,
        description="Replaces `pretraining.max_length` for this task; null: no change.",
        json_schema_extra={"unit": "word pieces"},
    )
    query_length: int | None = Field(
        None,
        ge=1,
        description="Replaces `pretraining.query_length` for this task; null: no change (Wikiformer: 255 for "
        "LTM, else 30).",
        json_schema_extra={"unit": "word pieces"},
    )
    loss: Loss | None = Field(None, description="Replaces `pretraining.loss` for this task; null: no change.")
    masking: dict[str, Any] | None = Field(
        None, description="Changes to `pretraining.masking` for this task."
    )


class PretrainingConfig(SequenceConfig):
    """Pre-training; each model may override any of these keys."""

    steps: int | None = Field(
        None,
        ge=1,
        description="Optimiser steps; null with `epochs`.",
        json_schema_extra={"unit": "steps"},
    )
    epochs: float | None = Field(
        None,
        gt=0,
        description="Length instead of `steps`: enough steps for every task to read its ranking groups this "
        "many times (PHP: HP 1, SHP 1, MRDS 2). A model's own steps or epochs replace both.",
        json_schema_extra={"unit": "epochs"},
    )
    epochs_of: str | None = Field(
        None,
        description="The one objective whose groups `epochs` counts; null: every task's.",
    )
    batch_groups: int = Field(
        ge=1,
        description="Ranking groups per optimiser step, each with all its sequences: 64 pairs are PROP's "
        "batch of 128 sequences.",
        json_schema_extra={"unit": "groups"},
    )
    accumulation: int = Field(1, ge=1, description=ACCUMULATION_TEXT)
    mixing: Literal["sum", "alternate"] = Field(
        "sum",
        description="With several tasks. sum: add their losses over one batch of each. alternate: one task a "
        "step, drawn in proportion to its weight.",
    )
    loss: Loss = Field(description=LOSS_TEXT)
    margin: float = Field(1.0, gt=0, description="Margin of the hinge loss.")
    head: Literal["mlp", "pooled"] = Field(
        description="Score head over [CLS]. mlp: a fresh hidden layer (tanh) and a linear layer. pooled: the "
        "encoder's pooler, dropout, and a fresh linear layer. Both have BERT's "
        "sequence-classification shape."
    )
    mlm_head_steps: int = Field(
        0,
        ge=0,
        description="First steps in which the MLM loss trains only the MLM head. For encoders without one: "
        "the gradients of a fresh head swamp the ranking loss.",
        json_schema_extra={"unit": "steps"},
    )
    dropout: float | None = Field(
        None, ge=0, lt=1, description="Dropout of all layers; null: the encoder's own."
    )
    attention_dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Dropout of attention weights, saved with the model and so used in fine-tuning too; null: "
        "as `dropout`. A GPU trains without padding only with 0 (`compute.packing`).",
    )
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig, description="Optimiser and schedule.")
    masking: MaskingConfig = Field(default_factory=MaskingConfig, description="Masked language modelling.")
    compute: SharedComputeConfig = Field(
        default_factory=SharedComputeConfig, description="Threads, precision, device, processes."
    )
    snapshots: list[int] = Field(
        default_factory=list,
        description="Steps whose weights are kept as separate models (learning curves).",
        json_schema_extra={"unit": "steps"},
    )
    log_every: int = Field(
        10,
        ge=1,
        description="Steps between status lines; slow steps: every ten seconds.",
        json_schema_extra={"unit": "steps"},
    )

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if self.steps is None and self.epochs is None:
            raise ValueError("neither steps nor epochs are given; give one of them")
        if self.steps is not None and self.epochs is not None:
            raise ValueError(
                f"both steps {self.steps} and epochs {self.epochs:g} are given; set one of them to null"
            )
        if self.epochs_of is not None and self.epochs is None:
            raise ValueError(
                f"epochs_of {self.epochs_of}: has no use with steps; give epochs, or set epochs_of to null"
            )
        if self.epochs is not None:
            for name, given, nothing in (
                ("snapshots", bool(self.snapshots), "[]"),
                ("optimiser.later_from", self.optimiser.later_from is not None, "null and decay to linear"),
            ):
                if given:
                    raise ValueError(
                        f"{name}: counts in steps, and how many of them epochs {self.epochs:g} is will be known only "
                        f"when the groups are made; set it to {nothing}, or give steps in place of epochs"
                    )
        return self

    @model_validator(mode="after")
    def _check_processes(self) -> Self:
        for fault in (
            self.compute.too_few(self.batch_groups, "batch_groups"),
            self.compute.split_twice(self.accumulation),
        ):
            if fault:
                raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _check_snapshots(self) -> Self:
        if self.steps is None:
            return self
        if late := [step for step in self.snapshots if not 1 <= step <= self.steps]:
            raise ValueError(
                f"snapshots: {late[0]} is not a step of 1 to {self.steps}; lower it or raise steps"
            )
        if twice := [step for step in self.snapshots if self.snapshots.count(step) > 1]:
            raise ValueError(f"snapshots: {twice[0]} is listed twice; list each step once")
        return self

    @model_validator(mode="after")
    def _check_later_rate(self) -> Self:
        later = self.optimiser.later_from
        if later is None or self.steps is None:
            return self
        rising = round(self.optimiser.warmup * self.steps)
        if not rising <= later < self.steps:
            raise ValueError(
                f"optimiser: later_from {later} is not between the end of warm-up, step {rising}, and the last of "
                f"{self.steps} steps; change it, or set decay to none"
            )
        return self

    def head_start_fault(self, tasks: Sequence[TaskConfig]) -> str | None:
        """Return why the MLM head's own steps leave none for the encoder, or None; None if steps are not known."""
        if self.steps is None or self.mlm_head_steps < self.steps or not any(t.mlm_weight > 0 for t in tasks):
            return None
        return (
            f"with mlm_head_steps {self.mlm_head_steps} and steps {self.steps} the MLM loss would train the MLM head "
            "alone, never the encoder; lower mlm_head_steps or raise steps"
        )

    def of_task(self, task: TaskConfig) -> Self:
        """Return these options with the task's own lengths, loss and masking laid over them.

        Raises:
            ValueError: together they make no sense; the message says why.
        """
        names = ("max_length", "query_length", "loss", "masking")
        own = {name: value for name in names if (value := getattr(task, name)) is not None}
        if not own:
            return self
        return explain(type(self), deep_merge(self.model_dump(), own), f"task {task.objective}")


class FinetuningConfig(SequenceConfig):
    """Fine-tuning of a re-ranker on judged queries, under cross-validation."""

    recipe: Annotated[str, AfterValidator(_known_recipe)] = Field(
        "none",
        description="none, or one of the [recipes](#recipes): sets `finetuning` and `reranking` as in a paper. A key "
        "in your file wins; null takes back a recipe of an earlier file.",
    )
    loss: Loss = Field("hinge", description="As `pretraining.loss`.")
    margin: float = Field(1.0, gt=0, description="Margin of the hinge loss.")
    negatives: int = Field(
        1,
        ge=1,
        description="Non-relevant candidates per relevant document.",
    )
    negative_depth: int | None = Field(
        None,
        ge=1,
        description="Draw negatives from this many top candidates; null: all.",
        json_schema_extra={"unit": "documents"},
    )
    batch_sizes: list[Positive] = Field(
        [16, 32],
        min_length=1,
        description="Ranking groups per step (a relevant document with its `negatives`); the validation fold "
        "chooses.",
        json_schema_extra={"unit": "groups"},
    )
    learning_rates: list[Annotated[float, Field(gt=0)]] = Field(
        [1e-5, 2e-5], min_length=1, description="Peak rates; the validation fold chooses."
    )
    few_shot_batch_sizes: list[Positive] = Field(
        [4, 8, 16],
        min_length=1,
        description="The same in few-shot regimes.",
        json_schema_extra={"unit": "groups"},
    )
    few_shot_queries: Literal["drawn", "first"] = Field(
        "drawn",
        description="Training queries of few-shot-<n>: drawn by the seed, or the first ones (PROP).",
    )
    epochs: int = Field(10, ge=1, description="Maximum passes over the training queries.")
    patience: int = Field(
        2,
        ge=1,
        description="Stop after this many epochs without a better validation score.",
        json_schema_extra={"unit": "epochs"},
    )
    keep_models: bool = Field(False, description="Keep each fold's fine-tuned model beside its run.")
    optimiser: OptimiserConfig = Field(
        default_factory=OptimiserConfig, description="Optimiser; learning_rates overrides its rate."
    )
    compute: TrainingComputeConfig = Field(
        default_factory=TrainingComputeConfig, description="Threads, precision, device, batches."
    )

    def batch_sizes_of(self, regime: str) -> list[int]:
        """Return the batch sizes that are tried in a regime."""
        return self.few_shot_batch_sizes if regime.startswith("few-shot") else self.batch_sizes

    def chooses(self, regime: str) -> bool:
        """Whether there is a batch size, a learning rate or an epoch to choose, which takes a validation fold."""
        return self.epochs > 1 or len(self.batch_sizes_of(regime)) * len(self.learning_rates) > 1

    @model_validator(mode="after")
    def _check_decay(self) -> Self:
        if self.optimiser.decay == "step":
            raise ValueError(
                "optimiser.decay: step has one later_rate, but fine-tuning tries several learning_rates; give linear "
                "or none"
            )
        return self
