"""What a job does, counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from irpretrain.config.root import Config
from irpretrain.costs.sizes import Size
from irpretrain.costs.throughputs import Computing, Unit

Wildcards = Mapping[str, str]


@dataclass(frozen=True)
class Work:
    """A part of a job's work.

    Attributes:
        stage: its rule, with what the speed depends on; as in `resources/throughput.yaml`.
        unit: what is counted.
        amount: how much; None where it is not known.
        computing: encoder, arithmetic and device; None where no encoder computes.
    """

    stage: str
    unit: Unit
    amount: Size
    computing: Computing | None = None


Describe = Callable[[Config, Wildcards], list[Work]]
"""From the configuration and a job's wildcards to the parts of its work; none where it is not estimated."""
