"""A run as lines of text: one for each finished job, and one now and then that says how far it is."""

from collections.abc import Mapping

from irpretrain.progress import duration
from irpretrain.screen.job_log import Status
from irpretrain.screen.run_state import Job, RunState

SHOWN_RUNNING = 4
"""Running jobs that a line names; a cluster runs hundreds."""


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
