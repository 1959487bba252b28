"""What a plan would cost: the work of its jobs, at the rates that were measured."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Names the GPU that hours are estimated for; `workflow.costs.plan` sets it, and prints nothing but the costs.
CARD_VARIABLE = "IRPRETRAIN_CARD"
# Set by `workflow.costs.plan` where a run without absent data is refused; its dry run always has `skip_absent`.
REFUSED = "IRPRETRAIN_REFUSED"


class PlannedJob(NamedTuple):
    """A job that is to be run."""

    rule: str
    wildcards: Mapping[str, str]
    memory_mb: int = 0
    inputs: Sequence[str] = ()  # paths
    threads: int = 1


class PlannedTime(NamedTuple):
    """How long a planned job computes at the measured rates: 0 where no work is counted, NaN where it is not known."""

    rule: str
    seconds: float
