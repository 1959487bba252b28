"""The progress of a run: done, running and waiting jobs, and the time left by this run's rates; as lines of text."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from irpretrain.foundation.progress import duration
from irpretrain.workflow.screen.job_output import Status

# Jobs that must be done before a time left is shown, where no running job reports one.
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
    how: str = ""  # how it failed, by Snakemake


class TimeLeft(NamedTuple):
    """Seconds that a run still takes, or takes at least."""

    seconds: float
    at_least: bool = False


@dataclass
class RunState:
    total: int = 0
    done: int = 0
    running: dict[int, Job] = field(default_factory=dict)
    failures: dict[int, Job] = field(default_factory=dict)
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

    def fail(self, number: int, how: str = "", logs: Sequence[Path] = ()) -> Job | None:
        """A job has failed; return what is known of it, or None if its start is not."""
        if job := self.running.pop(number, None):
            self.failures[number] = replace(job, how=how, logs=tuple(logs) or job.logs)
        return self.failures.get(number)

    def left(self, now: float, statuses: Mapping[int, Status | None]) -> TimeLeft | None:
        """Estimate the time left; None while few jobs have been timed, or nothing that remains is of a timed kind.

        A job takes the mean time of its kind in this run: of jobs that have ended, else of running jobs by the times
        left that they report. A running job takes at least the time left that it reports. Jobs of other kinds take
        the mean of all jobs, but where most remaining jobs are of such kinds they count nothing, and the time is a
        lower bound. As many jobs run at a time as until now, on average.

        Args:
            now: seconds since the epoch.
            statuses: number of a running job → its progress.
        """
        every = [seconds for times in self._seconds.values() for seconds in times]
        reported = {
            number: status.left
            for number, status in statuses.items()
            if status and status.left is not None and (status.share or 0.0) >= SURE_SHARE
        }
        if self._began is None or (len(every) < FEWEST_TIMED and not reported):
            return None
        # A job works in parts (training, then re-ranking) and reports the part that it is at: its time until now counts
        # whole, and only what is left comes from the rate.
        by_report = defaultdict[str, list[float]](list)
        for number, seconds in reported.items():
            job = self.running[number]
            by_report[_kind(job.rule)].append(now - job.started + seconds)
        mean = {kind: sum(times) / len(times) for kind, times in {**by_report, **self._seconds}.items()}
        waiting = self._planned.copy()
        waiting.subtract({kind: len(times) for kind, times in self._seconds.items()})
        known, unknown, untimed = 0.0, 0.0, 0
        usual = sum(every) / len(every) if every else max(mean.values())
        for job in self.running.values():
            kind, elapsed = _kind(job.rule), now - job.started
            waiting[kind] -= 1
            remaining = max(mean.get(kind, usual) - elapsed, reported.get(job.number, OVERDUE * elapsed))
            if kind in mean:
                known += remaining
            else:
                unknown += remaining
                untimed += 1
        for kind, count in (+waiting).items():
            if kind in mean:
                known += count * mean[kind]
            else:
                unknown += count * usual
                untimed += count
        busy = sum(every) + sum(now - job.started for job in self.running.values())
        at_a_time = max(1.0, busy / max(now - self._began, 1e-9))
        if untimed <= ((+waiting).total() + len(self.running)) / 2:
            return TimeLeft((known + unknown) / at_a_time)
        return TimeLeft(known / at_a_time, at_least=True) if known else None


def _kind(rule: str) -> str:
    """The first two words of a rule's name: `make_tables_prop` does for its paper what other rules do for theirs."""
    return "_".join(rule.split("_")[:2])


def finished_line(state: RunState, job: Job, seconds: float) -> str:
    width = len(str(state.total))
    return f"[{state.done:>{width}}/{state.total}] {job.title}, {duration(seconds)}"


def progress_line(state: RunState, now: float, statuses: Mapping[int, Status | None]) -> str:
    """Return a run's progress: jobs done, time left, and running jobs with their status."""
    left = time_left(state.left(now, statuses))
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


def time_left(left: TimeLeft | None) -> str:
    if left is None:
        return "time left not known yet"
    return f"{'at least' if left.at_least else 'about'} {duration(left.seconds)} left"
