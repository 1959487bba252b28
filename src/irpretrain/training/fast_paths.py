"""What makes an encoder fast where it can be had: packed sequences, compiled layers; a line where a GPU goes without.

Trainings and inference call `use_fast_paths` before they begin. A line is said once a job, however many models it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from transformers import BertModel, PreTrainedModel

from irpretrain.config.compute import ComputeConfig
from irpretrain.errors import SetupError
from irpretrain.models.linear import Linear
from irpretrain.models.packed_encoder import attention_of, why_no_kernel
from irpretrain.models.packed_families import can_pack
from irpretrain.models.parameters import is_bert
from irpretrain.progress import say
from irpretrain.training.compute import NARROW, precision_on
from irpretrain.training.ranks import here

_said: set[str] = set()
"""Lines that this process has printed."""


def use_fast_paths(
    model: nn.Module, options: ComputeConfig, device: torch.device, training: bool
) -> Callable[[], None]:
    """Let a model compute as the options ask, and say what a GPU cannot do and why.

    Args:
        model: any; only encoders know `packing`.
        options: `packing`, `compile` and precision.
        device: where it will compute.
        training: whether it will train, with dropout.

    Returns:
        What puts back how the model computed before.

    Raises:
        SetupError: `compile` is asked for, and there is no compiler.
    """
    if not hasattr(model, "packing"):
        if device.type == "cuda" and any(isinstance(part, PreTrainedModel) for part in model.modules()):
            say_once(f"SLOW: padding is computed, because a {type(model).__name__} is never packed")
        if options.compile:
            say_once(f"compute.compile does nothing for a {type(model).__name__}")
        return lambda: None
    packable: Any = model
    before, compiled = packable.packing, any(_is_compiled(part) for part in _parts(packable.bert))
    packable.packing = options.packing
    compile_layers(packable.bert, options.compile, device)
    if options.compile and packable.bert is None:
        say_once("compute.compile does nothing, because the model is no BERT")
    if device.type == "cuda":
        for reason in slow_paths(packable.encoder, options, device, training):
            say_once(f"SLOW: {reason}")

    def put_back() -> None:
        packable.packing = before
        compile_layers(packable.bert, compiled, device)

    return put_back


def packs(model: nn.Module) -> bool:
    """Whether a model, where it is and as it computes right now, lays sequences end to end."""
    encoder = getattr(model, "encoder", None)
    return encoder is not None and attention_of(encoder, getattr(model, "packing", "off")) is not None


def slow_paths(encoder: Any, options: ComputeConfig, device: torch.device, training: bool) -> Iterator[str]:
    """Yield what an encoder does slowly on a GPU, and why; nothing where all fast paths are on.

    Args:
        encoder: of any architecture.
        options: packing and precision.
        device: a GPU.
        training: whether it will train, with dropout.
    """
    precision = precision_on(device, options)
    if precision == "fp32":
        yield "matrix products are in single precision, without tensor cores; set compute.precision to bf16"
    if not (is_bert(encoder) or can_pack(encoder)):
        yield f"padding is computed, because encoders of type {encoder.config.model_type} are never packed"
    elif options.packing == "off":
        yield "padding is computed, because compute.packing is off"
    elif reason := why_no_kernel(encoder, device, NARROW.get(precision, torch.float32), training):
        doing = "padding is computed" if options.packing == "auto" else "attention is a call a sequence"
        yield f"{doing}: torch's attention of variable length cannot be used, because {reason}"


def say_once(line: str) -> None:
    """Print a line on stderr, if this process speaks and has not yet."""
    if here().leads and line not in _said:
        _said.add(line)
        say(line)


def compile_layers(bert: BertModel | None, wanted: bool, device: torch.device) -> None:
    """Compile what of each layer is no attention, or undo it.

    These parts are the same in padded and packed encoders, and most of what a compiler can fuse lies in them:
    activation, dropout, residual, LayerNorm. One compiled function serves all layers and all lengths.

    Raises:
        SetupError: there is no compiler.
    """
    for part in _parts(bert):
        if wanted and not _is_compiled(part):
            _refuse_missing_compiler(device)
            _set_linear(part, nn.Linear)  # the compiler chooses the kernel itself
            part.compile(dynamic=True)
        elif not wanted and _is_compiled(part):
            part._compiled_call_impl = None
            _set_linear(part, Linear)


def _parts(bert: BertModel | None) -> list[Any]:
    layers: Any = [] if bert is None else bert.encoder.layer
    return [part for layer in layers for part in (layer.attention.output, layer.intermediate, layer.output)]


def _is_compiled(part: nn.Module) -> bool:
    return part._compiled_call_impl is not None


def _set_linear(part: nn.Module, kind: type[nn.Linear]) -> None:
    for layer in part.modules():
        if isinstance(layer, nn.Linear):
            layer.__class__ = kind


def _refuse_missing_compiler(device: torch.device) -> None:
    from torch._inductor import config
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler
    from torch.utils._triton import has_triton

    try:
        get_cpp_compiler()
    except InvalidCxxCompiler:
        raise SetupError(
            f"compute.compile: torch finds no C++ compiler (it looks for {config.cpp.cxx}); install g++, or set "
            "compile to false"
        ) from None
    if device.type == "cuda" and not has_triton():
        raise SetupError(
            "compute.compile: torch finds no Triton for this GPU; install it, or set compile to false"
        )
