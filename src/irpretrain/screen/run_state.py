"""The progress of a run: done, running and waiting jobs, and the time left by this run's rates; as lines of text."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from irpretrain.progress import duration
from irpretrain.screen.job_output import Status

# Jobs that must be done before a time left is shown.
FEWEST_TIMED = 3

# Share of its time until now that a job is expected to take still, once it has taken as long as others of its kind.
OVERDUE = 0.1

# Share of a job that must be done before its own rate is believed: it begins with reading.
SURE_SHARE = 0.05

# Running jobs that a line names; a cluster runs hundreds.
DISPLAYED_RUNNING = 4


@dataclass(frozen=True)
class Job:
    number: int
    rule: str
    title: str  # what the user reads: the rule and the values of its wildcards
    logs: tuple[Path, ...] = ()  # its logs; the first is its own
    outputs: tuple[str, ...] = ()
    started: float = 0.0  # seconds since the epoch


@dataclass(frozen=True)
class FailedJob:
    """A job that failed: how it ended by Snakemake, and its logs."""

    job: Job
    how: str = ""
    logs: tuple[Path, ...] = ()


@dataclass
class RunState:
    total: int = 0
    done: int = 0
    running: dict[int, Job] = field(default_factory=dict)
    failures: dict[int, FailedJob] = field(default_factory=dict)
    _planned: Counter[str] = field(default_factory=Counter)
    _seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _began: float | None = None

    def plan(self, jobs_by_rule: Mapping[str, int]) -> None:
        self._planned.clear()
        for rule, jobs in jobs_by_rule.items():
            self._planned[_kind(rule)] += jobs
        self.total = sum(jobs_by_rule.values())

    def start(self, job: Job) -> None:
        """A job was started; perhaps once more, after it had failed."""
        self._began = job.started if self._began is None else self._began
        self.failures.pop(job.number, None)
        self.running[job.number] = job

    def finish(self, number: int, now: float) -> tuple[Job, float] | None:
        """A job has ended well; return it and its seconds, or None if its start is not known."""
        self.done += 1
        job = self.running.pop(number, None)
        if job is None:
            return None
        seconds = max(0.0, now - job.started)
        self._seconds[_kind(job.rule)].append(seconds)
        return job, seconds

    def fail(self, number: int, how: str = "", logs: Sequence[Path] = ()) -> FailedJob | None:
        """A job has failed; return what is known of it, or None if its start is not."""
        job = self.running.pop(number, None)
        if job is None:
            return self.failures.get(number)
        self.failures[number] = FailedJob(job, how, tuple(logs) or job.logs)
        return self.failures[number]

    def seconds_left(self, now: float, statuses: Mapping[int, Status | None]) -> float | None:
        """Estimate the time left; None while few jobs have been timed, or most of the rest are of untimed kinds.

        A job takes the mean time of its kind in this run, or of all jobs. As many jobs run at a time as until now, on
        average. `statuses` maps a job number → its progress; `now` is in seconds since the epoch.
        """
        every = [seconds for times in self._seconds.values() for seconds in times]
        if len(every) < FEWEST_TIMED or self._began is None:
            return None
        mean = {kind: sum(times) / len(times) for kind, times in self._seconds.items()}
        usual = sum(every) / len(every)
        waiting = self._planned.copy()
        waiting.subtract({kind: len(times) for kind, times in self._seconds.items()})
        work, untimed = 0.0, 0
        for job in self.running.values():
            kind, elapsed, status = _kind(job.rule), now - job.started, statuses.get(job.number)
            waiting[kind] -= 1
            share = status.share or 0.0 if status is not None and kind not in mean else 0.0
            if share >= SURE_SHARE:
                work += elapsed * (1 - share) / share
            else:
                work += max(mean.get(kind, usual) - elapsed, OVERDUE * elapsed)
                untimed += kind not in mean
        waiting = +waiting
        work += sum(count * mean.get(kind, usual) for kind, count in waiting.items())
        untimed += sum(count for kind, count in waiting.items() if kind not in mean)
        if untimed > (waiting.total() + len(self.running)) / 2:
            return None
        busy = sum(every) + sum(now - job.started for job in self.running.values())
        return work / max(1.0, busy / max(now - self._began, 1e-9))


def _kind(rule: str) -> str:
    """The first two words of a rule's name: `make_tables_prop` does for its paper what other rules do for theirs."""
    return "_".join(rule.split("_")[:2])


def finished_line(state: RunState, job: Job, seconds: float) -> str:
    width = len(str(state.total))
    return f"[{state.done:>{width}}/{state.total}] {job.title}, {duration(seconds)}"


def progress_line(state: RunState, now: float, statuses: Mapping[int, Status | None]) -> str:
    """Return a run's progress: jobs done, time left, and running jobs with their status."""
    left = time_left(state.seconds_left(now, statuses))
    running = [
        f"{job.title} ({running_text(job, now, statuses.get(job.number))})" for job in state.running.values()
    ]
    more = f"; and {len(running) - DISPLAYED_RUNNING} more" if len(running) > DISPLAYED_RUNNING else ""
    displayed = "; ".join(running[:DISPLAYED_RUNNING])
    doing = f" Running: {displayed}{more}." if running else ""
    return f"{jobs_done(state)}, {left}.{doing}"


def jobs_done(state: RunState) -> str:
    return f"{state.done} of {state.total} jobs done"


def running_text(job: Job, now: float, status: Status | None) -> str:
    """Return how long a job has been running, its count and its time left, without rates and losses."""
    elapsed = duration(max(0.0, now - job.started))
    if status is None:
        return elapsed
    parts = status.text.split(", ")
    left = f", {parts[-1]}" if parts[-1].endswith(" left") else ""
    return f"{elapsed}: {parts[0]}{left}"


def time_left(seconds: float | None) -> str:
    return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"
