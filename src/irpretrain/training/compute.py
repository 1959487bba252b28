"""Threads, device and precision of a training job, and what makes its arithmetic repeatable."""

import ctypes
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

import torch
import transformers
from torch import nn

from irpretrain.config.training import ComputeConfig
from irpretrain.foundation import __version__
from irpretrain.foundation.errors import ConfigError, TrainingError
from irpretrain.foundation.progress import print_line
from irpretrain.models.fused_layers import why_not_fused
from irpretrain.models.kernels import why_no_triton
from irpretrain.models.parameters import is_bert
from irpretrain.training.gpu_slots import take_devices
from irpretrain.training.ranks import current_ranks

# A parameter of glibc's mallopt, from malloc.h.
M_MMAP_THRESHOLD = -3

# Bytes from which a block of memory goes back to the system when it is freed.
MMAP_THRESHOLD_BYTES = 4 << 20

# Shapes of products that are kept prepared: those of the few sizes that batches are filled up to.
MAX_CACHED_PRODUCTS = "256"

# What makes a training's steps take less memory.
MEMORY_ADVICE = (
    "raise accumulation: results then change by rounding, and with dropout by what is dropped. Or lower the batch "
    "(batch_groups, batch_size, or batch_sizes of a grid) or max_length."
)

# Word pieces of a batch without gradients: what a processor's caches hold, what fills a GPU.
CPU_BATCH_TOKENS, GPU_BATCH_TOKENS = 2048, 65536

# Texts of errors: of the host's memory; of pinned memory and of CUDA's own; of cuBLAS's handles and workspaces.
MEMORY_ERRORS = ("can't allocate memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
NARROW_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@contextmanager
def reproducible(options: ComputeConfig) -> Iterator[torch.device]:
    """Yield the device, with the configured threads and, on the CPU, deterministic algorithms only.

    Equal results need equal `threads`: sums are split by thread. Global settings are restored at the end; a GPU stays
    taken.

    Raises:
        ConfigError: a GPU is configured and absent, or fp16 without a GPU.
        TrainingError: memory ran out inside.
    """
    device = choose_device(options)
    if device.type == "cpu":
        limit_held_memory()
    else:
        device = take_gpu(options)
    with ExitStack() as settings:
        settings.callback(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(options.threads)
        settings.callback(torch.use_deterministic_algorithms, torch.are_deterministic_algorithms_enabled())
        torch.use_deterministic_algorithms(device.type == "cpu")
        for module, name in (
            # Filling fresh memory only finds faults of kernels; it costs a pass over every tensor.
            (torch.utils.deterministic, "fill_uninitialized_memory"),
            # By default a GPU's convolutions cut single precision to TF32's 10 bits; matrix products do not.
            (torch.backends.cudnn, "allow_tf32"),
        ):
            settings.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, False)
        try:
            yield device
        except RuntimeError as error:
            if not memory_ran_out(error):
                raise
            numbers = re.search(r"Tried to allocate .+? is free", str(error))
            numbers_text = f" ({numbers[0][0].lower()}{numbers[0][1:]})" if numbers else ""
            raise TrainingError(
                f"memory ran out{numbers_text}. In re-ranking and inference lower batch_tokens; in training "
                f"{MEMORY_ADVICE}"
            ) from None


def scoring_tokens(batch_tokens: int | None, device: torch.device) -> int:
    """Return the maximum number of word pieces per batch without gradients: configured, or by device."""
    if batch_tokens is not None:
        return batch_tokens
    return CPU_BATCH_TOKENS if device.type == "cpu" else GPU_BATCH_TOKENS


def limit_held_memory() -> None:
    """Set how the C library, torch and oneDNN hold memory, before the first tensor; values of the user stay."""
    # Packed batches differ in size from step to step. glibc's heap holds blocks of up to 32 MB, and would grow with
    # holes that no later tensor fits: large tensors that are freed go back to the system.
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
    # By default 1,024 shapes stay prepared, and batches that are not filled up bring new ones in every step: 6 MB per
    # step for nothing.
    for variable in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(variable, MAX_CACHED_PRODUCTS)
    # Large tensors come in pages of 2 MB where Linux gives them: else a sixth of the time goes into 4 kB pages.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


def choose_device(options: ComputeConfig) -> torch.device:
    if options.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("compute.device is cuda, but torch finds no GPU; set cpu or auto")
    if options.gpus and options.device == "auto" and not torch.cuda.is_available():
        raise ConfigError(
            f"compute.gpus is {options.gpus}, but torch finds no GPU; set compute.device: cpu "
            "to compute without a GPU, or compute.gpus: 0 to use one only if there is one"
        )
    use_gpu = options.device != "cpu" and torch.cuda.is_available()
    if options.precision == "fp16" and not use_gpu:
        raise ConfigError("compute.precision: fp16 needs a GPU; set fp32 or bf16")
    return torch.device("cuda" if use_gpu else "cpu")


def take_gpu(options: ComputeConfig) -> torch.device:
    """Take a GPU for this process or its job, and make it torch's current device."""
    gpu = current_ranks().gpu
    device = torch.device("cuda", take_gpus(options)[0] if gpu is None else gpu)
    torch.cuda.set_device(device)
    return device


def take_gpus(options: ComputeConfig) -> list[int]:
    """Take this job's GPUs; return their numbers among the visible ones."""
    count = torch.cuda.device_count()
    uuids = [str(torch.cuda.get_device_properties(device).uuid) for device in range(count)]
    return take_devices(options.gpus, uuids)


def memory_ran_out(error: RuntimeError) -> bool:
    """Whether torch, or a GPU library beside it, failed to allocate memory, on the device or on the host."""
    return isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in MEMORY_ERRORS)


