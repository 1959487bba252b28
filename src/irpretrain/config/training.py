"""Sections that training and scoring share: device and precision, losses, optimisation, lengths."""

from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import Section, option

Packing = Literal["auto", "on", "off"]


class ComputeConfig(Section):
    """Computing of a job. Part of the job's hash, because float sums depend on it."""

    threads: int = option(
        1,
        "Compute threads of a job, or of each of its processes.",
        unit="threads",
        ge=1,
    )
    precision: Literal["auto", "fp32", "bf16", "fp16"] = option(
        "fp32",
        "Arithmetic of matrix products. fp16 needs a GPU. auto: bf16 where the hardware multiplies it, "
        "else fp32.",
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", "auto takes a GPU where torch finds one.")
    gpus: int = option(
        0,
        "GPUs that a job requests from Snakemake (resource `gpu`): 0 or 1. Without a GPU it stops unless "
        "`device` is cpu.",
        ge=0,
    )
    packing: Packing = option(
        "auto",
        "Compute no padding (BERT). auto: on a CPU, and on a GPU that has the fused layers. Results differ by "
        "rounding and dropout draws.",
    )
    checkpoint_minutes: float = option(
        10,
        "Maximum time between two checkpoints. 0: after every step or batch.",
        unit="minutes",
        decides=False,
        ge=0,
    )

    def faults(self) -> Iterator[str]:
        if self.gpus > 1:
            yield (
                f"gpus: {self.gpus}: a job of this stage uses one GPU, so set gpus to 1. Models, "
                "folds, seeds and shards are separate jobs and use several GPUs side by side; "
                "only pretraining and term_weights.*.training can use several in one job"
            )


class SharedComputeConfig(ComputeConfig):
    """Computing of a training job that several processes can share."""

    gpus: int = option(
        0,
        "GPUs that a job requests from Snakemake (resource `gpu`); without a GPU it stops unless `device` "
        "is cpu. Several: one process each ([how](cluster.md#several-gpus-for-one-training)).",
        ge=0,
    )
    processes: int = option(
        1,
        "CPU processes that share the micro-batches of every step, each with `threads` threads.",
        ge=1,
    )

    @property
    def process_count(self) -> int:
        return max(self.processes, self.gpus)

    def faults(self) -> Iterator[str]:
        # Several GPUs are no fault here, so not those of `ComputeConfig`.
        if self.processes > 1 and (self.gpus or self.device != "cpu"):
            yield (
                f"processes: {self.processes}: processes need device cpu and gpus 0; for GPUs set "
                "gpus only, each GPU gets a process"
            )

    def too_few(self, items: int, key: str) -> str | None:
        """Return why a step of so few items cannot be shared out among the processes, or None."""
        if items >= self.process_count:
            return None
        return (
            f"{key} {items} is less than the {self.process_count} processes that share a step (compute.gpus or "
            f"compute.processes); raise it, or lower these"
        )


ACCUMULATION_TEXT = "Micro-batches per optimiser step, of all processes together."

Loss = Literal["hinge", "pair-softmax", "listwise"]
LOSS_TEXT = (
    "hinge: max(0, margin - s+ + s-) on raw scores. pair-softmax: 2(1 - p+) with p the "
    "softmax, as in PROP's code. listwise: cross-entropy of the first sequence (LCE)."
)


class OptimiserConfig(Section):
    """AdamW with linear warm-up, and decay."""

    learning_rate: float = option(2e-5, "Peak learning rate.", gt=0)
    warmup: float = option(0.1, "Share of the steps with a rising rate.", ge=0, le=1)
    decay: Literal["linear", "none", "step"] = option(
        "linear",
        "After warm-up the rate falls to 0, stays, or stays and then becomes `later_rate`.",
    )
    later_rate: float | None = option(
        None, "For decay step: rate from step `later_from` on (Wikiformer: 5e-6).", gt=0
    )
    later_from: int | None = option(
        None,
        "For decay step: first steps at the peak rate, warm-up included (Wikiformer: 50000).",
        unit="steps",
        ge=1,
    )
    weight_decay: float = option(0.01, "Decoupled weight decay; not for biases and LayerNorm.", ge=0)
    epsilon: float = option(1e-8, "Adam's epsilon.", gt=0)
    bias_correction: bool = option(True, "Adam's bias correction.")
    clip: float | None = option(1.0, "Maximum gradient norm; null: no clipping.", gt=0)
    clip_by: Literal["all", "tensor"] = option(
        "all", "Norm of all gradients together, or of each tensor alone (released PROP)."
    )

    def faults(self) -> Iterator[str]:
        for name in ("later_rate", "later_from"):
            is_set = getattr(self, name) is not None
            if is_set != (self.decay == "step"):
                fault = f"has no use with decay {self.decay}" if is_set else "is missing; decay step needs it"
                yield f"{name}: {fault}; set both {name} and decay step, or neither"


class MaskingConfig(Section):
    """Masked language modelling. Special tokens and padding are never masked."""

    scope: Literal["document", "sequence"] = option(
        "document", "Mask the document's units alone, or the query's too."
    )
    ratio: float = option(0.15, "Share of units (tokens or whole words) to mask.", ge=0, lt=1)
    anchor_ratio: float | None = option(
        None,
        "Share of the units of the query's anchor to the document (PHP: 0.5); needs scope "
        "sequence. null: as other units.",
        ge=0,
        le=1,
    )
    unit: Literal["token", "word"] = option(
        "token", "Choose word pieces, or whole words with all their pieces."
    )
    most: int | None = option(
        None, "Maximum predictions per sequence; null: no cap.", unit="word pieces", ge=1
    )

    def faults(self) -> Iterator[str]:
        if self.anchor_ratio is not None and self.scope == "document":
            yield (
                "anchor_ratio: anchors are in queries, but scope document does not mask queries; "
                "set scope to sequence, or anchor_ratio to null"
            )


class SequenceConfig(Section):
    """Lengths of the sequences that a cross-encoder reads."""

    max_length: int = option(
        512, "Maximum length of query and document with special tokens.", unit="word pieces", ge=8
    )
    query_length: int = option(
        64, "Maximum query length; the document gets the rest of max_length.", unit="word pieces", ge=1
    )

    def faults(self) -> Iterator[str]:
        if self.query_length + 3 >= self.max_length:
            yield (
                f"query_length {self.query_length} and three special tokens leave no room for a document in "
                f"max_length {self.max_length}; lower query_length or raise max_length"
            )
