"""What jobs ask a scheduler for: priority, memory, time. A job that failed asks for more at each attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

# Priority of the jobs that refuse wrong data in seconds, so that nothing costly is started before them.
CHEAP_CHECKS = 1000

# Priority of tables and reports: what can be shown is shown before anything else is computed.
RESULTS = 900

# Priority of the models of the first paper that is reported: its report comes before others are prepared.
FIRST_PAPER = 850

# Priority of what models wait for; models of later papers have priorities by paper, `Models.training_priority`.
PREPARATION = 800


class Wildcards(Protocol):
    """The wildcards of a job, as Snakemake gives them: a string for each name."""

    def __getattr__(self, name: str, /) -> str: ...


Request = Callable[[Wildcards, int], int]
Number = int | Callable[[Wildcards], int]


def memory(megabytes: Number, processes: Number = 1) -> Request:
    """Return a request of memory, in MB: of one process, times the processes of the job."""

    def request(wildcards: Wildcards, attempt: int) -> int:
        return _number(megabytes, wildcards) * _number(processes, wildcards) * attempt

    return request


def minutes(number: int) -> Request:
    """Return a request of run time, in minutes."""

    def request(wildcards: Wildcards, attempt: int) -> int:
        return number * attempt

    return request


def _number(value: Number, wildcards: Wildcards) -> int:
    return value(wildcards) if callable(value) else value
