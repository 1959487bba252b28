"""What is done whenever weights of a Hugging Face directory are loaded."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torch import nn

from irpretrain.errors import InputError


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' loading report and progress bars; what matters of it is checked here."""
    from transformers.utils import logging as transformers_logging

    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()


def own_memory(module: nn.Module) -> None:
    """Copy parameters out of the memory-mapped file.

    They lie there at any address, and matrix products round differently at addresses that are not multiples of
    the vector width: without this, a loaded model and the one that was saved differ in the last bit.
    """
    for parameter in module.parameters():
        parameter.data = parameter.data.clone()


def refuse_missing(directory: Path, missing: set[str]) -> None:
    """Raise InputError where parameters are missing: transformers would fill them with random numbers."""
    if missing:
        some = ", ".join(sorted(missing)[:3])
        raise InputError(
            directory,
            f"{len(missing)} parameters are missing or of another shape, such as {some}",
            remedy="config.json and model.safetensors must belong together.",
        )
