"""What makes an encoder fast where available: packed sequences; a log line, once per job, where a GPU lacks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.progress import print_line
from irpretrain.models.packed import attention_of, why_no_kernel
from irpretrain.models.parameters import is_bert
from irpretrain.training.compute import NARROW, precision_on
from irpretrain.training.ranks import here

# Lines that this process has printed.
_logged: set[str] = set()


def use_fast_paths(
    model: nn.Module, options: ComputeConfig, device: torch.device, training: bool
) -> Callable[[], None]:
    """Configure a model's packing and log what a GPU does slowly; return a function that restores the packing."""
    if not hasattr(model, "packing"):
        return lambda: None
    packable: Any = model
    before = packable.packing
    packable.packing = options.packing
    if device.type == "cuda":
        for reason in slow_paths(packable.encoder, options, device, training):
            log_once(f"SLOW: {reason}")

    def put_back() -> None:
        packable.packing = before

    return put_back


def packs(model: nn.Module) -> bool:
    """Whether a model, on its current device, lays sequences end to end."""
    encoder = getattr(model, "encoder", None)
    return encoder is not None and attention_of(encoder, getattr(model, "packing", "off")) is not None


def slow_paths(encoder: Any, options: ComputeConfig, device: torch.device, training: bool) -> Iterator[str]:
    """Yield what an encoder does slowly on a GPU, and why."""
    precision = precision_on(device, options)
    if precision == "fp32":
        yield "matrix products are in single precision, without tensor cores; set compute.precision to bf16"
    if not is_bert(encoder):
        yield f"padding is computed, because encoders of type {encoder.config.model_type} are never packed"
    elif options.packing == "off":
        yield "padding is computed, because compute.packing is off"
    elif reason := why_no_kernel(encoder, device, NARROW.get(precision, torch.float32), training):
        doing = "padding is computed" if options.packing == "auto" else "attention is a call a sequence"
        yield f"{doing}: torch's attention of variable length cannot be used, because {reason}"


def log_once(line: str) -> None:
    if here().leads and line not in _logged:
        _logged.add(line)
        print_line(line)
