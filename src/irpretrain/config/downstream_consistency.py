"""Faults of tasks beside retrieval that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.names import listed_twice, unknown_names
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
    for name, section in active_downstream(config).items():
        where = f"downstream.{name}"
        yield from unknown_names(f"{where}.tasks", section.tasks, config.downstream_tasks, "downstream_tasks")
        yield from unknown_names(f"{where}.models", section.models, config.models, "models")
        for key, names in (("tasks", section.tasks), ("models", section.models)):
            yield from listed_twice(f"{where}.{key}", names)
        for model in section.models:
            described = config.models.get(model)
            if described is not None and (
                described.cross_encoder is not None or described.neural is not None
            ):
                kind = "given by its path" if described.cross_encoder is not None else "a ranker over words"
                yield f"{where}.models: {model} is {kind}, and only models that are pre-trained here can be taken"
