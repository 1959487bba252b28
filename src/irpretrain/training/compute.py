"""Threads, device and precision of a training job, and what makes its arithmetic repeatable."""

from __future__ import annotations

import ctypes
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from irpretrain.config.training import ComputeConfig
from irpretrain.foundation import __version__
from irpretrain.foundation.errors import ConfigError, SetupError, TrainingError, temporary_folder
from irpretrain.foundation.progress import print_line
from irpretrain.models.fused_layers import why_not_fused
from irpretrain.models.kernels import why_no_triton
from irpretrain.models.parameters import is_bert
from irpretrain.training.job_lock import holder, take_lock
from irpretrain.training.ranks import current_ranks

# Which GPUs of a machine a job computes on: each is a slot with a lock file, and a process keeps the slots it took.
#
# Snakemake counts GPUs (`resources: gpu`) but does not name them, and several workflows may share a machine. Lock
# files lie in the machine's temporary directory under the device's UUID, so a name does not depend on
# CUDA_VISIBLE_DEVICES.

POLL_SECONDS = 1.0

# In place of the descriptor of a lock, if a device is shared.
SHARED_DEVICE = -1

# Visible device → descriptor of its slot's lock, for the rest of the process.
_held_locks: dict[int, int] = {}


def take_devices(count: int, uuids: Sequence[str], lock_folder: Path | None = None) -> list[int]:
    """Return the devices of this process, as numbers among the visible ones; take them first if necessary.

    Args:
        count: configured number (`compute.gpus`); waits until so many are free. 0: a free one, else a share of the
            first.
        uuids: UUIDs of the visible devices, in order.
        lock_folder: of the lock files; by default this user's folder in the machine's temporary directory.

    Raises:
        ConfigError: fewer devices are visible.
        SetupError: the lock files cannot be made, or other users could write to their folder.
    """
    if count > len(uuids):
        raise ConfigError(
            f"compute.gpus is {count}, but this job sees {len(uuids)} GPUs "
            f"(CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')})"
        )
    if len(_held_locks) >= max(count, 1):
        return sorted(_held_locks)[: max(count, 1)]
    lock_folder = lock_folder or temporary_folder() / f"irpretrain-gpus-{os.getuid()}"
    missing_count = max(count, 1) - len(_held_locks)
    taken_locks = _lock_devices(missing_count, uuids, lock_folder)
    if not taken_locks and count == 0:
        taken_locks = {0: SHARED_DEVICE}
    if not taken_locks:
        lock_files = [lock_folder / f"{uuid}.lock" for uuid in uuids]
        holders = ", ".join(f"{path}: {holder(path)}" for path in lock_files)
        print_line(
            f"waits for {missing_count} of {len(uuids)} GPUs: other jobs of this machine have them ({holders})"
        )
    while not taken_locks:
        time.sleep(POLL_SECONDS)
        taken_locks = _lock_devices(missing_count, uuids, lock_folder)
    _held_locks.update(taken_locks)
    return sorted(_held_locks)


def _lock_devices(count: int, uuids: Sequence[str], lock_folder: Path) -> dict[int, int]:
    taken_locks: dict[int, int] = {}
    try:
        lock_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(lock_folder)
        for device, uuid in enumerate(uuids):
            if device not in _held_locks and len(taken_locks) < count:
                descriptor = take_lock(lock_folder / f"{uuid}.lock")
                taken_locks |= {device: descriptor} if descriptor is not None else {}
        # Two jobs that want two devices each must not both wait with one in hand.
        if len(taken_locks) < count:
            release_locks(taken_locks)
    except OSError as error:
        raise SetupError(
            f"{lock_folder}: cannot lock a GPU's slot there ({error.strerror}); set TMPDIR to a local folder"
        ) from None
    return taken_locks


def _check_owner(lock_folder: Path) -> None:
    status = lock_folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        fault = (
            "a link"
            if stat.S_ISLNK(status.st_mode)
            else f"of user {status.st_uid}, mode {status.st_mode & 0o777:o}"
        )
        raise SetupError(
            f"{lock_folder}: locks of GPUs belong into a folder of your own that others cannot write to, and this is "
            f"{fault}; remove it, or set TMPDIR to a local folder of your own"
        )


def release_locks(locks: dict[int, int]) -> None:
    """Release slots; the end of the process does the same."""
    for descriptor in locks.values():
        if descriptor != SHARED_DEVICE:
            os.close(descriptor)
    locks.clear()


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

    def restore_packing() -> None:
        packable.packing = saved_packing

    return restore_packing


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
