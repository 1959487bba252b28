"""How far a run is: which jobs are done, running and waiting, how much time is left by the rates of this run; and that
as lines of text."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from irpretrain.progress import duration
from irpretrain.screen.job_log import Status

FEWEST_TIMED = 3
"""Jobs that must be done before a time left is said."""
OVERDUE = 0.1
"""Share of its time until now that a job is expected to take still, once it has taken as long as others of its kind."""
SURE_SHARE = 0.05
"""Share of a job that must be done before its own rate is believed: it begins with reading."""
SHOWN_RUNNING = 4
"""Running jobs that a line names; a cluster runs hundreds."""


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
        """A job has ended well; return it and its seconds, or None where its start is not known."""
        self.done += 1
        job = self.running.pop(number, None)
        if job is None:
            return None
        seconds = max(0.0, now - job.started)
        self._seconds[_kind(job.rule)].append(seconds)
        return job, seconds

    def fail(self, number: int, how: str = "", logs: Sequence[Path] = ()) -> Failure | None:
        """A job has failed; return what is known of it, or None where its start is not."""
        job = self.running.pop(number, None)
        if job is None:
            return self.failures.get(number)
        self.failures[number] = Failure(job, how, tuple(logs) or job.logs)
        return self.failures[number]

    def seconds_left(self, now: float, statuses: Mapping[int, Status | None]) -> float | None:
        """Estimate the time left, or return None while it says little: few jobs have been timed, or most that remain
        are of kinds of which none has been. Early jobs are short, later ones train.

        A job takes the mean time of its kind in this run, or of all jobs. As many jobs run at a time as have until now,
        on average.

        Args:
            now: seconds since the epoch.
            statuses: job number → how far it is.
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
    """Return the line of a job that has just ended well."""
    width = len(str(state.total))
    return f"[{state.done:>{width}}/{state.total}] {job.title}, {duration(seconds)}"


def progress_line(state: RunState, now: float, statuses: Mapping[int, Status | None]) -> str:
    """Return how far a run is: jobs done, time left, and running jobs with what they say of themselves."""
    left = time_left(state.seconds_left(now, statuses))
    running = [
        f"{job.title} ({running_text(job, now, statuses.get(job.number))})" for job in state.running.values()
    ]
    more = f"; and {len(running) - SHOWN_RUNNING} more" if len(running) > SHOWN_RUNNING else ""
    shown = "; ".join(running[:SHOWN_RUNNING])
    doing = f" Running: {shown}{more}." if running else ""
    return f"{jobs_done(state)}, {left}.{doing}"


def jobs_done(state: RunState) -> str:
    """Return how many jobs of a run are done."""
    return f"{state.done} of {state.total} jobs done"


def running_text(job: Job, now: float, status: Status | None) -> str:
    """Return how long a job has been running, and what it says of itself: its count and its time left, without rates
    and losses."""
    elapsed = duration(max(0.0, now - job.started))
    if status is None:
        return elapsed
    parts = status.text.split(", ")
    left = f", {parts[-1]}" if parts[-1].endswith(" left") else ""
    return f"{elapsed}: {parts[0]}{left}"


def time_left(seconds: float | None) -> str:
    """Return the time left in words."""
    return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"