def versions() -> dict[str, str]:
    """Return the versions that a training's numbers depend on: part of a checkpoint's key."""
    return {
        "irpretrain": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def precision_on(device: torch.device, options: ComputeConfig) -> str:
    """Return fp32, bf16 or fp16; `auto` is resolved for the device."""
    if options.precision != "auto":
        return options.precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    capabilities = torch.cpu.get_capabilities()
    return "bf16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "fp32"


def autocast(device: torch.device, options: ComputeConfig) -> torch.autocast:
    narrow_type = NARROW_TYPES.get(precision_on(device, options))
    return torch.autocast(device.type, dtype=narrow_type, enabled=narrow_type is not None)


def use_fast_paths(model: nn.Module, options: ComputeConfig, device: torch.device) -> Callable[[], None]:
    """Configure a model's packing and log what a GPU does slowly; return a function that restores the packing."""
    if not hasattr(model, "packing"):
        return lambda: None
    packable: Any = model
    saved_packing = packable.packing
    packable.packing = options.packing
    if device.type == "cuda":
        for reason in slow_paths(packable.encoder, options, device):
            log_once(f"SLOW: {reason}")
    return partial(setattr, packable, "packing", saved_packing)


def slow_paths(encoder: Any, options: ComputeConfig, device: torch.device) -> Iterator[str]:
    """Yield what an encoder does slowly on a GPU, and why."""
    precision = precision_on(device, options)
    if precision == "fp32":
        yield "matrix products are in single precision, without tensor cores; set compute.precision to bf16"
    if not is_bert(encoder):
        yield f"padding is computed, because encoders of type {encoder.config.model_type} are never packed"
    elif options.packing == "off":
        yield "padding is computed, because compute.packing is off"
    elif reason := why_not_fused(encoder, device, NARROW_TYPES.get(precision, torch.float32)):
        consequence = "padding is computed" if options.packing == "auto" else "attention is a call a sequence"
        yield f"{consequence}: torch's attention of variable length cannot be used, because {reason}"
    elif reason := why_no_triton():
        yield f"layers have more kernels than necessary: {reason}"


@cache
def log_once(line: str) -> None:
    if current_ranks().leads:
        print_line(line)
