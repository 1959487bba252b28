"""The progress of a run: done, running and waiting jobs, and the time left; as lines of text."""

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

# Running jobs that a line names; a cluster runs hundreds.
DISPLAYED_RUNNING = 4


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
    is_known: bool  # whether the plan knows how much work one of its jobs has


@dataclass
class RunState:
    total: int = 0
    done: int = 0
    running: dict[int, Job] = field(default_factory=dict)
    failures: dict[int, Job] = field(default_factory=dict)
    # Number of a job → its kind, and its seconds at the plan's rates.
    _planned: dict[int, tuple[_Kind, float]] = field(default_factory=dict)
    _waiting: set[int] = field(default_factory=set)
    # Of jobs that have ended: seconds, and seconds at the plan's rates.
    _ended: dict[_Kind, tuple[float, float]] = field(default_factory=dict)
    _busy_seconds: float = 0.0
    _began: float | None = None

    def plan(self, times: Mapping[int, PlannedTime]) -> None:
        """Take the plan's times of jobs, by number. A job of unknown size counts as the mean of its kind."""
        known_seconds = defaultdict[tuple[str, bool], list[float]](list)
        for rule, seconds in times.values():
            if not math.isnan(seconds):
                known_seconds[_kind_name(rule), seconds > 0].append(seconds)
        for number, (rule, seconds) in times.items():
            name, has_work = _kind_name(rule), seconds != 0
            seconds_of_kind = known_seconds[name, has_work]
            if math.isnan(seconds):
                seconds = sum(seconds_of_kind) / len(seconds_of_kind) if seconds_of_kind else 0.0
            self._planned[number] = _Kind(name, has_work, bool(seconds_of_kind)), STARTUP_SECONDS + seconds
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
        return self.failures.get(number)

    def seconds_left(self, now: float, progress_texts: Mapping[int, str] | None = None) -> float | None:
        """Estimate the seconds left; None without a plan, or where it knows too little.

        A job takes its time by the plan, times the ratio that the ended jobs of its kind have had in this run. Where
        few have ended, the ratio is drawn to that of all work, and this to 1. Nothing is estimated while the plan does
        not know the work of many jobs, and none of their kinds has ended yet. As many jobs run at a time as until now,
        on average. A running job that says how long it takes still is believed, and the run ends no earlier.

        Args:
            now: seconds since the epoch.
            progress_texts: the newest line of progress of running jobs, by number.
        """
        if self._began is None or not self._planned:
            return None
        known = [pair for kind, pair in self._ended.items() if kind.has_work and kind.is_known]
        overall = _ratio(1.0, sum(measured for measured, _ in known), sum(planned for _, planned in known))
        ratios = {
            kind: _ratio(overall, measured, planned)
            if kind.has_work and kind.is_known
            else measured / planned
            for kind, (measured, planned) in self._ended.items()
        }
        elapsed = {number: now - job.started for number, job in self.running.items()}
        own_estimates = {
            number: own_seconds
            for number, text in (progress_texts or {}).items()
            if (own_seconds := _own_estimate(text)) is not None
        }
        seconds, jobs_with_work, unknown_jobs = 0.0, 0, 0
        for number in [*self._waiting, *self.running.keys() & self._planned.keys()]:
            kind, planned = self._planned[number]
            until_now = elapsed.get(number, 0.0)
            estimate = max(planned * ratios.get(kind, overall) - until_now, OVERDUE_SHARE * until_now)
            seconds += own_estimates.get(number, estimate)
            jobs_with_work += kind.has_work
            unknown_jobs += kind.has_work and not kind.is_known and kind not in ratios
        if unknown_jobs > MAX_UNKNOWN_SHARE * jobs_with_work:
            return None
        parallel_jobs = max(1.0, (self._busy_seconds + sum(elapsed.values())) / max(now - self._began, 1e-9))
        return max([seconds / parallel_jobs, *own_estimates.values()])

    def jobs_done(self) -> str:
        return f"{self.done} of {self.total} jobs done"

    def finished_line(self, job: Job, now: float) -> str:
        width = len(str(self.total))
        return f"[{self.done:>{width}}/{self.total}] {job.title}, {duration(job.seconds(now))}"

    def progress_line(self, now: float, progress_texts: Mapping[int, str]) -> str:
        """Return a run's progress: jobs done, time left, and running jobs with their newest line of progress."""
        running = [
            f"{job.title} ({running_text(job, now, progress_texts.get(job.number, ''))})"
            for job in self.running.values()
        ]
        more = f"; and {len(running) - DISPLAYED_RUNNING} more" if len(running) > DISPLAYED_RUNNING else ""
        running_note = f" Running: {'; '.join(running[:DISPLAYED_RUNNING])}{more}." if running else ""
        return f"{self.jobs_done()}, {time_left(self.seconds_left(now, progress_texts))}.{running_note}"


def _ratio(expected: float, measured: float, planned: float) -> float:
    """Return the ratio of measured to planned seconds, drawn to the expected one while few were planned."""
    return (expected * PLAN_WEIGHT + measured) / (PLAN_WEIGHT + planned)


def _kind_name(name: str) -> str:
    return "_".join(name.split("_")[:2])


# Seconds of the units that `duration` writes.
UNITS = {"s": 1, "min": 60, "h": 3600}


def _own_estimate(progress_text: str) -> float | None:
    """Return the seconds that a job says it takes still: "step 30/200, 78 s left"; None where it does not."""
    match progress_text.rpartition(", ")[2].split():
        case [number, unit, "left"] if unit in UNITS:
            return float(number) * UNITS[unit]
    return None


def running_text(job: Job, now: float, progress_text: str) -> str:
    """Return how long a job has been running, its count and its time left, without rates and losses."""
    elapsed = duration(job.seconds(now))
    count, *details = progress_text.split(", ")
    remaining = [detail for detail in details[-1:] if detail.endswith(" left")]
    return f"{elapsed}: {', '.join([count, *remaining])}" if count else elapsed


def time_left(seconds: float | None) -> str:
    return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"
