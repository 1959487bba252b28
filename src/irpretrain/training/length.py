"""How long a pre-training is: the configured steps, or those of so many epochs of one task's or all groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.errors import ConfigError
from irpretrain.progress import print_line


def resolve_length(
    options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int], title: str
) -> tuple[PretrainingConfig, int]:
    """Return the options with `steps` in place of `epochs`, and these steps.

    Raises:
        ConfigError: there are fewer steps than `mlm_head_steps`, which is known only now.
    """
    if options.steps is not None:
        return options, options.steps
    steps = steps_of(options, tasks, groups)
    resolved = options.model_copy(update={"steps": steps, "epochs": None, "epochs_of": None})
    counted = ", ".join(f"{groups[position]:,}" for position in _deciding(options, tasks))
    of = "" if options.epochs_of is None else f" of {options.epochs_of}"
    reported = f"epochs {options.epochs:g} of {counted} groups{of} are steps {steps:,}"
    if fault := resolved.head_start_fault(tasks):
        raise ConfigError(f"{title}: {reported}; {fault}")
    print_line(f"[{title}] {reported}")
    return resolved, steps


def steps_of(options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int]) -> int:
    """Return the fewest steps in which every task (or `epochs_of`) passes its groups `epochs` times or more."""
    total = sum(Fraction(str(task.weight)) for task in tasks)
    # With mixing alternate a task has weight / (sum of weights) of the steps in expectation.
    alternate = options.mixing == "alternate" and len(tasks) > 1
    # Decimals as they were written: in floating point 0.7 epochs of 10 groups would be more than 7 groups.
    passes = Fraction(str(options.epochs)) / options.batch_groups
    shares = [Fraction(str(task.weight)) / total if alternate else Fraction(1) for task in tasks]
    return max(
        math.ceil(passes * groups[position] / shares[position]) for position in _deciding(options, tasks)
    )


def _deciding(options: PretrainingConfig, tasks: Sequence[TaskConfig]) -> list[int]:
    """The indices of the tasks whose epochs count."""
    return [i for i, task in enumerate(tasks) if options.epochs_of in (None, task.objective)]
