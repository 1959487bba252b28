"""Keys `compute`: on what a stage computes, how exactly, and in how many processes."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from irpretrain.config.base import Section, option

Packing = Literal["auto", "on", "off"]
Prefetch = Literal["auto", "on", "off"]


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
        "Compute no padding (BERT, RoBERTa, XLM-R, ELECTRA, ModernBERT). auto: on a CPU, and on a GPU with torch's "
        "attention of variable length. Results differ by rounding and dropout draws.",
    )
    compile: bool = option(
        False,
        "Compile BERT's layers with torch.compile; needs a C++ compiler, and Triton on a "
        "GPU. Results differ by rounding and dropout draws.",
    )
    checkpoint_minutes: float = option(
        10,
        "Maximum time between two checkpoints. 0: after every step or batch.",
        unit="minutes",
        decides=False,
        ge=0,
    )

    @model_validator(mode="after")
    def _check_gpus(self) -> Self:
        if self.gpus > 1 and not isinstance(self, SharedComputeConfig):
            raise ValueError(
                f"gpus: {self.gpus}: a job of this stage uses one GPU, so set gpus to 1. Models, "
                "folds, seeds and shards are separate jobs and use several GPUs side by side; "
                "only pretraining and term_weights.*.training can use several in one job"
            )
        return self


class TrainingComputeConfig(ComputeConfig):
    """Computing of a training job."""

    micro_batch_tokens: int | None = option(
        None,
        "Split a step into micro-batches of at most this many word pieces; a larger group "
        "is one. Replaces `accumulation`, which must be 1.",
        unit="word pieces",
        ge=1,
    )
    prefetch: Prefetch = option(
        "auto",
        "Read the next three batches in a separate thread. auto: only with a GPU. Does not change results.",
        decides=False,
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
        """Processes of one job."""
        return max(self.processes, self.gpus)

    @model_validator(mode="after")
    def _check_processes(self) -> Self:
        if self.processes > 1 and (self.gpus or self.device != "cpu"):
            raise ValueError(
                f"processes: {self.processes}: processes need device cpu and gpus 0; for GPUs set "
                "gpus only, each GPU gets a process"
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
