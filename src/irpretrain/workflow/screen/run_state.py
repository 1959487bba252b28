"""The progress of a run, by its plan and Snakemake's events: done, running and waiting jobs, and the time left."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from irpretrain.foundation.progress import duration
from irpretrain.workflow.costs import PlannedTime

# Seconds that a job takes beside its work: Python starts, files are opened.
STARTUP_SECONDS = 2.0

# Planned seconds of jobs that weigh as much as the plan itself: how long short jobs take says little of long ones.
PLAN_WEIGHT = 60.0

# Share of its time until now that a job is expected to take still, once it has taken as long as others of its kind.
OVERDUE_SHARE = 0.1

# Share of the jobs with work whose size may be unknown where a time is estimated: they may be the long ones.
MAX_UNKNOWN_SHARE = 0.1

NOTHING_SAID: Mapping[int, float] = {}


@dataclass
class Job:
    number: int
    rule: str
    title: str  # what the user reads: the rule and the values of its wildcards
    logs: list[Path] = field(default_factory=list)  # the first is its own
    outputs: list[str] = field(default_factory=list)
    started: float = 0.0  # seconds since the epoch
    failure_text: str = ""  # how it failed, by Snakemake

    def seconds(self, now: float) -> float:
        return max(0.0, now - self.started)


class _Kind(NamedTuple):
    """Jobs whose times have one ratio to the plan's."""

    name: str  # the first two words of a rule: `make_tables_prop` does for its paper what other rules do for theirs
    has_work: bool  # whether the plan counts its work; a model without objectives is "trained" without any


@dataclass
class RunState:
    total: int = 0
    done: int = 0
    running: dict[int, Job] = field(default_factory=dict)
    failures: dict[int, Job] = field(default_factory=dict)
    # Number of a job → its kind, and its seconds at the plan's rates.
    _planned: dict[int, tuple[_Kind, float]] = field(default_factory=dict)
    # With work of which the plan does not know how much.
    _unknown_kinds: set[_Kind] = field(default_factory=set)
    _waiting: set[int] = field(default_factory=set)
    # Of jobs that have ended: seconds, and seconds at the plan's rates.
    _ended: dict[_Kind, tuple[float, float]] = field(default_factory=dict)
    _busy_seconds: float = 0.0
    _began: float | None = None

    def plan(self, times: Mapping[int, PlannedTime]) -> None:
        """Take the plan's times of jobs, by number. A job of unknown size counts as the mean of its kind."""
        kinds = {
            number: _Kind("_".join(time.rule.split("_")[:2]), time.seconds != 0)
            for number, time in times.items()
        }
        known_seconds = defaultdict[_Kind, list[float]](list)
        for number, time in times.items():
            if not math.isnan(time.seconds):
                known_seconds[kinds[number]].append(time.seconds)
        means = {kind: sum(seconds) / len(seconds) for kind, seconds in known_seconds.items()}
        for number, time in times.items():
            seconds = means.get(kinds[number], 0.0) if math.isnan(time.seconds) else time.seconds
            self._planned[number] = kinds[number], STARTUP_SECONDS + seconds
        self._unknown_kinds = set(kinds.values()) - means.keys()
        self._waiting = set(times)

    def start(self, job: Job) -> None:
        """A job was started; perhaps once more, after it had failed."""
        self._began = job.started if self._began is None else self._began
        self.failures.pop(job.number, None)
        self._waiting.discard(job.number)
        self.running[job.number] = job

    def finish(self, number: int, now: float) -> Job | None:
        """A job has ended well; return it, or None if its start is not known."""
        self.done += 1
        job = self.running.pop(number, None)
        if job and number in self._planned:
            kind, planned_seconds = self._planned[number]
            ended_seconds, planned_sum = self._ended.get(kind, (0.0, 0.0))
            self._ended[kind] = ended_seconds + job.seconds(now), planned_sum + planned_seconds
        self._busy_seconds += job.seconds(now) if job else 0.0
        return job

    def fail(self, number: int, failure_text: str, logs: list[Path]) -> Job | None:
        """A job has failed; return what is known of it, or None if its start is not."""
        if job := self.running.pop(number, None):
            job.failure_text, job.logs = failure_text, logs or job.logs
            self.failures[number] = job
        return job

    def seconds_left(self, now: float, by_jobs: Mapping[int, float] = NOTHING_SAID) -> float | None:
        """Estimate the seconds left; None without a plan, or where it knows too little.

        A job takes its time by the plan, times the ratio that the ended jobs of its kind have had in this run. Where
        few have ended, the ratio is drawn to that of all work, and this to 1. Nothing is estimated while the plan does
        not know the work of many jobs, and none of their kinds has ended yet. As many jobs run at a time as until now,
        on average. The run ends no earlier than a running job itself says (`by_jobs`, by number).
        """
        if self._began is None or not self._planned:
            return None
        drawn = {
            kind: times
            for kind, times in self._ended.items()
            if kind.has_work and kind not in self._unknown_kinds
        }
        measured, planned = (sum(times[column] for times in drawn.values()) for column in (0, 1))
        overall = _ratio(1.0, measured, planned)
        ratios = {
            kind: _ratio(overall, *times) if kind in drawn else times[0] / times[1]
            for kind, times in self._ended.items()
        }
        seconds, jobs_with_work, unknown_jobs = 0.0, 0, 0
        for number in [*self._waiting, *self.running.keys() & self._planned.keys()]:
            kind, planned_seconds = self._planned[number]
            until_now = self.running[number].seconds(now) if number in self.running else 0.0
            by_plan = max(planned_seconds * ratios.get(kind, overall) - until_now, OVERDUE_SHARE * until_now)
            seconds += by_jobs.get(number, by_plan)
            jobs_with_work += kind.has_work
            unknown_jobs += kind in self._unknown_kinds and kind not in ratios
        if unknown_jobs > MAX_UNKNOWN_SHARE * jobs_with_work:
            return None
        busy_seconds = self._busy_seconds + sum(job.seconds(now) for job in self.running.values())
        parallel_jobs = max(1.0, busy_seconds / max(now - self._began, 1e-9))
        return max([seconds / parallel_jobs, *by_jobs.values()])

    def jobs_done(self) -> str:
        return f"{self.done} of {self.total} jobs done"

    def time_left(self, now: float, by_jobs: Mapping[int, float] = NOTHING_SAID) -> str:
        seconds = self.seconds_left(now, by_jobs)
        return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"


def _ratio(expected: float, measured: float, planned: float) -> float:
    """Return the ratio of measured to planned seconds, drawn to the expected one while few were planned."""
    return (expected * PLAN_WEIGHT + measured) / (PLAN_WEIGHT + planned)
