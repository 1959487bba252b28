"""What a plan would cost: the work of its jobs, at the rates that were measured."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class PlannedJob(NamedTuple):
    """A job that is to be run."""

    rule: str
    wildcards: Mapping[str, str]
    memory_mb: int = 0
    inputs: Sequence[str] = ()  # paths
