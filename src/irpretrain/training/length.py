"""How long a pre-training is: its steps as given, or those that take so many epochs of one task's groups or of all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.errors import ConfigError
from irpretrain.progress import say


def resolve_length(
    options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int], title: str
) -> tuple[PretrainingConfig, int]:
    """Return the options with `steps` in place of `epochs`, and these steps.

    Args:
        options: of the training.
        tasks: its objectives and weights.
        groups: number of ranking groups of each task.
        title: what messages call the training.

    Raises:
        ConfigError: the steps are too few for the MLM head's own, which could not be known before.
    """
    if options.steps is not None:
        return options, options.steps
    steps = steps_of(options, tasks, groups)
    resolved = options.model_copy(update={"steps": steps, "epochs": None, "epochs_of": None})
    counted = ", ".join(f"{groups[place]:,}" for place in _deciding(options, tasks))
    of = "" if options.epochs_of is None else f" of {options.epochs_of}"
    told = f"epochs {options.epochs:g} of {counted} groups{of} are steps {steps:,}"
    if fault := resolved.head_start_fault(tasks):
        raise ConfigError(f"{title}: {told}; {fault}")
    say(f"[{title}] {told}")
    return resolved, steps


def steps_of(options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int]) -> int:
    """Return the fewest steps in which every task (or `epochs_of`) goes through its groups `epochs` times or more.

    With mixing alternate a task has weight / (sum of weights) of the steps; they are enough if the draws keep to that.
    """
    total = sum(Fraction(str(task.weight)) for task in tasks)
    alternate = options.mixing == "alternate" and len(tasks) > 1
    # Decimals as they were written: in floating point 0.7 epochs of 10 groups would be more than 7 groups.
    passes = Fraction(str(options.epochs)) / options.batch_groups
    shares = [Fraction(str(task.weight)) / total if alternate else Fraction(1) for task in tasks]
    return max(math.ceil(passes * groups[place] / shares[place]) for place in _deciding(options, tasks))


def _deciding(options: PretrainingConfig, tasks: Sequence[TaskConfig]) -> list[int]:
    """Return the places of the tasks whose epochs count."""
    return [i for i, task in enumerate(tasks) if options.epochs_of in (None, task.objective)]
