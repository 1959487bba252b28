"""How far a run is: which jobs are done, running and waiting, and how much time is left by the rates of this run."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from irpretrain.screen.job_log import Status

FEWEST_TIMED = 3
"""Jobs that must be done before a time left is said."""
OVERDUE = 0.1
"""Share of its time until now that a job is expected to take still, once it has taken as long as others of its rule."""


@dataclass(frozen=True)
class Job:
    """A job that has been started.

    Attributes:
        title: what the user reads: the rule and the values of its wildcards.
        logs: its logs; the first is its own.
        started: seconds since the epoch.
    """

    number: int
    rule: str
    title: str
    logs: tuple[Path, ...] = ()
    outputs: tuple[str, ...] = ()
    started: float = 0.0


@dataclass(frozen=True)
class Failure:
    """A job that failed: how it ended as far as Snakemake knows, and where more is said."""

    job: Job
    how: str = ""
    logs: tuple[Path, ...] = ()


class Left(NamedTuple):
    """Seconds left for jobs of kinds that have run, and how many wait of kinds of which none has run."""

    seconds: float
    untimed: int


@dataclass
class RunState:
    """The jobs of a run."""

    total: int = 0
    done: int = 0
    running: dict[int, Job] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    _planned: Counter[str] = field(default_factory=Counter)
    _seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _began: float | None = None

    def plan(self, jobs_by_rule: Mapping[str, int]) -> None:
        """Take note of the jobs that this run will do."""
        self._planned = Counter(jobs_by_rule)
        self.total = sum(jobs_by_rule.values())

    def start(self, job: Job) -> None:
        """A job was started; perhaps once more, after it had failed."""
        self._began = job.started if self._began is None else self._began
        self.failures.pop(job.number, None)
        self.running[job.number] = job

    def finish(self, number: int, now: float) -> tuple[Job, float] | None:
        """A job has ended well; return it and its seconds, or None where its start is not known."""
        self.done += 1
        job = self.running.pop(number, None)
        if job is None:
            return None
        seconds = max(0.0, now - job.started)
        self._seconds[job.rule].append(seconds)
        return job, seconds

    def fail(self, number: int, how: str = "", logs: Sequence[Path] = ()) -> Failure | None:
        """A job has failed; return what is known of it, or None where its start is not."""
        job = self.running.pop(number, None)
        if job is None:
            return self.failures.get(number)
        self.failures[number] = Failure(job, how, tuple(logs) or job.logs)
        return self.failures[number]

    def seconds_left(self, now: float, statuses: Mapping[int, Status | None]) -> Left | None:
        """Estimate the time left, or return None while too few jobs have been timed.

        A job takes the mean time of its rule in this run. Jobs of a rule that has not run yet are counted only: early
        jobs are short, later ones train. As many jobs run at a time as have until now, on average.

        Args:
            now: seconds since the epoch.
            statuses: job number → how far it is.
        """
        every = [seconds for times in self._seconds.values() for seconds in times]
        if len(every) < FEWEST_TIMED or self._began is None:
            return None

        def mean(rule: str) -> float:
            times = self._seconds.get(rule)
            return sum(times) / len(times) if times else 0.0

        waiting = Counter(self._planned)
        work = 0.0
        for job in self.running.values():
            waiting[job.rule] -= 1
            work += self._rest(job, now, statuses.get(job.number), mean(job.rule))
        for rule, times in self._seconds.items():
            waiting[rule] -= len(times)
        waiting = +waiting
        work += sum(count * mean(rule) for rule, count in waiting.items())
        busy = sum(every) + sum(now - job.started for job in self.running.values())
        at_a_time = max(1.0, busy / max(now - self._began, 1e-9))
        untimed = sum(count for rule, count in waiting.items() if rule not in self._seconds)
        return Left(work / at_a_time, untimed)

    def _rest(self, job: Job, now: float, status: Status | None, mean: float) -> float:
        """Seconds that a running job still takes: by others of its rule, else by its own status."""
        elapsed = now - job.started
        if job.rule not in self._seconds and status is not None and status.share:
            return elapsed * (1 - status.share) / status.share
        return max(mean - elapsed, OVERDUE * elapsed)
