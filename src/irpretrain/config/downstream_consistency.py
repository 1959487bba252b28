"""Faults of tasks beside retrieval that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.names import unknown_names
from irpretrain.config.usage import active_downstream

if TYPE_CHECKING:
    from irpretrain.config.root import Config


def downstream_faults(config: Config) -> Iterator[str]:
    """Yield the faults of `downstream` and `downstream_tasks` in a configuration whose sections are sound by
    themselves."""
    for name in config.downstream_tasks:
        try:
            config.downstream_training_of(name)
        except ValueError as error:
            yield str(error)
    for name, one in active_downstream(config).items():
        where = f"downstream.{name}"
        yield from unknown_names(f"{where}.tasks", one.tasks, config.downstream_tasks, "downstream_tasks")
        yield from unknown_names(f"{where}.models", one.models, config.models, "models")
        for key, names in (("tasks", one.tasks), ("models", one.models)):
            if twice := [entry for entry in names if names.count(entry) > 1]:
                yield f"{where}.{key}: {twice[0]} is listed twice; list each once"
        for model in one.models:
            found = config.models.get(model)
            if found is not None and (found.cross_encoder is not None or found.neural is not None):
                kind = "given by its path" if found.cross_encoder is not None else "a ranker over words"
                yield f"{where}.models: {model} is {kind}, and only models that are pre-trained here can be taken"
